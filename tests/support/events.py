"""Events for tests of the codec: one of each type with every field filled, and any that may be."""

from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from mnemolog.schemas.codec import Codec
from mnemolog.schemas.envelope import Envelope
from mnemolog.schemas.events import ALL_EVENTS, Event
from mnemolog.schemas.limits import TIME_MAX, TIME_MIN
from mnemolog.schemas.partitioning import partition_of
from mnemolog.schemas.records import LogRecord, NewRecord
from mnemolog.schemas.values import json_bytes, parse_json
from support.filled import filled

WHEN = datetime(2030, 1, 2, 3, 4, 5, 678, tzinfo=UTC)
RECORDED = datetime(2030, 1, 2, 3, 4, 6, tzinfo=UTC)
TENANT = "tests"

ALL_FILLED: tuple[Event, ...] = tuple(filled(model) for model in ALL_EVENTS)


def envelope(**names: Any) -> Envelope:
    """Return an envelope of agent ops-1, but for *names*."""
    needed: dict[str, Any] = {"id": "e1", "source": "/tests", "occurred_at": WHEN}
    agent = names.get("agent", "ops-1")
    return Envelope(**{**needed, "key": agent, "agent": agent, **names})


FULL_ENVELOPE = envelope(
    user="u",
    project="p",
    session="s",
    task="t",
    phase="testing",
    subject="memory/m1",
    cause="e0",
    correlation="c0",
    assumed_utc=True,
    repaired='{"/text":{"3":"dce9"}}',
    extensions={"traceparent": "00-abc", "sampled": True, "rank": 7},
)


def codec(**options: Any) -> Codec:
    """Return a codec of the tests' log, of one partition unless *options* say otherwise."""
    return Codec(**{"tenant": TENANT, "partitions": 1, **options})


def record(
    value: bytes | None, *, key: bytes | None = b"ops-1", partitions: int = 1, headers=()
) -> LogRecord:
    """Return what a log gives for *value* under *key*, in its right partition."""
    partition = partition_of(key, partitions=partitions) if key else 0
    return LogRecord(partition, 0, RECORDED, key, value, tuple(headers))


def logged(new: NewRecord, *, partitions: int = 1) -> LogRecord:
    """Return *new* as a log of *partitions* gives it back."""
    return record(new.value, key=new.key, partitions=partitions, headers=new.headers)


def document(event: Event, **attributes: Any) -> dict[str, Any]:
    """Return the CloudEvent of *event* as JSON, changed by *attributes*; None leaves one out."""
    encoded = codec().encode(event, envelope())
    changed = {**parse_json(encoded.value), **attributes}
    return {name: value for name, value in changed.items() if value is not None}


def published(event: Event, **attributes: Any) -> LogRecord:
    """Return the record of such a document, as anybody may publish it."""
    return record(
        json_bytes(document(event, **attributes)),
        headers=[("content-type", b"application/cloudevents+json")],
    )


_name = st.from_regex(r"[a-z][a-z0-9 .-]{0,20}[a-z]", fullmatch=True)
_maybe = st.none() | _name

envelopes = st.builds(
    envelope,
    id=st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=60),
    agent=_name,
    occurred_at=st.datetimes(
        TIME_MIN.replace(tzinfo=None),
        TIME_MAX.replace(tzinfo=None, year=2199),
        timezones=st.just(UTC),
    ),
    user=_maybe,
    project=_maybe,
    session=_maybe,
    task=_maybe,
    phase=_maybe,
    cause=_maybe,
    correlation=_maybe,
    assumed_utc=st.booleans(),
)
