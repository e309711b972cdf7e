"""Names and ids: which are allowed, how fresh and derived ones are made, how they become paths.

Only `fresh_id` asks the clock and chance; it is called at the edge, never in a fold.
"""

import hashlib
import os
import re
import time
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.limits import ID_BYTES_MAX, NAME_BYTES_MAX, TENANT_BYTES_MAX

RESERVED_PREFIX: Final = "mnemolog:"  # keys of ours; no agent may be called so
NO_AGENT_KEY: Final = "mnemolog:no-agent"  # orders the events that no agent made
NAMESPACE: Final = UUID("6f6d656d-676f-6c6f-8e00-6d6e656d6f00")  # of every derived id, for ever

_NAMESPACE_BYTES: Final = NAMESPACE.bytes
_UUID7_MARKS: Final = 0x7 << 76 | 0b10 << 62  # version and variant
_UUID7_CHANCE: Final = (1 << 80) - 1 ^ (0xF << 76 | 0b11 << 62)  # the bits that are neither
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_PLAIN = re.compile(r"[a-z0-9-]")
_ESCAPE = re.compile(r"_([0-9a-f]{2})")
_IDENTITY = re.compile(r"[0-9a-f]{32}")
_PLAIN_NAME = re.compile(rf"[A-Za-z0-9_-][A-Za-z0-9_.@-]{{0,{NAME_BYTES_MAX - 1}}}")
_ENCODED_CHARS_MAX: Final = 120


def fresh_id() -> str:
    """Return a new UUIDv7: unique, and roughly ordered by the time of its making (RFC 9562)."""
    moment = (time.time_ns() // 1_000_000 & (1 << 48) - 1) << 80
    chance = int.from_bytes(os.urandom(10)) & _UUID7_CHANCE
    return _dashed(f"{moment | _UUID7_MARKS | chance:032x}")


def derived_id(*parts: str) -> str:
    """Return the UUIDv5 of *parts*: the same parts give the same id, other parts another.

    >>> derived_id("a", "bc") == derived_id("ab", "c")
    False
    """
    return _dashed(_uuid5_digits(joined(parts)))


def _dashed(digits: str) -> str:
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def _uuid5_digits(name: str) -> str:
    """Return the 32 digits of `uuid.uuid5(NAMESPACE, name)` without making the object.

    A fold derives an id for every memory; this takes a quarter of the time.
    """
    digest = hashlib.sha1(_NAMESPACE_BYTES + name.encode(), usedforsecurity=False).hexdigest()
    variant = "89ab"[int(digest[16], 16) & 3]
    return f"{digest[:12]}5{digest[13:16]}{variant}{digest[17:32]}"


def identity_of(*, key: str, source: str, event_id: str) -> str:
    """Return 32 hexadecimal digits that stand for an event's identity (key, source, id)."""
    whole = f"{_origin(key, source)}{_bytes_of(event_id)}:{event_id}"
    return hashlib.sha256(whole.encode()).hexdigest()[:32]


@lru_cache(maxsize=512)
def _origin(key: str, source: str) -> str:
    """Return what `joined` makes of *key* and *source*, which come again and again."""
    return joined((key, source))


def memory_id(identity: str, ordinal: int) -> str:
    """Return the id of the *ordinal*-th memory that the event of *identity* forms."""
    return "mem_" + _uuid5_digits(joined(("memory", identity, str(ordinal))))


def joined(parts: Iterable[str]) -> str:
    """Return one text for *parts*, each behind its length, so that no two lists collide."""
    return "".join([f"{_bytes_of(part)}:{part}" for part in parts])


def _bytes_of(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def check_id(value: Any, *, field: str) -> str:
    """Return *value* if it may be an event's or a memory's id: 1 to 256 bytes, no controls."""
    return _bounded(value, field=field, what="an id", bytes_max=ID_BYTES_MAX)


def check_key(value: Any, *, field: str) -> str:
    """Return *value* if an event may be ordered by it: an agent's name, or a key of ours."""
    return _bounded(value, field=field, what="a key", bytes_max=NAME_BYTES_MAX)


def _bounded(value: Any, *, field: str, what: str, bytes_max: int) -> str:
    if not isinstance(value, str):
        raise InvalidEvent(field, value, f"{what} is a text")
    if value.isascii() and value.isprintable() and 1 <= len(value) <= bytes_max:
        return value  # nearly every one
    size = len(value.encode("utf-8", "surrogatepass"))
    if not 1 <= size <= bytes_max:
        raise InvalidEvent(field, value, f"{size} bytes; {what} has 1 to {bytes_max}")
    if _CONTROL.search(value):
        raise InvalidEvent(field, value, f"{what} has no control characters or lone surrogates")
    return value


def check_identity(value: Any, *, field: str) -> str:
    """Return *value* if it may be an event's identity: 32 digits, as of `identity_of`."""
    if isinstance(value, str) and _IDENTITY.fullmatch(value):
        return value
    limit = "an event's identity, not its id: 32 hexadecimal digits in lower case"
    raise InvalidEvent(field, value, limit)


def check_name(value: Any, *, field: str) -> str:
    """Return *value* if it may name an agent, user, project, session, task, phase or tag.

    1 to 1,024 bytes without controls, neither blank nor a path: no part "." or "..", no root, no
    drive. Names of ours, which begin with "mnemolog:", are refused.
    """
    if isinstance(value, str) and _PLAIN_NAME.fullmatch(value):
        return value  # nearly every name
    name = _bounded(value, field=field, what="a name", bytes_max=NAME_BYTES_MAX)
    if not name.strip():
        raise InvalidEvent(field, value, "a name is not blank")
    parts = re.split(r"[\\/]", name)
    if parts[0] == "" or {".", ".."} & set(parts) or _DRIVE.match(name):
        raise InvalidEvent(field, value, "a name is no path: no '..', no root, no drive")
    if name.startswith(RESERVED_PREFIX):
        raise InvalidEvent(field, value, f"names that begin with {RESERVED_PREFIX!r} are ours")
    return name


def check_tenant(value: Any, *, field: str) -> str:
    """Return *value* if it may name a tenant: a name of at most 256 bytes."""
    return _bounded(
        check_name(value, field=field), field=field, what="a tenant", bytes_max=TENANT_BYTES_MAX
    )


def encoded_name(name: str) -> str:
    """Return *name* as a folder's or topic's name; different names never meet, on any disk.

    Lower-case letters, digits and "-" stay; every other byte becomes "_xx". What would be too
    long becomes "__" and its SHA-256.

    >>> encoded_name("Bob"), encoded_name("北京")
    ('_42ob', '_e5_8c_97_e4_ba_ac')
    """
    encoded = "".join(c if _PLAIN.match(c) else _escaped(c) for c in name)
    if len(encoded) <= _ENCODED_CHARS_MAX:
        return encoded
    return "__" + hashlib.sha256(name.encode()).hexdigest()


def _escaped(character: str) -> str:
    return "".join(f"_{byte:02x}" for byte in character.encode())


def decoded_name(encoded: str) -> str | None:
    """Return the name that `encoded_name` makes *encoded* of; None where only a digest is left.

    None, too, for what it never makes.

    >>> decoded_name("_42ob"), decoded_name("__00ff"), decoded_name("Bob")
    ('Bob', None, None)
    """
    try:
        parts = _ESCAPE.split(encoded)
        name = b"".join(
            bytes.fromhex(part) if index % 2 else part.encode() for index, part in enumerate(parts)
        ).decode()
    except UnicodeDecodeError:
        return None
    return name if encoded_name(name) == encoded else None
