"""Old events are lifted at the door, one version a step. Nothing behind the codec knows old ones.

A step takes the data of version n and returns that of n + 1. `Upcasts` checks at start-up that
the steps lead from every old version to the current one.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mnemolog.schemas.events.base import Event

Data = dict[str, Any]
Upcast = Callable[[Data], Data]
Step = tuple[str, int]  # event type, the version it leads from


class Upcasts:
    """A chain of steps for each event type that has more than one version."""

    def __init__(self, steps: Mapping[Step, Upcast], *, events: Iterable[type[Event]]) -> None:
        """Check the chain against the current *events*.

        Raises ValueError for a gap or a loose step.
        """
        current = {event.event_type: event.event_version for event in events}
        wanted = {(name, n) for name, version in current.items() for n in range(1, version)}
        if missing := sorted(wanted - steps.keys()):
            raise ValueError(f"no step lifts {missing[0][0]} from version {missing[0][1]}")
        if loose := sorted(steps.keys() - wanted):
            raise ValueError(f"the step from {loose[0][0]} version {loose[0][1]} leads nowhere")
        self._steps = dict(steps)

    def lifted(self, event_type: str, version: int, data: Data, *, to_version: int) -> Data:
        """Return *data* of *version* as *to_version* says it."""
        for step in range(version, to_version):
            data = self._steps[event_type, step](data)
        return data


STEPS: Mapping[Step, Upcast] = {}
