"""Which model an event type and version has. A second model for one of them is refused."""

from collections.abc import Iterable

from mnemolog.schemas.events import ALL_EVENTS, Event


class Registry:
    """The current model of each event type."""

    def __init__(self, events: Iterable[type[Event]] = ()) -> None:
        self._models: dict[str, type[Event]] = {}
        for event in events:
            self.register(event)

    def register(self, event: type[Event]) -> None:
        """Add a model. Raises ValueError if its type has one already."""
        known = self._models.get(event.event_type)
        if known is not None:
            raise ValueError(f"{event.event_type} is registered already, as {known.__name__}")
        self._models[event.event_type] = event

    def get(self, event_type: str) -> type[Event] | None:
        """Return the model of *event_type*, or None if this code knows none."""
        return self._models.get(event_type)

    def events(self) -> tuple[type[Event], ...]:
        """Return all models, in the order of their registration."""
        return tuple(self._models.values())


def built_in() -> Registry:
    """Return a registry of all events of ours."""
    return Registry(ALL_EVENTS)
