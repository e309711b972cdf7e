"""How much each candidate bears on the question: the signals' hits and the rows, fused.

Pure: hits and rows come in, shares in [0, 1] go out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mnemolog.projections.memories.reading import Hit
from mnemolog.projections.memories.rows import MemoryRow
from mnemolog.projections.recall.fusion import (
    IDENTIFIER,
    WORDS,
    Evidence,
    Weighing,
    beside,
    dense_evidence,
    fused,
    lexical_evidence,
    with_neighbours,
)
from mnemolog.projections.recall.identifiers import identifiers_in, share_held
from mnemolog.projections.recall.question import Question


@dataclass(frozen=True, slots=True)
class Relevance:
    """The relevance of each candidate, and what each signal says of it."""

    total: Mapping[str, float]
    evidence: Mapping[str, Evidence]
    neighbours: Mapping[str, float]

    def of(self, id_: str) -> float:
        """Return the relevance of a candidate; 0 where no signal of the question found it."""
        return self.total.get(id_, 0.0)

    def shares(self, id_: str) -> dict[str, float]:
        """Return what each signal that had a say gives a candidate."""
        shares = {name: one.shares.get(id_, 0.0) for name, one in self.evidence.items()}
        if self.neighbours:
            shares["neighbours"] = self.neighbours.get(id_, 0.0)
        return shares


def relevance(
    question: Question,
    hits: Mapping[str, Sequence[Hit]],
    rows: Mapping[str, MemoryRow],
    *,
    tokens: int,
) -> Relevance:
    """Return how much each of *rows* bears on *question*, whose words are *tokens* in number.

    A question with an identifier that a candidate holds is weighed for identifiers.
    """
    named = _identifiers(question, rows)
    weighing = IDENTIFIER if named.confidence else WORDS
    evidence = _evidence(hits, tokens=tokens, weighing=weighing)
    if named.confidence:
        evidence["identifiers"] = named
    own = {id_: share for id_, share in fused(evidence, weighing=weighing).items() if id_ in rows}
    if "neighbours" in question.without:
        return Relevance(own, evidence, {})
    near = beside(own, rows)
    return Relevance(with_neighbours(own, near, weighing=weighing), evidence, near)


def _evidence(
    hits: Mapping[str, Sequence[Hit]], *, tokens: int, weighing: Weighing
) -> dict[str, Evidence]:
    evidence = {}
    if "dense" in hits:
        evidence["dense"] = dense_evidence(hits["dense"])
    if "lexical" in hits:
        evidence["lexical"] = lexical_evidence(hits["lexical"], tokens=tokens, weighing=weighing)
    return evidence


def _identifiers(question: Question, rows: Mapping[str, MemoryRow]) -> Evidence:
    names = () if "identifiers" in question.without else identifiers_in(question.text)
    if not names:
        return Evidence({}, 0.0)
    shares = {id_: share_held(names, row.text) for id_, row in rows.items()}
    return Evidence(shares, 1.0 if any(shares.values()) else 0.0)
