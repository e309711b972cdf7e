"""Recall: one question, several signals, one answer. Reads read models, writes nothing.

Each step is a module of its own: `signals` find, `fusion` weighs, `priority` ranks, `assembly`
writes. What is late or broken is named in the answer; only a question out of bounds raises.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from mnemolog.projections.memories.embedding import Embedder
from mnemolog.projections.memories.lexical import question_tokens
from mnemolog.projections.memories.reading import MemoryReader
from mnemolog.projections.memories.rows import MemoryRow
from mnemolog.projections.recall.answer import (
    Provenance,
    Recalled,
    RecalledMemory,
    SignalScore,
)
from mnemolog.projections.recall.assembly import assembled
from mnemolog.projections.recall.deadlines import Call, Deadline
from mnemolog.projections.recall.focus import FOCUSES
from mnemolog.projections.recall.priority import (
    OUTDATED_SHARE,
    WEIGHT_TERM_UNKNOWN,
    Terms,
    importance_term,
    recency,
)
from mnemolog.projections.recall.question import Question
from mnemolog.projections.recall.relevance import Relevance, relevance
from mnemolog.projections.recall.signals import Found, found
from mnemolog.projections.recall.standing import Standing, standing_now, standing_then
from mnemolog.schemas.policy import DecayPolicy

__all__ = ["Question", "Recalled", "RecalledMemory", "Weigher", "recall"]

_SHARE_OF_TIME_FOR_ROWS: Final = 0.85
_NOTHING_YET: Final = "nothing has been projected yet"


class Weighed(Protocol):
    """A memory's weight at a time, and its term in a priority, in [0, 1]."""

    @property
    def weight(self) -> float:
        """The weight."""
        ...

    @property
    def ranking_term(self) -> float:
        """The term."""
        ...


class Weigher(Protocol):
    """Where weights come from. Any thread may use it."""

    def decay_policy(self) -> DecayPolicy:
        """Return the numbers in force."""
        ...

    def weights(
        self, ids: Sequence[str], *, at: datetime, decay: DecayPolicy
    ) -> Mapping[str, Weighed]:
        """Return the weights at *at* of those of *ids* that are known."""
        ...


@dataclass(frozen=True, slots=True)
class _Candidates:
    rows: Mapping[str, MemoryRow]
    standings: Mapping[str, Standing]


def recall(
    question: Question,
    *,
    reader: MemoryReader | None,
    weights: Weigher | None,
    embedder: Embedder | None,
    topic: str,
) -> Recalled:
    """Answer *question* from the memories of *reader* within the question's time.

    A signal that fails, hangs or has no store is left out and named in `missing`; the others
    answer. Weights that are missing count as those of fresh memories. No memory at all gives an
    empty answer. *topic* is the log that the memories come from.
    """
    if reader is None:
        return _answer(question, [], missing=(f"memories: {_NOTHING_YET}",))
    deadline = Deadline(question.timeout_seconds)
    hits = found(question, reader=reader, embedder=embedder, deadline=deadline)
    candidates, weighed, missing = _looked_up(question, hits, reader, weights, deadline)
    relevant = relevance(question, hits.hits, candidates.rows, tokens=_tokens(question))
    ranked = _ranked(question, hits, candidates, weighed, relevant, topic=topic)
    return _answer(question, ranked, missing=(*hits.missing, *missing))


def _tokens(question: Question) -> int:
    return len(question_tokens(question.text))


def _looked_up(
    question: Question,
    hits: Found,
    reader: MemoryReader,
    weights: Weigher | None,
    deadline: Deadline,
) -> tuple[_Candidates, Mapping[str, Weighed], tuple[str, ...]]:
    """Read the rows and weights of what was found, side by side."""
    ids = hits.ids()
    if not ids:
        return _Candidates({}, {}), {}, ()
    rows = Call("memories", lambda: _candidates(question, ids, reader))
    weighing = Call("weight", lambda: _weights(question, ids, weights))
    candidates, no_rows = rows.outcome(seconds=deadline.seconds_left(_SHARE_OF_TIME_FOR_ROWS))
    weighed, no_weights = weighing.outcome(seconds=deadline.seconds_left())
    missing = tuple(why for why in (no_rows, no_weights) if why is not None)
    return candidates or _Candidates({}, {}), weighed or {}, missing


def _candidates(question: Question, ids: Sequence[str], reader: MemoryReader) -> _Candidates:
    rows = reader.rows(ids)
    valid_at = question.where.valid_at or question.at
    standings = {row.id: standing_now(row, valid_at) for row in rows.values()}
    if question.as_of is not None:
        replaced_by = [row.superseded_by for row in rows.values() if row.superseded_by]
        successors = reader.rows(replaced_by) if replaced_by else {}
        standings = {
            row.id: standing_then(row, question.as_of, successors=successors)
            for row in rows.values()
        }
        if question.where.current:
            rows = {id_: row for id_, row in rows.items() if standings[id_] is Standing.CURRENT}
    return _Candidates(rows, standings)


def _weights(
    question: Question, ids: Sequence[str], weights: Weigher | None
) -> Mapping[str, Weighed]:
    if "weight" in question.without:
        return {}
    if weights is None:
        raise LookupError(_NOTHING_YET)
    return weights.weights(ids, at=question.moment, decay=weights.decay_policy())


def _ranked(
    question: Question,
    hits: Found,
    candidates: _Candidates,
    weighed: Mapping[str, Weighed],
    relevant: Relevance,
    *,
    topic: str,
) -> Iterator[RecalledMemory]:
    """Yield the candidates by priority, ties by id; each is made when it is asked for."""
    explained = _explained(hits) if question.explain else {}
    ranked = []
    for row in candidates.rows.values():
        terms = _terms(question, row, relevant.of(row.id), weighed.get(row.id))
        share = OUTDATED_SHARE if candidates.standings[row.id].is_outdated else 1.0
        ranked.append((-share * terms.priority(FOCUSES[question.focus]), row.id, terms))
    for score, id_, terms in sorted(ranked, key=lambda one: one[:2]):
        row, known = candidates.rows[id_], weighed.get(id_)
        yield RecalledMemory(
            row=row,
            text=row.text,
            block="",
            level=0,
            tokens=0,
            score=-score,
            scores={**relevant.shares(id_), **terms.named()},
            signals=explained.get(id_, {}),
            weight=None if known is None else known.weight,
            standing=candidates.standings[id_],
            provenance=Provenance.of(row, topic=topic),
        )


def _terms(question: Question, row: MemoryRow, relevant: float, known: Weighed | None) -> Terms:
    focus = FOCUSES[question.focus]
    return Terms(
        relevance=relevant,
        recency=recency(row.occurred_at, at=question.moment, hours=focus.recency_hours),
        importance=importance_term(row.importance, kind=row.kind, tags=row.tags, focus=focus),
        weight=WEIGHT_TERM_UNKNOWN if known is None else known.ranking_term,
    )


def _explained(hits: Found) -> Mapping[str, Mapping[str, SignalScore]]:
    explained: dict[str, dict[str, SignalScore]] = {}
    for name, found_by_it in hits.hits.items():
        for rank, hit in enumerate(found_by_it, start=1):
            explained.setdefault(hit.id, {})[name] = SignalScore(rank, hit.score)
    return explained


def _answer(
    question: Question, ranked: Iterable[RecalledMemory], *, missing: tuple[str, ...]
) -> Recalled:
    shown = assembled(ranked, hits_max=question.hits_max, tokens_max=question.tokens_allowed)
    return Recalled(
        question=question.text,
        at=question.at,
        focus=question.focus,
        memories=shown.memories,
        missing=missing,
        text=shown.text,
        tokens=shown.tokens,
        left_out=shown.left_out,
    )
