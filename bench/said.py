"""What a caller has in hand before it appends: a type, the event's own fields, and whose it is."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from work_history import told

from mnemolog.schemas.envelope import TYPE_PREFIX
from mnemolog.schemas.events import Event, schema_id
from mnemolog.streams.publishing import Draft

SCOPE = ("agent", "user", "project", "session", "task", "correlation")


@dataclass(frozen=True, slots=True)
class Said:
    """One event to come; its fields are JSON."""

    model: type[Event]
    fields: dict[str, Any]
    scope: dict[str, str]
    type_name: str
    schema_name: str

    def draft(self) -> Draft:
        """Return it as our publisher takes it."""
        return Draft(model=self.model, fields=self.fields, **self.scope)


def said(*, events: int, seed: int) -> Iterator[Said]:
    """Yield the first *events* of the history."""
    for event, envelope in told(events=events, seed=seed):
        model = type(event)
        yield Said(
            model,
            event.model_dump(mode="json", exclude_defaults=True),
            {name: getattr(envelope, name) for name in SCOPE},
            TYPE_PREFIX + model.event_type,
            schema_id(model.event_type, model.event_version),
        )
