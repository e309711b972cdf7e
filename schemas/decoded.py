"""What a record of the log turns out to be. The four kinds of law 7, as types."""

from dataclasses import dataclass

from mnemolog.schemas.envelope import Envelope, RecordedEvent
from mnemolog.schemas.records import LogRecord


@dataclass(frozen=True, slots=True)
class Ours:
    """An event of ours, valid and of the current version; `canonical` says the same as bytes."""

    record: LogRecord
    recorded: RecordedEvent
    canonical: bytes

    @property
    def envelope(self) -> Envelope:
        """What the publisher said around the event."""
        return self.recorded.envelope

    @property
    def key(self) -> str:
        """What the event is ordered by."""
        return self.recorded.key

    @property
    def identity(self) -> str:
        """32 hexadecimal digits of (key, source, id)."""
        return self.recorded.identity

    @property
    def content(self) -> str:
        """32 hexadecimal digits of what the event says."""
        return self.recorded.content

    @property
    def event_type(self) -> str:
        """The type, without our prefix."""
        return self.recorded.event.event_type


@dataclass(frozen=True, slots=True)
class Guest:
    """A sound CloudEvent of a type that isn't ours: it gets a row among the events, no more."""

    record: LogRecord
    envelope: Envelope
    identity: str
    event_type: str
    content: str
    canonical: bytes

    @property
    def key(self) -> str:
        """What the event is ordered by."""
        return self.envelope.key


@dataclass(frozen=True, slots=True)
class Foreign:
    """No CloudEvent of this log: kept in a list with its bytes and this reason. Nothing waits."""

    record: LogRecord
    reason: str


@dataclass(frozen=True, slots=True)
class Unusable:
    """An event of ours that can't be applied: its key's later events wait behind it.

    `newer` says that newer code can apply it.
    """

    record: LogRecord
    key: str
    identity: str
    event_type: str
    reason: str
    newer: bool


Decoded = Ours | Guest | Foreign | Unusable
