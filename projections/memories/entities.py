"""Who and what a text names, found by rules in English and Chinese: pure, for use in folds.

Each rule takes what it finds out of the text, so that a later one does not find a part of it
again: the host in a URL is no second entity. A changed rule changes what folds give: the write
rule's version must rise with it.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

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

_DIGIT: Final = r"\d"
# Each rule with what a text must hold for it: most texts hold none of it, and skip the rule.
_RULES: Final = tuple(
    (patterns.compiled(pattern), re.compile(needed), is_entity)
    for pattern, needed, is_entity in (
        (patterns.URL, "://", True),
        (patterns.EMAIL, "@", True),
        (patterns.MENTION, "@", True),
        (patterns.PATH, r"[/\\]", True),
        (patterns.DATE, _DIGIT, False),  # taken out, but no entity: it would join strangers
        (patterns.VERSION, _DIGIT, True),
        (patterns.AMOUNT, _DIGIT, True),
        (patterns.CODE, r"[0-9_]|[a-z][A-Z]|[A-Za-z0-9_]\.[A-Za-z_]", True),
    )
)
_CAPITAL = re.compile("[A-Z]")
_LETTER = re.compile("[A-Za-z]")
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
    seen = _seen(text)
    first: dict[str, str] = {}
    for _, words in sorted(_found(seen), key=_place):
        name = _SPACES.sub(" ", words).strip()
        if 2 <= len(name) <= ENTITY_CHARACTERS_MAX:  # noqa: PLR2004 - one character is no name
            first.setdefault(unicodedata.normalize("NFKC", name.casefold()), name)
    return tuple(first.values())[:ENTITIES_MAX]


def _seen(text: str) -> str:
    start = without_base64(text)[:TEXT_CHARACTERS_MAX].replace(_TAKEN, " ")
    return _IGNORABLE.sub("", unicodedata.normalize("NFKC", start))[:TEXT_CHARACTERS_MAX]


def _place(found: Found) -> tuple[int, int]:
    """Order by start; of two that start at one place, the longer first."""
    start, words = found
    return start, -len(words)


def _found(text: str) -> Iterator[Found]:
    quoted = list(_quoted(text))
    yield from quoted
    for rule, needed, is_entity in _RULES:
        if needed.search(text):
            if is_entity:
                yield from _matches(rule, text)
            text = _without(rule, text)
    for start, words in quoted:  # a title's own words are no names beside it
        text = text[:start] + _TAKEN * len(words) + text[start + len(words) :]
    if not _shouts(text):
        yield from (found for found in _matches(_ACRONYM, text) if not is_common(found[1]))
        yield from capitalised_names(_without(_ACRONYM, text))


def _quoted(text: str) -> Iterator[Found]:
    for match in _QUOTED.finditer(text):
        group = match.lastindex or 0
        words = match[group]
        if len(words.split()) <= QUOTED_WORDS_MAX and not _SENTENCE.search(words):
            yield match.start(group), words


def _matches(rule: regex.Pattern[str], text: str) -> Iterator[Found]:
    return ((match.start(), match[0]) for match in rule.finditer(text))


def _without(rule: regex.Pattern[str], text: str) -> str:
    """Return *text* of the same length, so that places stay what they were."""
    return rule.sub(lambda match: _TAKEN * len(match[0]), text)


def _shouts(text: str) -> bool:
    capitals = len(_CAPITAL.findall(text))
    if capitals <= SHOUTED_LETTERS_MIN * SHOUTING_SHARE:
        return False
    letters = len(_LETTER.findall(text))
    return capitals > SHOUTING_SHARE * letters and letters > SHOUTED_LETTERS_MIN and " " in text
