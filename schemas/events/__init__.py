"""The facts that the log keeps, one frozen model a type."""

from mnemolog.schemas.events.base import Event, ModelUse, schema_id
from mnemolog.schemas.events.experience import EXPERIENCE
from mnemolog.schemas.events.governance import GOVERNANCE
from mnemolog.schemas.events.memory import MEMORY

ALL_EVENTS: tuple[type[Event], ...] = (*EXPERIENCE, *MEMORY, *GOVERNANCE)

__all__ = ["ALL_EVENTS", "EXPERIENCE", "GOVERNANCE", "MEMORY", "Event", "ModelUse", "schema_id"]
