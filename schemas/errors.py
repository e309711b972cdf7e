"""The one tree of errors. Callers branch on the class, people read the message and the hint.

MnemologError
├── InvalidEvent        the caller's fault: field, value and limit are named; do not retry
│   └── EventTooLarge   it is larger, encoded, than an event may be; both sizes are named
├── InvalidSetting      the operator's fault: a setting or an argument makes no sense
│   ├── NeedsRebuild    a generation was built by another version of its fold
│   └── NewerRelease    a later release wrote what stands there: it is left as it is
├── NotFound            what was asked for is not known
├── ReadOnly            this handle may not write
├── StoreUnavailable    the world's fault: retry, nothing was applied
│   ├── LogUnavailable  the log did not acknowledge in time
│   └── NoRoom          the disk is too full for work that can wait; appends go on
├── TimedOut            what was waited for did not come in time
├── LeaseHeld           another process keeps this folder's projections
├── Parked              an event of this key waits, and what was asked for waits behind it
├── Damaged             a file or row does not match its checksum
│   ├── LogDamaged      the log itself: no projection can bring it back
│   └── BlobDamaged     a text beside the log is not what its event names
│       └── BlobMissing it is not there at all
├── Circular            a chain of parents leads back to itself; its ids are named
├── LogReplaced         the log is not the one that this projection was built from
├── HistoryLost         the log's start is gone and no archive covers it
└── HistoryDiverged     our fault: two builds of one history differ
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Final

VALUE_SHOWN_CHARS_MAX: Final = 80


class MnemologError(Exception):
    """Anything that mnemolog raises on purpose."""

    code: ClassVar[str] = "internal"
    hint: str = "Report this with the log around it."


class InvalidEvent(MnemologError):
    """A value can't become part of an event."""

    code = "invalid_event"
    hint = "Correct the named field and append again; nothing was appended."

    def __init__(self, field: str, value: Any, limit: str) -> None:
        self.field = field
        self.value = value
        self.limit = limit
        super().__init__(f"{field} = {shown(value)}: {limit}")


class EventTooLarge(InvalidEvent):
    """An event is larger than one may be, once it is encoded."""

    code = "event_too_large"
    hint = "With `blobs` on large texts go beside the log; many values are several events."

    def __init__(self, event_type: str, event_id: str, *, size: int, size_max: int) -> None:
        self.size = size
        self.size_max = size_max
        super().__init__(event_type, event_id, f"{size} bytes encoded; the limit is {size_max}")


class InvalidSetting(MnemologError):
    """A setting or an argument can't be used."""

    code = "invalid_setting"
    hint = "Correct it; `mnemolog config` shows each setting and where it came from."

    def __init__(self, name: str, value: Any, limit: str) -> None:
        self.name = name
        self.value = value
        super().__init__(f"{name} = {shown(value)}: {limit}")


class NeedsRebuild(InvalidSetting):
    """A generation was built by another version of its fold: appending goes on, asking waits."""

    code = "needs_rebuild"
    hint = "`mnemolog rebuild` builds it anew from the log, beside what serves."


class NewerRelease(InvalidSetting):
    """A later release of mnemolog wrote this; older code would not understand it, or spoil it."""

    code = "newer_release"
    hint = "Upgrade mnemolog, or open another folder. Nothing was touched."

    def __init__(self, what: str, reason: str) -> None:
        self.name = what
        self.value = None
        Exception.__init__(self, f"{what} was written by a later release: {reason}")


class NotFound(MnemologError):
    """What was asked for is not known here."""

    code = "not_found"
    hint = "Check the id; what was just appended may need `wait_for(token)`."

    def __init__(self, kind: str, name: str, *, hint: str | None = None) -> None:
        self.kind = kind
        self.name = name
        self.hint = hint or self.hint
        super().__init__(f"no {kind} {shown(name)}")


class ReadOnly(MnemologError):
    """The handle was opened for reading."""

    code = "read_only"
    hint = "Open the Memory without read_only=True to append."

    def __init__(self, verb: str) -> None:
        self.verb = verb
        super().__init__(f"{verb} needs a handle that may write")


class StoreUnavailable(MnemologError):
    """A store could not be reached or written."""

    code = "unavailable"
    hint = "Retry with backoff; nothing was applied."

    def __init__(self, store: str, reason: str, *, hint: str | None = None) -> None:
        self.store = store
        self.reason = reason
        self.hint = hint or self.hint
        super().__init__(f"{store}: {reason}")


class LogUnavailable(StoreUnavailable):
    """The log did not acknowledge in time."""

    code = "log_unavailable"
    hint = (
        "Is the log's address right and the broker up? A retry with the same id adds nothing twice."
    )


class NoRoom(StoreUnavailable):
    """The disk is fuller than its mark: rebuilds and maintenance don't begin, appends go on."""

    code = "no_room"
    hint = "Make room on the disk, or raise MNEMOLOG_DISK_REFUSE_PERCENT; appends go on."


class TimedOut(MnemologError):
    """What was waited for did not come in time; `because` is what was in its way, if known."""

    code = "timed_out"
    hint = "Is a process projecting this folder? `mnemolog status` tells how far it is."

    def __init__(self, what: str, *, waited_seconds: float, because: str | None = None) -> None:
        self.what = what
        self.waited_seconds = waited_seconds
        self.because = because
        reason = "" if because is None else f": {because}"
        super().__init__(f"{what} did not happen within {waited_seconds:g} s{reason}")


class LeaseHeld(MnemologError):
    """Another process keeps this folder's projections."""

    code = "lease_held"
    hint = "Wait for it to end, or use it: append and read go on beside it."

    def __init__(self, path: str, holder: str) -> None:
        self.path = path
        self.holder = holder
        super().__init__(f"{path} is held by {holder}")


class Parked(MnemologError):
    """An event could not be applied, and its key's later events wait behind it."""

    code = "parked"
    hint = "`mnemolog parked list` shows what is parked, with each reason and what to do."

    def __init__(self, projection: str, *, partition: int, offset: int, reason: str) -> None:
        self.projection = projection
        self.partition = partition
        self.offset = offset
        self.reason = reason
        super().__init__(f"{projection} parked {partition}@{offset}: {reason}")


class Damaged(MnemologError):
    """A stored thing does not match its checksum."""

    code = "damaged"
    hint = "`mnemolog rebuild` brings the projection back from the log."

    def __init__(self, what: str, reason: str) -> None:
        self.what = what
        self.reason = reason
        super().__init__(f"{what} is damaged: {reason}")


class LogDamaged(Damaged):
    """A record or a file of the log itself is not what was appended."""

    code = "log_damaged"
    hint = "No projection can bring it back: restore the log from a backup."


class BlobDamaged(Damaged):
    """A blob beside the log is not what its event names; the event has the head of the text."""

    code = "blob_damaged"
    hint = "Restore the blob from a backup, or append its text again: it is the same blob."

    def __init__(self, sha256: str, reason: str) -> None:
        self.sha256 = sha256
        self.place = ""
        super().__init__(f"blob {sha256}", reason)

    def tell_place(self, place: str) -> None:
        """Say in the message which text the blob has: its event and pointer."""
        self.place = place
        self.args = (f"{self}; its head is {place}",)


class BlobMissing(BlobDamaged):
    """A blob that an event names is not in the store."""

    code = "blob_missing"
    hint = (
        "Is `blobs_folder` the one that the event's writer used? `mnemolog config` shows it. "
        "Else restore the blob from a backup."
    )

    def __init__(self, sha256: str, store: str) -> None:
        super().__init__(sha256, f"it is not in {store}")
        self.args = (f"blob {sha256} is missing: {self.reason}",)


class Circular(MnemologError):
    """A chain of parents leads back to itself."""

    code = "circular"
    hint = "Two of the named ids were given to each other as parent; save one without it."

    def __init__(self, what: str, ids: Sequence[str]) -> None:
        self.what = what
        self.ids = tuple(ids)
        super().__init__(f"{what} has no root: {shown(' -> '.join(self.ids))}")


class LogReplaced(MnemologError):
    """The log holds another history than the one that was applied."""

    code = "log_replaced"
    hint = "Was the topic made anew? Rebuild from it on purpose, or point to the right log."

    def __init__(self, topic: str, *, partition: int, offset: int, reason: str) -> None:
        self.topic = topic
        self.partition = partition
        self.offset = offset
        super().__init__(f"{topic} {partition}@{offset}: {reason}")


class HistoryLost(MnemologError):
    """The log starts after the next event to apply."""

    code = "history_lost"
    hint = "Restore the log from an archive or a backup; a rebuild from here would lack events."

    def __init__(self, topic: str, *, partition: int, wanted: int, start: int) -> None:
        self.topic = topic
        self.partition = partition
        self.wanted = wanted
        self.start = start
        super().__init__(f"{topic}: partition {partition} starts at {start}, {wanted} is wanted")


class HistoryDiverged(MnemologError):
    """Two builds of one history have different content."""

    code = "history_diverged"
    hint = "Keep both generations and report the first differing row."


def shown(value: Any) -> str:
    """Return *value* for a message: short, on one line, always encodable."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - too deep, too many digits, or a repr that fails
        text = f"<{type(value).__name__}>"
    safe = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return safe if len(safe) <= VALUE_SHOWN_CHARS_MAX else safe[: VALUE_SHOWN_CHARS_MAX - 1] + "…"
