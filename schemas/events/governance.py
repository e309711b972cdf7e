"""What rules the rest. `EVERYWHERE` go to every partition, each copy with an id of its own."""

from typing import Annotated, ClassVar

from pydantic import Field, StrictInt

from mnemolog.schemas.events.base import Count, Event, Identity, Name, Text
from mnemolog.schemas.policy import Policy

Revision = Annotated[StrictInt, Field(ge=1, le=2**63 - 1)]


class PolicyChanged(Event):
    """From here on in this partition this policy holds, unless a higher revision was seen."""

    event_type: ClassVar[str] = "policy.changed"
    revision: Revision
    policy: Policy
    reason: Text | None = None


class TeamChanged(Event):
    """A team has these members now."""

    event_type: ClassVar[str] = "team.changed"
    revision: Revision
    team: Name
    members: tuple[Name, ...] = ()


class SubjectErased(Event):
    """Everything about a subject is to be erased."""

    event_type: ClassVar[str] = "subject.erased"
    revision: Revision
    erased: Name
    reason: Text | None = None


class EventSkipped(Event):
    """A parked event is never to be applied by a projection, or by any if none is named."""

    event_type: ClassVar[str] = "event.skipped"
    revision: Revision
    skipped: Identity  # of the parked event
    projection: Name | None = None
    reason: Text | None = None


class ProcessorAdvanced(Event):
    """A processor has done with a partition up to and including an offset."""

    event_type: ClassVar[str] = "processor.advanced"
    processor: Name
    partition: Count
    offset: Count


# Whoever appends one of these appends a copy to each partition: they hold for every key.
EVERYWHERE: tuple[type[Event], ...] = (PolicyChanged, TeamChanged, SubjectErased, EventSkipped)
GOVERNANCE: tuple[type[Event], ...] = (*EVERYWHERE, ProcessorAdvanced)
