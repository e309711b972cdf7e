"""A sample's events in one row, each with the solver, scorer or tool in which it happened.

Newer logs name the span of each event, older ones have steps that begin and end, and tools and
subtasks that hold the events of their own.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from mnemolog.importers.shapes import listed, mapping

SCORER: Final = "scorer"
TOOL: Final = "tool"
SOLVER: Final = "solver"
_HOLDERS: Final = ("tool", "subtask")


@dataclass(frozen=True, slots=True)
class Within:
    """What an event happened in: its kind, its name, and what holds that."""

    kind: str
    name: str
    outer: "Within | None" = None

    def nearest(self, kind: str) -> "Within | None":
        """Return the nearest of *kind*, this one included."""
        at: Within | None = self
        while at is not None and at.kind != kind:
            at = at.outer
        return at


@dataclass(frozen=True, slots=True)
class Happened:
    """An event, its number in the row, and what it happened in."""

    number: int
    event: Any
    within: Within | None

    def nearest(self, kind: str) -> Within | None:
        """Return the nearest *kind* in which it happened."""
        return self.within.nearest(kind) if self.within else None


def in_one_row(events: Any) -> Iterator[Happened]:
    """Yield all events in order, those within others behind these."""
    spans: dict[str, Within] = {}
    steps: list[Within] = []
    number = 0
    waiting: list[tuple[Any, Within | None]] = [(e, None) for e in reversed(listed(events))]
    while waiting:
        event, holder = waiting.pop()
        fields = mapping(event)
        named = fields.get("span_id")
        step = steps[-1] if steps else None
        within = holder or (spans.get(named) if isinstance(named, str) else None) or step
        _follow(fields, within, spans, steps)
        yield Happened(number, event, within)
        number += 1
        if fields.get("event") in _HOLDERS:
            kind = TOOL if fields["event"] == TOOL else "subtask"
            name = fields.get("function", fields.get("name"))
            inner = Within(kind, str(name), within)
            waiting += [(held, inner) for held in reversed(listed(fields.get("events")))]


def _follow(
    fields: dict[str, Any], within: Within | None, spans: dict[str, Within], steps: list[Within]
) -> None:
    """Take a span or step that begins or ends into account."""
    kind, name = str(fields.get("type")), str(fields.get("name"))
    match fields.get("event"):
        case "span_begin":
            outer = fields.get("parent_id")
            held_by = spans.get(outer) if isinstance(outer, str) else None
            spans[str(fields.get("id"))] = Within(kind, name, held_by or within)
        case "step" if fields.get("action") == "begin":
            steps.append(Within(kind, name, within))
        case "step" if steps:
            steps.pop()
