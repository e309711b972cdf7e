"""What was said in a trace, each thing once, with its cause.

The input of a model's call repeats all that was said before. A message in it is the n-th of its
kind in that conversation; where n of its kind were told already, it is one of these. Its id names
what it is and n, so that another trace of the session, which repeats it too, gives the same one.
What a model says has the id of the call that made it say so.
"""

from collections import Counter, defaultdict
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

from mnemolog.importers.base import Here, Placed
from mnemolog.importers.chat_messages import Call
from mnemolog.importers.otel_calls import Action, Calls, Name, Use
from mnemolog.importers.otel_pieces import Piece, pieces_of
from mnemolog.importers.otel_said import Answer, Said
from mnemolog.importers.story import Story


class Dialogue:
    """Tells what is said in one trace. `is_turn`: other traces of its session tell the others."""

    def __init__(self, story: Story, calls: Calls, *, is_turn: bool) -> None:
        self._story = story
        self._calls = calls
        self._is_turn = is_turn
        self.words: str | None = None  # what an assistant said last
        self.call: str | None = None  # and what it called
        self._told: dict[str, list[str]] = defaultdict(list)  # a piece's key -> its events

    def is_told(self, piece: Piece) -> bool:
        """Say whether such a piece was told."""
        return bool(self._told.get(piece.key))

    def hear(self, heard: Sequence[Said], here: Here, *, cause: str | None) -> Iterator[Placed]:
        """Tell what is new in a model's input; its last message is the story's last event then."""
        pieces = [piece for said in heard for piece in pieces_of(said)]
        history = _last_question(pieces) if self._is_turn else 0
        counts: Counter[str] = Counter()
        asked: dict[str, Action] = {}  # calls in this input to which it has no answer so far
        self._story.previous = cause
        for nth, piece in enumerate(pieces):
            counts[piece.key] += 1
            known = self._known(piece, counts[piece.key])
            if known is not None:
                self._story.previous = known
            elif nth >= history or piece.role in ("user", "system"):
                name = ("heard", piece.key, str(counts[piece.key]))
                yield from self.tell(piece, here, name=name, cause=self._story.previous)
            yield from self._passed(piece, asked, here)

    def _known(self, piece: Piece, number: int) -> str | None:
        """Return the event of *piece*, the *number*-th of its kind, if it was or will be told."""
        if isinstance(piece.content, Answer):
            action = self._calls.answered(piece.content)
            if action is not None:
                return action.end or (action.id if action.record else None)
        told = self._told.get(piece.key, [])
        return told[number - 1] if number <= len(told) else None

    def _passed(self, piece: Piece, asked: dict[str, Action], here: Here) -> Iterator[Placed]:
        """Tell that no answer will come to the calls that *piece* passes without one."""
        match piece.content:
            case Call():
                said = self._told.get(piece.key)
                action = self._calls.of(said[-1]) if said else None
                if action is not None:
                    asked[action.id] = action
            case Answer():
                answered = self._calls.answered(piece.content)
                asked.pop(answered.id if answered else "", None)
            case str() if piece.role in ("user", "assistant"):
                for action in asked.values():
                    yield from self._calls.orphan(action, here)
                asked.clear()

    def say(
        self,
        pieces: Sequence[Piece],
        here: Here,
        *,
        name: Name,
        cause: str,
        uses: list[Mapping[str, Any]],
    ) -> Generator[Placed, None, str | None]:
        """Tell what a model says; the first pieces take from *uses* what it cost.

        Calls are caused by the words that they came with. Returns the event that stands for all:
        the last words, else the first call.
        """
        words, action = cause, None
        for number, piece in enumerate(pieces):
            use = uses.pop(0) if uses else None
            yield from self.tell(piece, here, name=(*name, str(number)), cause=words, use=use)
            if isinstance(piece.content, str):
                words = self._story.previous or words
            else:
                action = action or self._story.previous
        self._story.previous = words
        return words if words != cause else action

    def tell(
        self,
        piece: Piece,
        here: Here,
        *,
        name: Name,
        cause: str | None,
        use: Use = None,
    ) -> Iterator[Placed]:
        """Tell a piece; it is the story's last event then."""
        match piece.content:
            case Call() as call:
                yield from self._calls.say(call, here, name=name, cause=cause, use=use)
            case Answer() as answer:
                yield from self._calls.hear(answer, here, name=name, cause=cause)
            case str():
                model, fields = piece.told()
                told: dict[str, Any] = {**fields, "model_use": use}
                yield from self._story.tell(model, told, here, name=name, cause=cause)
        assert self._story.previous is not None, "something was told"
        self._told[piece.key].append(self._story.previous)
        if piece.role == "assistant" and piece.is_words:
            self.words = self._story.previous
        elif piece.role == "assistant":
            self.call = self._story.previous


def _last_question(pieces: Sequence[Piece]) -> int:
    """Return where the last thing that a user said stands: what is before it is history."""
    asked = (n for n, piece in enumerate(pieces) if piece.role == "user" and piece.is_words)
    return max(asked, default=0)
