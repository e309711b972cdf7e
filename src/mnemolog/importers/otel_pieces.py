"""What of a message becomes an event each: thoughts, words, calls, answers; and when two are one.

A piece's key says what it is, not where it stood: the same history in the input of the next call
gives the same keys.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mnemolog.importers.chat_messages import Call
from mnemolog.importers.otel_said import Answer, Said
from mnemolog.importers.words import decision_of
from mnemolog.schemas.events import Event
from mnemolog.schemas.events import experience as happened
from mnemolog.schemas.fields import is_blank

Content = str | Call | Answer


@dataclass(frozen=True, slots=True)
class Piece:
    """A thought, words, a call or an answer of *role*."""

    role: str
    content: Content
    parts: tuple[dict[str, Any], ...] = ()
    is_thought: bool = False

    @property
    def is_words(self) -> bool:
        """Say whether it was said to somebody."""
        return isinstance(self.content, str) and not self.is_thought

    @property
    def key(self) -> str:
        """What makes it the one that it is."""
        match self.content:
            case str():
                said: list[Any] = [self.content.strip(), list(self.parts)]
            case Call():
                call = self.content
                said = [call.id, call.tool, call.arguments, call.raw]
            case Answer():
                said = [self.content.call_id, self.content.text.strip()]
        kind = type(self.content).__name__
        whole = json.dumps([kind, self.role, self.is_thought, *said], sort_keys=True)
        return hashlib.sha256(whole.encode()).hexdigest()

    def told(self) -> tuple[type[Event], dict[str, Any]]:
        """Return the event and the fields that words and thoughts become."""
        assert isinstance(self.content, str), "calls and answers are linked by who tells them"
        if self.is_thought:
            return happened.DecisionMade, decision_of(self.content)
        fields: dict[str, Any] = {"role": self.role, "text": self.content}
        return happened.MessageExchanged, {**fields, "parts": list(self.parts) or None}


def pieces_of(said: Said) -> Iterator[Piece]:
    """Yield what *said* says, in order; a message that says nothing gives nothing.

    What others hand over answers what was asked before it; what an assistant's own message holds
    of answers comes from tools that the model's provider ran.
    """
    answers = [Piece("tool", answer) for answer in said.answers]
    if said.role != "assistant":
        yield from answers
    for thought in said.thoughts:
        yield Piece(said.role, thought, is_thought=True)
    if said.parts or not is_blank(said.text):
        yield Piece(said.role, said.text, said.parts)
    for call in said.calls:
        yield Piece("assistant", call)
    if said.role == "assistant":
        yield from answers
