"""Who and what a text names, found by rules in English and Chinese: pure, for use in folds.

Each rule takes what it finds out of the text, so that a later one does not find a part of it
again: the host in a URL is no second entity. A changed rule changes what folds give: the write
rule's version must rise with it.
"""

import re
import string
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

import regex

from mnemolog.projections.memories import entity_patterns as patterns
from mnemolog.projections.memories.capitalised import capitalised_names, is_common
from mnemolog.projections.memories.readable import without_base64

ENTITIES_MAX: Final = 10
ENTITY_CHARACTERS_MAX: Final = 128  # a longer one is left out
TEXT_CHARACTERS_MAX: Final = 20_000  # where entities are looked for
QUOTED_WORDS_MAX: Final = 6  # more are a sentence, not a name
SHOUTING_SHARE: Final = 0.5  # of a text's letters in upper case: then capitals name nothing
SHOUTED_LETTERS_MIN: Final = 12  # fewer are an identifier, not a shout

Found = tuple[int, str]  # where it starts, and its words
_TAKEN: Final = "\x00"  # stands where a rule took something; no rule matches it
_Pattern = regex.Pattern[str] | re.Pattern[str]
_Match = regex.Match[str] | re.Match[str]
_OTHER_DIGIT = regex.compile(r"[\d--[0-9]]", regex.VERSION1)


class _Rule(NamedTuple):
    """A pattern, what a text must hold for it, and a faster one for the texts that it fits.

    Most texts hold nothing of what is needed, and skip the rule.
    """

    pattern: _Pattern
    needed: re.Pattern[str]
    is_entity: bool = True
    faster: re.Pattern[str] | None = None
    fits: Callable[[str], bool] = str.isascii

    def matches(self, text: str) -> list[_Match]:
        """Return all that it finds, in order."""
        if not self.needed.search(text):
            return []
        pattern = self.faster if self.faster and self.fits(text) else self.pattern
        return list(pattern.finditer(text))


def _has_plain_digits(text: str) -> bool:
    return text.isascii() or not _OTHER_DIGIT.search(text)


def _rule(pattern: str, *, needed: str, is_entity: bool = True) -> _Rule:
    return _Rule(patterns.compiled(pattern), re.compile(needed), is_entity)


def _rule_of_digits(pattern: str, *, needed: str, is_entity: bool = True) -> _Rule:
    rule = _rule(pattern, needed=needed, is_entity=is_entity)
    return rule._replace(faster=patterns.ascii_compiled(pattern), fits=_has_plain_digits)


_DIGIT: Final = r"\d"
_CODE: Final = r"[0-9_]|[a-z][A-Z]|[A-Za-z0-9_]\.[A-Za-z_]"
_RULES: Final = (
    _rule(patterns.URL, needed="://"),
    _rule(patterns.EMAIL, needed="@"),
    _rule(patterns.MENTION, needed="@"),
    _rule_of_digits(patterns.PATH, needed=r"[/\\]"),
    # Taken out, but no entity: it would join strangers.
    _rule_of_digits(patterns.DATE, needed=_DIGIT, is_entity=False),
    _rule_of_digits(patterns.VERSION, needed=_DIGIT),
    _rule(patterns.AMOUNT, needed=_DIGIT)._replace(
        faster=patterns.ascii_compiled(patterns.AMOUNT_IN_ASCII)
    ),
    _rule_of_digits(patterns.CODE, needed=_CODE),
)
_SMALL: Final = string.ascii_lowercase.encode()
_NO_LETTERS: Final = bytes(set(range(128)) - set(string.ascii_letters.encode()))
_ACRONYM = patterns.compiled(patterns.ACRONYM)
_QUOTED = patterns.compiled(patterns.QUOTED)
_SENTENCE = regex.compile(r"[.!?;,:]\s|[。！？；，]")
_IGNORABLE = regex.compile(r"[\p{Default_Ignorable_Code_Point}\u20e3]")
_SPACES = regex.compile(r"\s+")


def entities(text: str) -> tuple[str, ...]:
    """Return what *text* names, in order of first occurrence, at most `ENTITIES_MAX`.

    Identifiers, paths, URLs, addresses, numbers with units, versions, mentions, quoted and
    capitalised names. Two that differ in case or width only are one, as first written.

    >>> entities("部署 INC-21234 用了 5 ms，见 src/auth/login.py")
    ('INC-21234', '5 ms', 'src/auth/login.py')
    """
    first: dict[str, str] = {}
    for _, words in sorted(_found(_seen(text)), key=_place):
        name = words if _is_one_word(words) else _SPACES.sub(" ", words).strip()
        if 2 <= len(name) <= ENTITY_CHARACTERS_MAX:  # noqa: PLR2004 - one character is no name
            first.setdefault(_folded(name), name)
            if len(first) == ENTITIES_MAX:
                break
    return tuple(first.values())


def _is_one_word(words: str) -> bool:
    return " " not in words and words.isprintable()  # other white space can't be printed


def _folded(name: str) -> str:
    return name.lower() if name.isascii() else unicodedata.normalize("NFKC", name.casefold())


def _seen(text: str) -> str:
    start = without_base64(text)[:TEXT_CHARACTERS_MAX].replace(_TAKEN, " ")
    seen = unicodedata.normalize("NFKC", start)
    if not seen.isascii():
        seen = _IGNORABLE.sub("", seen)
    return seen[:TEXT_CHARACTERS_MAX]


def _place(found: Found) -> tuple[int, int]:
    """Order by start; of two that start at one place, the longer first."""
    start, words = found
    return start, -len(words)


def _found(text: str) -> Iterator[Found]:
    quoted = list(_quoted(text))
    yield from quoted
    for rule in _RULES:
        if matches := rule.matches(text):
            if rule.is_entity:
                yield from ((match.start(), match[0]) for match in matches)
            text = _without(text, (match.span() for match in matches))
    for start, words in quoted:  # a title's own words are no names beside it
        text = _without(text, [(start, start + len(words))])
    if not _shouts(text):
        acronyms = list(_ACRONYM.finditer(text))
        yield from ((m.start(), m[0]) for m in acronyms if not is_common(m[0]))
        yield from capitalised_names(_without(text, (match.span() for match in acronyms)))


def _quoted(text: str) -> Iterator[Found]:
    for match in _QUOTED.finditer(text):
        group = match.lastindex or 0
        words = match[group]
        if len(words.split()) <= QUOTED_WORDS_MAX and not _SENTENCE.search(words):
            yield match.start(group), words


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return *text* without *spans*, of the same length, so that places stay what they were."""
    kept, reached = [], 0
    for start, end in spans:
        kept += [text[reached:start], _TAKEN * (end - start)]
        reached = end
    return "".join([*kept, text[reached:]])


def _shouts(text: str) -> bool:
    letters = text.encode("ascii", "ignore").translate(None, _NO_LETTERS)
    capitals = len(letters.translate(None, _SMALL))
    if capitals <= SHOUTED_LETTERS_MIN * SHOUTING_SHARE:
        return False
    return (
        capitals > SHOUTING_SHARE * len(letters)
        and len(letters) > SHOUTED_LETTERS_MIN
        and " " in text
    )
