"""What others put on a memory's log: any bytes under any key, and events of ours that were changed.

token = put(mem, b"not json")
token, identity = put_changed(mem, {"text": "x"}, lambda document: document.pop("source"))
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from itertools import count
from typing import Any, Final

from mnemolog.memory import Memory
from mnemolog.schemas.envelope import Envelope
from mnemolog.schemas.events import Event
from mnemolog.schemas.events.experience import ObservationRecorded
from mnemolog.schemas.positions import Token
from mnemolog.schemas.records import NewRecord
from mnemolog.schemas.values import parse_json

HEADERS: Final = (("content-type", b"application/cloudevents+json"),)
WHEN: Final = datetime(2030, 1, 2, tzinfo=UTC)
_numbers = count()


def put(
    mem: Memory, value: bytes | None, *, key: bytes | None = b"ops-1", headers: Any = HEADERS
) -> Token:
    """Append *value* as it is and return the token that covers it."""
    digits = hashlib.sha256(f"raw {next(_numbers)}".encode()).hexdigest()[:32]
    record = NewRecord(key, value, headers, digits, digits)  # type: ignore[arg-type]
    return Token.of(mem.engine.log.append([record]))


def put_changed(
    mem: Memory,
    fields: Mapping[str, Any],
    change: Callable[[dict[str, Any]], object],
    *,
    model: type[Event] = ObservationRecorded,
    agent: str = "ops-1",
    event_id: str | None = None,
) -> tuple[Token, str]:
    """Append an event whose document *change* has changed; return its token and identity."""
    name = event_id or f"changed-{next(_numbers)}"
    around = Envelope(id=name, source="/tests", occurred_at=WHEN, key=agent, agent=agent)
    new = mem.engine.codec.encode(model.model_validate(fields), around)
    document = parse_json(new.value)
    change(document)
    value = json.dumps(document).encode()  # not ours: NaN and lone surrogates may stand in it
    return put(mem, value, key=new.key, headers=new.headers), new.identity
