"""A reference that came over the wire."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Named:
    """An event, memory or decision: its id, and the event's identity where that was told."""

    id: str
    identity: str | None = None
