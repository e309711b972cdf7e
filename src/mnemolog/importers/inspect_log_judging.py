"""What a sample was judged by: scores while it ran and after, approvals, and what graders cost."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from mnemolog.importers.base import Here, Placed
from mnemolog.importers.inspect_log_scores import (
    essence_of,
    explanation_of,
    feedback,
    judgements,
    success_of,
)
from mnemolog.importers.otel_dialogue import Dialogue
from mnemolog.importers.otel_pieces import Piece
from mnemolog.importers.shapes import mapping, text_or_none
from mnemolog.importers.story import Story
from mnemolog.schemas.events.experience import FeedbackGiven

_APPROVALS: Final = {"approve": 1.0, "reject": -1.0, "terminate": -1.0}  # others leave it open


class Judging:
    """Tells the scores of one sample."""

    def __init__(self, story: Story, dialogue: Dialogue) -> None:
        self._story = story
        self._dialogue = dialogue
        self._told: set[str] = set()
        self._last: dict[str, Any] = {}  # of each scorer
        self._spent: list[Mapping[str, Any]] = []  # by graders, for scores to come

    def spend(self, use: Mapping[str, Any] | None) -> None:
        """Take what a grader cost; the next score tells it."""
        if use is not None:
            self._spent.append(use)

    def is_told(self, score: Any) -> bool:
        """Say whether such a score was told."""
        return essence_of(mapping(score)) in self._told

    def score(
        self, scorer: str, score: Any, here: Here, *, name: str, otherwise: str
    ) -> Iterator[Placed]:
        """Tell a score on what an agent said last, or on *otherwise*."""
        score = mapping(score)
        if not score:
            return
        self._told.add(essence_of(score))
        self._last[scorer] = score
        target = self._dialogue.words or self._dialogue.call or otherwise
        comment = self._comment(score)
        for number, judged in enumerate(judgements(scorer, score)):
            fields = feedback(judged, scorer=scorer, comment=None if number else comment)
            use = self._spent.pop(0) if self._spent else None
            told = {**fields, "target": target, "model_use": use}
            how: dict[str, Any] = {"name": ("score", name, str(number)), "cause": target}
            yield from self._story.aside(FeedbackGiven, told, here, **how)

    def approval(
        self, event: Mapping[str, Any], here: Here, *, target: str, cause: str, name: str
    ) -> Iterator[Placed]:
        """Tell that a call was approved, or was not."""
        decision = str(event.get("decision"))
        fields = {
            "target": target,
            "score": _APPROVALS.get(decision, 0.0),
            "label": decision,
            "comment": text_or_none(event.get("explanation")),
            "given_by": text_or_none(event.get("approver")),
        }
        how: dict[str, Any] = {"name": ("approval", name), "cause": cause}
        yield from self._story.aside(FeedbackGiven, fields, here, **how)

    def left(self) -> list[Mapping[str, Any]]:
        """Return what graders cost that no score has told."""
        return self._spent

    def verdict(self, scores: Any) -> tuple[bool | None, str]:
        """Return whether a sample succeeded, and its scores in words.

        Where a log has no *scores* of a sample, the last ones that were told count.
        """
        given = mapping(scores) or self._last
        known = {name: score for name, score in given.items() if isinstance(score, dict)}
        labels = [judged[2] for name, one in known.items() for judged in judgements(name, one)]
        return success_of(known), ", ".join(labels)

    def _comment(self, score: Mapping[str, Any]) -> str | None:
        """Return why; some scorers give the answer itself, which was said already."""
        text = explanation_of(score)
        is_answer = text is not None and self._dialogue.is_told(Piece("assistant", text))
        return None if is_answer else text
