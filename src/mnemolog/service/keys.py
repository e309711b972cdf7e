"""API keys: each opens one tenant to its holder, for the rights that it has.

The file holds a key's SHA-256, never the key: a key has 256 bits of chance, so no salt or slow
hash is needed. It is written whole or not at all, for its owner's eyes only.
"""

import hashlib
import json
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from mnemolog.http_wire import RIGHTS, Right
from mnemolog.projections.lease import Lease
from mnemolog.schemas.errors import InvalidEvent, InvalidSetting, NotFound, StoreUnavailable
from mnemolog.schemas.ids import check_name, check_tenant

FILE: Final = "service-keys.json"
KEYS_MAX: Final = 1_000
FILE_BYTES_MAX: Final = 4_194_304
KEY_PREFIX: Final = "mnk_"
VERSION: Final = 1
_SECRET_BYTES: Final = 32
_ID_BYTES: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """What is known of a key: all but the key itself."""

    id: str
    name: str
    tenant: str
    rights: Sequence[Right]
    sha256: str
    added_at: str


class Keys:
    """The keys in a file, read again when the file changes. For one thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp: tuple[int, ...] | None = None
        self._by_digest: Mapping[str, ApiKey] = {}

    def find(self, key: str) -> ApiKey | None:
        """Return what is known of *key*, or None. A file that is gone knows no key.

        Raises InvalidSetting for a file that can't be read as one of ours.
        """
        self._refresh()
        return self._by_digest.get(digest_of(key))

    def _refresh(self) -> None:
        try:
            found = self._path.stat()
        except OSError:
            self._stamp, self._by_digest = None, {}
            return
        stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
        if stamp != self._stamp:
            self._by_digest = {one.sha256: one for one in KeyFile(self._path).read()}
            self._stamp = stamp


class KeyFile:
    """The file of keys, for who manages them. Any number of processes may."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> list[ApiKey]:
        """Return the keys, oldest first; none where there is no file. Raises InvalidSetting."""
        try:
            if self._path.stat().st_size > FILE_BYTES_MAX:
                raise InvalidSetting("keys", str(self._path), f"at most {FILE_BYTES_MAX} bytes")
            told = json.loads(self._path.read_bytes())
            return [_key(one) for one in told["keys"]]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StoreUnavailable(str(self._path), str(error)) from error
        except (ValueError, TypeError, KeyError) as error:
            limit = "a file of `mnemolog serve keys`"
            raise InvalidSetting("keys", str(self._path), limit) from error

    def add(
        self, *, name: str, tenant: str, rights: Iterable[str], now: Callable[[], datetime]
    ) -> tuple[ApiKey, str]:
        """Add a key and return what is known of it, and the key: nobody can tell it later."""
        secret = KEY_PREFIX + secrets.token_urlsafe(_SECRET_BYTES)
        added = ApiKey(
            id=secrets.token_hex(_ID_BYTES),
            name=_checked(name, check_name, "name"),
            tenant=_checked(tenant, check_tenant, "tenant"),
            rights=_rights(rights),
            sha256=digest_of(secret),
            added_at=now().isoformat(timespec="seconds"),
        )
        with self._writing() as keys:
            if len(keys) >= KEYS_MAX:
                raise InvalidSetting("keys", len(keys), f"at most {KEYS_MAX} keys")
            keys.append(added)
        return added, secret

    def remove(self, key_id: str) -> ApiKey:
        """Remove the key of this id: from now on it opens nothing. Raises NotFound."""
        with self._writing() as keys:
            removed = next((one for one in keys if one.id == key_id), None)
            if removed is None:
                raise NotFound("key", key_id, hint="`mnemolog serve keys list` shows the ids.")
            keys.remove(removed)
        return removed

    @contextmanager
    def _writing(self) -> Iterator[list[ApiKey]]:
        """Give the keys to change; what they are at the block's end is written.

        One process at a time, so that none undoes what another does.
        """
        lease = Lease.take(self._path.with_name(self._path.name + ".lock"))
        try:
            keys = self.read()
            yield keys
            told = {"version": VERSION, "keys": [asdict(one) for one in keys]}
            _write(self._path, json.dumps(told, indent=2, ensure_ascii=False).encode())
        finally:
            lease.release()


def digest_of(key: str) -> str:
    """Return the SHA-256 that stands for *key* in the file."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _key(told: Mapping[str, Any]) -> ApiKey:
    given = {name: str(told[name]) for name in ("id", "name", "tenant", "sha256", "added_at")}
    return ApiKey(**given, rights=_rights(told["rights"]))


def _rights(given: Iterable[str]) -> tuple[Right, ...]:
    asked = list(given)
    for one in asked:
        if one not in RIGHTS:
            raise InvalidSetting("right", one, ", ".join(RIGHTS))
    if not asked:
        raise InvalidSetting("right", asked, f"at least one of {', '.join(RIGHTS)}")
    return tuple(right for right in RIGHTS if right in asked)


def _checked(value: str, check: Callable[..., str], name: str) -> str:
    try:
        return check(value, field=name)
    except InvalidEvent as error:
        raise InvalidSetting(name, value, error.limit) from error


def _write(path: Path, content: bytes) -> None:
    draft = path.with_name(f"{path.name}.{os.getpid()}.draft")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        raise StoreUnavailable(str(path), str(error)) from error
