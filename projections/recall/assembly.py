"""From ranked memories to a text for a prompt, within a budget of tokens.

Nothing here asks a store. A memory's own lines are indented below its heading, so that no text
can pass for another memory's heading; characters that break prompts become U+FFFD, and of encoded
bytes the start alone is shown.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import regex

from mnemolog.projections.memories.readable import with_base64_cut
from mnemolog.projections.recall.answer import RecalledMemory
from mnemolog.projections.recall.labels import Labels, labels_for
from mnemolog.projections.recall.tokens import tokens_of
from mnemolog.schemas.text import cut
from mnemolog.schemas.values import REPLACEMENT

SHOWN_CHARACTERS_MAX: Final = 20_000  # of one memory; the rest is behind its id
CUT_LEVEL: Final = -1
CUT_CHARACTERS_MIN: Final = 24  # less of a memory says nothing
EVENT_ID_CHARACTERS: Final = 8

_TOKEN_CHARACTERS_MAX: Final = 8  # of readable text: four letters, and room for spaces
_BREAKS_PROMPTS: Final = regex.compile("[\x00-\x08\x0e-\x1b\x7f\ud800-\udfff]")
# What ends or joins sentences; "a != b" and "1.5" keep theirs.
_NOT_TELLING: Final = regex.compile(r"\s+|[.,;:!?…]+(?=\s|$)|[，。；：！？、“”‘’「」（）]+")
_SPACES: Final = regex.compile(r" +")


@dataclass(frozen=True, slots=True)
class Assembled:
    """The memories that fit, the text of them all, its tokens, and how many did not fit."""

    memories: tuple[RecalledMemory, ...]
    text: str
    tokens: int
    left_out: int


def assembled(ranked: Iterable[RecalledMemory], *, hits_max: int, tokens_max: int) -> Assembled:
    """Return the best of *ranked* that fit *tokens_max*, at most *hits_max*, in their order.

    Where a whole text does not fit, its shorter levels are tried, longest first; what still does
    not fit is left out, and a smaller one behind it may take its place. If nothing fits, the
    start of the best is shown. The text is never longer than *tokens_max* by `tokens_of`.
    """
    distinct = without_repeats(ranked, hits_max=hits_max)
    labels = labels_for(memory.text for memory in distinct)
    top = _top(distinct, labels)
    budget = tokens_max - tokens_of(top)
    fitting = list(_fitting(distinct, labels, budget))
    if not fitting and distinct:
        fitting = list(_start_of(distinct[0], labels, budget))
    text = "\n".join((top, *(memory.block for memory in fitting))) if fitting else ""
    left_out = len(distinct) - len(fitting)
    return Assembled(tuple(fitting), text, tokens_of(text), left_out)


def without_repeats(ranked: Iterable[RecalledMemory], *, hits_max: int) -> list[RecalledMemory]:
    """Return the first *hits_max* that say something new, each with the repeats seen until then.

    Texts that differ in case, width, spaces or the signs between sentences alone say the same.
    What follows is not looked at.
    """
    kept: dict[str, RecalledMemory] = {}
    for memory in ranked:
        said = told(memory.text)
        if said in kept:
            first = kept[said]
            kept[said] = replace(first, repeats=(*first.repeats, memory.id))
        elif len(kept) < hits_max:
            kept[said] = memory
        else:
            break
    return list(kept.values())


def told(text: str) -> str:
    """Return what *text* tells, for comparing: folded, without the signs between sentences.

    >>> told("Use pnpm, please!") == told("use  PNPM please")
    True
    """
    start = _NOT_TELLING.sub(" ", text[:SHOWN_CHARACTERS_MAX])
    folded = _SPACES.sub(" ", unicodedata.normalize("NFKC", start)).strip().casefold()
    return folded or text


def _top(distinct: Sequence[RecalledMemory], labels: Labels) -> str:
    if any(memory.is_outdated for memory in distinct):
        return f"{labels.heading}\n{labels.caution}"
    return labels.heading


def _fitting(
    distinct: Sequence[RecalledMemory], labels: Labels, budget: int
) -> Iterator[RecalledMemory]:
    for memory in distinct:
        for level, text in _levels(memory):
            shown = _shown(memory, text, level=level, labels=labels)
            if shown.tokens <= budget:
                budget -= shown.tokens
                yield shown
                break


def _levels(memory: RecalledMemory) -> Iterator[tuple[int, str]]:
    yield 0, memory.row.text
    yield from sorted(memory.row.levels.items())


def _start_of(memory: RecalledMemory, labels: Labels, budget: int) -> Iterator[RecalledMemory]:
    """Yield *memory* with the longest start of its text that fits, if that says anything."""
    low, high = 0, min(len(memory.row.text), SHOWN_CHARACTERS_MAX, budget * _TOKEN_CHARACTERS_MAX)
    best = None
    while low < high:
        middle = (low + high + 1) // 2
        text = cut(memory.row.text, characters_max=middle)
        shown = _shown(memory, text, level=CUT_LEVEL, labels=labels)
        if shown.tokens <= budget:
            low, best = middle, shown
        else:
            high = middle - 1
    if best is not None and low >= CUT_CHARACTERS_MIN:
        yield best


def _shown(memory: RecalledMemory, text: str, *, level: int, labels: Labels) -> RecalledMemory:
    readable = with_base64_cut(_BREAKS_PROMPTS.sub(REPLACEMENT, text))
    start = cut(readable, characters_max=SHOWN_CHARACTERS_MAX)
    lines = [line.strip() for line in start.splitlines()]
    body = "\n".join(f"  {line}" for line in lines if line)
    is_short = level != 0 or len(start) < len(text)
    block = f"{_heading(memory, labels, is_short=is_short)}\n{body}"
    return replace(memory, text=start, level=level, block=block, tokens=tokens_of(block))


def _heading(memory: RecalledMemory, labels: Labels, *, is_short: bool) -> str:
    row = memory.row
    parts = [
        f"{row.occurred_at:%Y-%m-%d %H:%M}",
        labels.kinds.get(row.kind, row.kind),
        labels.stated_by.get(row.stated_by, row.stated_by),
        f"{labels.event} {_short_id(row.event_id)}",
    ]
    if mark := labels.standings.get(memory.standing):
        ends = row.valid_until if memory.is_outdated else None
        parts.append(mark if ends is None else f"{mark} ({labels.until} {ends:%Y-%m-%d})")
    if is_short:
        parts.append(labels.cut)
    return "- " + " · ".join(parts)


def _short_id(event_id: str) -> str:
    return (
        event_id if len(event_id) <= EVENT_ID_CHARACTERS else "…" + event_id[-EVENT_ID_CHARACTERS:]
    )
