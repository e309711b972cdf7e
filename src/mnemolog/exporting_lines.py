"""An export's own lines: CloudEvents of types that no log ever holds.

They say where an export begins and ends, and hold what is no event: foreign records, and the texts
that stand beside the log. What `mnemolog export` writes, every later importer reads; change it only
by another `EXPORT_FORMAT`.
"""

import base64
import json
from collections.abc import Mapping
from typing import Any, Final

from mnemolog.schemas.blobs import digest_of
from mnemolog.schemas.cloudevents import EXPORT_PREFIX, RECORDED_TIME
from mnemolog.schemas.decoded import Foreign
from mnemolog.schemas.envelope import SPEC_VERSION
from mnemolog.schemas.errors import shown
from mnemolog.schemas.foreign import ForeignMark, mark_of, unmarked
from mnemolog.schemas.ids import derived_id
from mnemolog.schemas.records import Headers

EXPORT_FORMAT: Final = 1
BEGUN: Final = EXPORT_PREFIX + "begun"
ENDED: Final = EXPORT_PREFIX + "ended"
FOREIGN: Final = EXPORT_PREFIX + "foreign"
BLOB: Final = EXPORT_PREFIX + "blob"

Document = dict[str, Any]


class Unreadable(Exception):
    """A line of an export is not what its type says; the text says why."""


def begun(topic: str, *, partitions: int) -> Document:
    """Return the line that begins an export of *topic*."""
    data = {"format": EXPORT_FORMAT, "topic": topic, "partitions": partitions}
    return _line(BEGUN, topic, BEGUN) | {"data": data}


def ended(topic: str, *, lines: int) -> Document:
    """Return the line that ends an export of so many *lines* between the first and this one."""
    return _line(ENDED, topic, ENDED, str(lines)) | {"data": {"lines": lines}}


def foreign(item: Foreign, *, topic: str) -> Document:
    """Return the line of a foreign record of *topic*: its bytes, and why it is foreign."""
    record = item.record
    mark = mark_of(record, item.reason, topic=topic)
    told: Document = {
        **_line(FOREIGN, topic),
        "id": mark.id,
        RECORDED_TIME: mark.recorded,
        "recordheaders": json.dumps([[n, _packed(v)] for n, v in unmarked(record.headers)]),
        "recordkey": _packed(record.key),
        "reason": mark.reason,
        "data_base64": _packed(record.value),
    }
    return {name: value for name, value in told.items() if value is not None}


def foreign_in(
    document: Mapping[str, Any],
) -> tuple[bytes | None, bytes | None, Headers, ForeignMark]:
    """Return key, value, headers and mark of what `foreign` wrote. Raises Unreadable."""
    pairs = _pairs(document.get("recordheaders"))
    headers = tuple((name, _unpacked(value, "a header")) for name, value in pairs)
    told = [document.get(name) for name in ("id", "reason", RECORDED_TIME)]
    if not all(isinstance(text, str) and text for text in told):
        raise Unreadable(f"a foreign record has an id, a reason and a {RECORDED_TIME}")
    key, value = document.get("recordkey"), document.get("data_base64")
    mark = ForeignMark(*map(str, told))
    return _unpacked(key, "recordkey"), _unpacked(value, "data_base64"), headers, mark


def blob(content: bytes, *, sha256: str, topic: str) -> Document:
    """Return the line of a blob, which goes before the first event that names it."""
    line = _line(BLOB, topic) | {"id": sha256}
    return line | {"datacontenttype": "application/octet-stream", "data_base64": _packed(content)}


def blob_in(document: Mapping[str, Any]) -> bytes:
    """Return what `blob` wrote, checked against its name. Raises Unreadable."""
    content = _unpacked(document.get("data_base64", ""), "data_base64") or b""
    if digest_of(content) != document.get("id"):
        raise Unreadable(f"the blob {shown(document.get('id'))} is not what its name says")
    return content


def _line(event_type: str, topic: str, *named: str) -> Document:
    """Return what every line says; *named* tells it from the others of its type."""
    return {
        "specversion": SPEC_VERSION,
        "type": event_type,
        "source": f"/mnemolog/log/{topic}",
        "id": derived_id("export", topic, *named),
    }


def _pairs(told: object) -> list[tuple[str, object]]:
    """Return names and packed values of headers."""
    try:
        pairs = json.loads(told) if isinstance(told, str) else None
    except ValueError:
        pairs = None
    if not isinstance(pairs, list) or not all(map(_is_pair, pairs)):
        raise Unreadable(f"recordheaders = {shown(told)}: JSON of pairs of name and base64")
    return [(name, value) for name, value in pairs]


def _is_pair(pair: object) -> bool:
    return isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str)  # noqa: PLR2004


def _packed(content: bytes | None) -> str | None:
    return None if content is None else base64.b64encode(content).decode()


def _unpacked(text: object, what: str) -> bytes | None:
    if text is None:
        return None
    try:
        return base64.b64decode(str(text), validate=True)
    except ValueError as error:
        raise Unreadable(f"{what} is not base64") from error
