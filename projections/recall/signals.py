"""The signals that find memories: each gives hits with a score of its own, or says why not.

They run side by side, each in time or named as missing. Nothing here weighs one against another.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from mnemolog.projections.memories.embedding import Embedder
from mnemolog.projections.memories.reading import Hit, MemoryReader
from mnemolog.projections.memories.rows import Filter
from mnemolog.projections.recall.deadlines import Call, Deadline
from mnemolog.projections.recall.focus import FOCUSES
from mnemolog.projections.recall.question import Question, seen_by
from mnemolog.schemas.errors import StoreUnavailable

CANDIDATES_MAX: Final = 50  # of each signal
LATEST_MAX: Final = 20  # beside what the words and the meaning find
_SHARE_OF_TIME: Final = 0.6  # of the question's time; reading and weighing need the rest

Signal = Callable[[], Sequence[Hit]]


@dataclass(frozen=True, slots=True)
class Found:
    """What each signal found, best first, and the signals that are missing with their reasons."""

    hits: Mapping[str, Sequence[Hit]]
    missing: tuple[str, ...]

    def ids(self) -> list[str]:
        """Return every id that was found, each once."""
        return list(dict.fromkeys(hit.id for hits in self.hits.values() for hit in hits))


def found(
    question: Question, *, reader: MemoryReader, embedder: Embedder | None, deadline: Deadline
) -> Found:
    """Ask every signal that *question* wants, at once."""
    calls = [Call(name, signal) for name, signal in _signals(question, reader, embedder).items()]
    hits: dict[str, Sequence[Hit]] = {}
    missing: list[str] = []
    for call in calls:
        answer, why = call.outcome(seconds=deadline.seconds_left(_SHARE_OF_TIME))
        if why is None:
            hits[call.name] = answer or ()
        else:
            missing.append(why)
    return Found(hits, tuple(missing))


def dense(
    text: str, *, where: Filter, reader: MemoryReader, embedder: Embedder | None
) -> Sequence[Hit]:
    """Return the memories whose meaning is nearest, by the model of the index."""
    if embedder is None:
        raise StoreUnavailable("embedder", "there is none")
    if embedder.model_id != reader.model_id:
        reason = f"{embedder.model_id} asked, but the index holds {reader.model_id}"
        raise StoreUnavailable("embedder", reason)
    (vector,) = embedder.embed([text], role="question")
    if not isinstance(vector, np.ndarray):
        raise StoreUnavailable("embedder", f"the question has no vector: {vector}")
    return reader.nearest(vector, where=where, hits_max=CANDIDATES_MAX)


def lexical(text: str, *, where: Filter, reader: MemoryReader) -> Sequence[Hit]:
    """Return the memories that share words with *text*."""
    return reader.matching(text, where=where, hits_max=CANDIDATES_MAX)


def latest(question: Question, *, where: Filter, reader: MemoryReader) -> Sequence[Hit]:
    """Return what happened last: of the kinds that the focus favours, or of all.

    The score falls from 1 with the place; it only says the order.
    """
    rows_max = LATEST_MAX if question.text.strip() else CANDIDATES_MAX
    kinds = where.kinds or FOCUSES[question.focus].kinds
    rows = reader.latest(where=replace(where, kinds=kinds), rows_max=rows_max)
    return [Hit(row.id, 1 / (1 + place)) for place, row in enumerate(rows)]


def _signals(
    question: Question, reader: MemoryReader, embedder: Embedder | None
) -> Mapping[str, Signal]:
    text, where = question.text, seen_by(question)
    signals: dict[str, Signal] = {}
    if text.strip():
        signals["dense"] = lambda: dense(text, where=where, reader=reader, embedder=embedder)
        signals["lexical"] = lambda: lexical(text, where=where, reader=reader)
    if not text.strip() or FOCUSES[question.focus].wants_latest:
        signals["latest"] = lambda: latest(question, where=where, reader=reader)
    return {name: run for name, run in signals.items() if name not in question.without}
