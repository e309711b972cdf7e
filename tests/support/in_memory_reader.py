"""A `MemoryReader` over plain rows, exact and slow: it shows what the port promises.

Nearest is brute force; matching is BM25 over our own tokens with a plain English stemmer.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np

from mnemolog.projections.memories.embedding import Embedder, Vector
from mnemolog.projections.memories.lexical import index_tokens, question_tokens
from mnemolog.projections.memories.reading import Hit, Link
from mnemolog.projections.memories.rows import Filter, MemoryRow
from mnemolog.schemas.positions import Position

BM25_K1: Final = 1.2
BM25_B: Final = 0.75
_ALWAYS: Final = datetime.max.replace(tzinfo=UTC)
_ENDINGS: Final = ("ingly", "edly", "ings", "ing", "ied", "ies", "ed", "es", "ly", "s")
_STEM_MIN: Final = 3


class InMemoryReader:
    """Holds *rows* and the vectors of those that have one, by memory id."""

    def __init__(
        self,
        rows: Iterable[MemoryRow],
        *,
        vectors: Mapping[str, Vector] | None = None,
        model_id: str = "none",
        links: Sequence[Link] = (),
    ) -> None:
        self._rows = {row.id: row for row in rows}
        self._vectors = dict(vectors or {})
        self._links = links
        self._words = _Words(self._rows.values())
        self.model_id = model_id

    def nearest(self, vector: Vector, *, where: Filter, hits_max: int) -> Sequence[Hit]:
        """Return the memories nearest to *vector* by cosine."""
        scores = {id_: float(np.dot(own, vector)) for id_, own in self._vectors.items()}
        return self._best(scores, where, hits_max)

    def matching(self, question: str, *, where: Filter, hits_max: int) -> Sequence[Hit]:
        """Return the memories that share words with *question*."""
        return self._best(self._words.scores(question), where, hits_max)

    def rows(self, ids: Iterable[str]) -> Mapping[str, MemoryRow]:
        """Return the memories of *ids* that are there."""
        return {id_: self._rows[id_] for id_ in ids if id_ in self._rows}

    def of_event(self, event_id: str) -> Sequence[MemoryRow]:
        """Return the memories that an event formed."""
        found = [row for row in self._rows.values() if row.event_id == event_id]
        return sorted(found, key=lambda row: row.ordinal)

    def of_session(self, session: str, *, where: Filter, rows_max: int) -> Sequence[MemoryRow]:
        """Return a session's memories in the order of their occurrence."""
        found = [row for row in self._passing(where) if row.session == session]
        return sorted(found, key=_time_and_place)[:rows_max]

    def latest(self, *, where: Filter, rows_max: int) -> Sequence[MemoryRow]:
        """Return the memories that occurred last, newest first."""
        return sorted(self._passing(where), key=_time_and_place, reverse=True)[:rows_max]

    def links(self, ids: Iterable[str], *, links_max: int) -> Sequence[Link]:
        """Return the links that touch any of *ids*."""
        asked = set(ids)
        touching = (link for link in self._links if asked & {link.from_memory, link.to_memory})
        return list(touching)[:links_max]

    def counts(self) -> Mapping[str, int]:
        """Return how many there are."""
        outstanding = len(self._rows.keys() - self._vectors.keys())
        return {
            "memories": len(self._rows),
            "vectors": len(self._vectors),
            "outstanding": outstanding,
            "unembeddable": 0,
        }

    def close(self) -> None:
        """Do nothing: there is nothing open."""

    def _passing(self, where: Filter) -> list[MemoryRow]:
        return [row for row in self._rows.values() if passes(row, where)]

    def _best(self, scores: Mapping[str, float], where: Filter, hits_max: int) -> list[Hit]:
        hits = [Hit(id_, s) for id_, s in scores.items() if passes(self._rows[id_], where)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:hits_max]


def embedded(rows: Sequence[MemoryRow], embedder: Embedder) -> InMemoryReader:
    """Return a reader of *rows* with the vectors that *embedder* gives them."""
    vectors = embedder.embed([row.text for row in rows], role="memory")
    sound = {
        row.id: vector
        for row, vector in zip(rows, vectors, strict=True)
        if isinstance(vector, np.ndarray)
    }
    return InMemoryReader(rows, vectors=sound, model_id=embedder.model_id)


def passes(row: MemoryRow, where: Filter) -> bool:
    """Say whether *where* lets a question see *row*."""
    for name in ("agent", "user", "project", "session", "task"):
        if getattr(where, name) is not None and getattr(where, name) != getattr(row, name):
            return False
    return (
        (not where.kinds or row.kind in where.kinds)
        and set(where.tags) <= set(row.tags)
        and row.importance >= where.importance_min
        and (where.occurred_from is None or row.occurred_at >= where.occurred_from)
        and (where.occurred_until is None or row.occurred_at < where.occurred_until)
        and (not where.current or _is_current(row, where.valid_at))
    )


def _is_current(row: MemoryRow, valid_at: datetime | None) -> bool:
    if row.superseded or row.archived:
        return False
    if valid_at is None:
        return True
    begun = row.valid_from is None or row.valid_from <= valid_at
    return begun and valid_at < (row.valid_until or _ALWAYS)


def _time_and_place(row: MemoryRow) -> tuple[datetime, int, int, int, str]:
    return row.occurred_at, *row.position, row.ordinal, row.id


class _Words:
    """BM25 over the tokens of the rows' texts."""

    def __init__(self, rows: Iterable[MemoryRow]) -> None:
        counts = {row.id: Counter(map(_stem, index_tokens(row.text))) for row in rows}
        self._lengths = {id_: sum(count.values()) for id_, count in counts.items()}
        self._mean = (sum(self._lengths.values()) / len(counts)) if counts else 1.0
        self._postings: dict[str, dict[str, int]] = defaultdict(dict)
        for id_, count in counts.items():
            for token, times in count.items():
                self._postings[token][id_] = times

    def scores(self, question: str) -> Mapping[str, float]:
        """Return the score of each row that shares a token with *question*."""
        scores: dict[str, float] = defaultdict(float)
        for token in dict.fromkeys(map(_stem, question_tokens(question))):
            postings = self._postings.get(token, {})
            rarity = math.log(
                1 + (len(self._lengths) - len(postings) + 0.5) / (len(postings) + 0.5)
            )
            for id_, times in postings.items():
                length = 1 - BM25_B + BM25_B * self._lengths[id_] / self._mean
                scores[id_] += rarity * times * (BM25_K1 + 1) / (times + BM25_K1 * length)
        return scores


def _stem(token: str) -> str:
    """Return *token* without its English ending; what is no plain word stays whole."""
    if not (token.isascii() and token.isalpha()):
        return token
    for ending in _ENDINGS:
        if token.endswith(ending) and len(token) - len(ending) >= _STEM_MIN:
            stem = token[: -len(ending)]
            return stem[:-1] if stem[-1] == stem[-2] and ending[:2] in {"in", "ed"} else stem
    return token[:-1] if token.endswith("e") and len(token) > _STEM_MIN + 1 else token


def memory_row(text: str, **changes: Any) -> MemoryRow:
    """Return a memory of *text* with plain values but for *changes*; its id is its text."""
    occurred = changes.get("occurred_at", datetime(2030, 1, 1, tzinfo=UTC))
    plain: dict[str, Any] = {
        "id": text,
        "kind": "episode",
        "text": text,
        "importance": 0.5,
        "confidence": 0.8,
        "stated_by": "user",
        "occurred_at": occurred,
        "event_id": f"event of {text}"[:64],
        "event_type": "message.exchanged",
        "identity": "0" * 32,
        "key": "ops-1",
        "agent": "ops-1",
        "ordinal": 0,
        "position": Position(0, 0),
        "recorded_at": occurred,
    }
    return MemoryRow(**{**plain, **changes})
