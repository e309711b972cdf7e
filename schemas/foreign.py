"""Foreign records on their way to another log: what was foreign in one stays foreign in the next.

Where a record stands, and under which tenant, may be all that makes it foreign; put on another log
as it is, it would be applied there. So it gets a header that says why it is foreign.
"""

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.ids import derived_id
from mnemolog.schemas.records import Headers, LogRecord, NewRecord
from mnemolog.schemas.times import written
from mnemolog.schemas.values import json_bytes, parse_json

FOREIGN_HEADER: Final = "mnemolog-foreign"
REASON_CHARS_MAX: Final = 400  # of a header; a reason may quote what it is about
_UNTOLD: Final = "it was foreign where it came from"


@dataclass(frozen=True, slots=True)
class ForeignMark:
    """What the header says: which record it is, on whatever log, and why it is foreign.

    `recorded` is when the first log took it, as a text.
    """

    id: str
    reason: str
    recorded: str | None = None


def mark_in(headers: Mapping[str, bytes | None]) -> ForeignMark | None:
    """Return what *headers* say of a record that came from another log, or None if it did not."""
    if FOREIGN_HEADER not in headers:
        return None
    told: Any = None
    with suppress(InvalidEvent):  # whoever wrote it, it says that the record is foreign
        told = parse_json(headers[FOREIGN_HEADER] or b"")
    found = told if isinstance(told, dict) else {}
    recorded = found.get("recorded")
    return ForeignMark(
        id=str(found.get("id", "")),
        reason=str(found.get("reason", _UNTOLD)),
        recorded=None if recorded is None else str(recorded),
    )


def mark_of(record: LogRecord, reason: str, *, topic: str) -> ForeignMark:
    """Return what there is to say of a foreign *record* of *topic*, on this log and the next.

    Its id is of where it stood at first, and of its bytes: alike records at two places are two.
    """
    mark = mark_in(dict(record.headers))
    if mark is not None and mark.id:
        return mark
    digest = _digest_of(record.key, record.value, record.headers)
    name = derived_id("foreign", topic, str(record.position), digest)
    return ForeignMark(name, reason, written(record.recorded_at))


def unmarked(headers: Headers) -> Headers:
    """Return *headers* as they were on the first log."""
    return tuple(header for header in headers if header[0] != FOREIGN_HEADER)


def foreign_record(
    key: bytes | None, value: bytes | None, headers: Headers, mark: ForeignMark
) -> NewRecord:
    """Return the record that puts a foreign one on another log; the same one is put there once."""
    cut = mark.reason[:REASON_CHARS_MAX]
    told = json_bytes({"id": mark.id, "reason": cut, "recorded": mark.recorded})
    return NewRecord(
        key=key,
        value=value,
        headers=(*unmarked(headers), (FOREIGN_HEADER, told)),
        identity=hashlib.sha256(f"foreign {mark.id}".encode()).hexdigest()[:32],
        content=_digest_of(key, value, headers),
    )


def _digest_of(key: bytes | None, value: bytes | None, headers: Headers) -> str:
    digest = hashlib.sha256()
    named = [part for name, content in unmarked(headers) for part in (name.encode(), content)]
    for part in (key, value, *named):
        digest.update(b"-" if part is None else b"%d:%b" % (len(part), part))
    return digest.hexdigest()[:32]
