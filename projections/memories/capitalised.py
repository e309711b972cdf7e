"""Names that English writes with capitals, told from words that only begin a sentence."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

import regex

from mnemolog.projections.memories.stop_words import ENGLISH_STOP_WORDS

_MORE: Final = """
after again also always although another because before both each either else even every finally
first here hello hey hi however last later let many maybe more most much need neither never next
no none nor not note now oh ok okay once one only other otherwise perhaps same second see since
still such thanks therefore though three today tomorrow two under until using very via want well
while without yes yesterday yet aha anyway aw aww awesome bye congrats cool damn dear gosh great ha
haha hm hmm huh nah nice nope oops right sorry sure um welcome whoa woah wow yay yeah yep yikes yup
dr mr mrs ms prof st done error failed fixed info must null ok stop true false todo warning
monday tuesday wednesday thursday friday saturday sunday
mondays tuesdays wednesdays thursdays fridays saturdays sundays
january february march april may june july august september october november december
"""
_COMMON: Final = ENGLISH_STOP_WORDS | frozenset(_MORE.split())
_WORD = r"\p{Lu}(?:[\p{Ll}\p{M}]+|['’]\p{Lu}\p{Ll}+)(?:-\p{Lu}\p{Ll}+)*"
_SEQUENCE = regex.compile(
    rf"(?=\p{{Lu}})(?<![[\p{{L}}\p{{N}}_'’-]--\p{{Han}}])"
    rf"{_WORD}(?: (?:(?:of|de|van|von|der|la|del) )?{_WORD})*"
    r"(?![[\p{L}\p{N}_-]--\p{Han}]|['’](?!s\b))",
    regex.VERSION1,
)
_BEFORE_A_SENTENCE = regex.compile(r"(?:^|[.!?。！？；;…\n])[\s\"'“”‘’(（\[*#>•-]*$")
_TITLE = regex.compile(r"(?:Dr|Mr|Mrs|Ms|Prof|St)\.\s*$")
_CHINESE_NEXT = regex.compile(r"\s*\p{Han}")
_LOOK_BACK_CHARACTERS: Final = 16


def capitalised_names(text: str) -> Iterator[tuple[int, str]]:
    """Yield the start and words of each name; one word that begins a sentence must recur.

    It also counts when Chinese goes on behind it: then its capital is not the sentence's.
    """
    matches = list(_SEQUENCE.finditer(text))
    if not matches:
        return
    times = Counter(match[0] for match in matches)
    for match in matches:
        words = _without_common(match[0].split(" "))
        alone = len(words) == 1 and words[0] == match[0]
        if words and not (alone and times[match[0]] == 1 and _begins_a_sentence(match, text)):
            yield match.start() + match[0].index(words[0]), " ".join(words)


def is_common(word: str) -> bool:
    """Say whether *word* names nothing, however it is written."""
    return word.casefold() in _COMMON


def _without_common(words: list[str]) -> list[str]:
    while words and is_common(words[0]):
        words = words[1:]
    while words and is_common(words[-1]):
        words = words[:-1]
    return words


def _begins_a_sentence(match: regex.Match[str], text: str) -> bool:
    before = text[max(0, match.start() - _LOOK_BACK_CHARACTERS) : match.start()]
    if _TITLE.search(before) or not _BEFORE_A_SENTENCE.search(before):
        return False
    return _CHINESE_NEXT.match(text, match.end()) is None
