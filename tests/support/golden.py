"""Golden events: one file for each type and version that was ever published, decoded for ever.

`<type>.<version>.json` is the value as it was written; it never changes. Beside it,
`<type>.<version>.expected.json` is what the codec makes of it, which a new version changes. Those
that are missing are written by `cd tests && python -m support.golden`.
"""

import json
from pathlib import Path
from typing import Any, Final

from mnemolog.schemas.decoded import Ours
from mnemolog.schemas.envelope import Envelope
from mnemolog.schemas.events import GOVERNANCE, Event
from mnemolog.schemas.partitioning import governance_key
from mnemolog.schemas.times import written
from support.events import ALL_FILLED, FULL_ENVELOPE, codec, envelope, record

FOLDER: Final = Path(__file__).parents[1] / "golden" / "events"
EXPECTED: Final = ".expected.json"


def name_of(event: Event | type[Event]) -> str:
    """Return the name that an event's golden files begin with."""
    return f"{event.event_type}.{event.event_version}"


def values() -> dict[str, bytes]:
    """Return the golden values, by the name that their files begin with."""
    paths = [path for path in FOLDER.glob("*.json") if not path.name.endswith(EXPECTED)]
    return {
        path.name.removesuffix(".json"): path.read_bytes().rstrip(b"\n") for path in sorted(paths)
    }


def expected(name: str) -> dict[str, Any]:
    """Return what the codec is to make of the golden value *name*."""
    found: dict[str, Any] = json.loads((FOLDER / (name + EXPECTED)).read_bytes())
    return found


def decoded(value: bytes) -> dict[str, Any]:
    """Return all that the codec makes of *value*, as JSON."""
    key = json.loads(value)["partitionkey"].encode()
    found = codec().decode(record(value, key=key))
    assert isinstance(found, Ours), found
    said = {name: getattr(found.envelope, name) for name in Envelope.__slots__}
    if said["dataref"] is None:  # younger than these files, and absent from nearly every event
        del said["dataref"]
    return {
        "type": found.event_type,
        "version": type(found.recorded.event).event_version,
        "event": found.recorded.event.model_dump(mode="json"),
        "envelope": {**said, "occurred_at": written(found.envelope.occurred_at)},
        "identity": found.identity,
        "content": found.content,
    }


def value_of(event: Event) -> bytes:
    """Return *event* in a full envelope, as it is written today."""
    if isinstance(event, GOVERNANCE):
        key = governance_key(0, partitions=1)
        return codec().encode(event, envelope(agent=None, key=key)).value
    return codec().encode(event, FULL_ENVELOPE).value


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for event in ALL_FILLED:
        path = FOLDER / f"{name_of(event)}.json"
        if not path.exists():
            path.write_bytes(value_of(event) + b"\n")
            made = json.dumps(decoded(value_of(event)), indent=2, ensure_ascii=False) + "\n"
            (FOLDER / (name_of(event) + EXPECTED)).write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
