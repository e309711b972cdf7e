"""The port of blobs: texts too large for an event, beside the log, each under its SHA-256.

A blob is put before the event that names it is appended, so that a crash in between leaves a blob
that no event names, never the reverse. A store of blobs is one tenant's; nobody changes a blob.
"""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from mnemolog.schemas.blobs import digest_of
from mnemolog.schemas.errors import BlobMissing
from mnemolog.streams.clock import system_clock


@dataclass(frozen=True, slots=True)
class StoredBlob:
    """A blob that a store has; `put_at` is when it was last put, by the store's clock."""

    sha256: str
    bytes: int
    put_at: datetime


@dataclass(frozen=True, slots=True)
class Leftover:
    """What a crash left of a put: nobody's, and no blob."""

    name: str
    bytes: int
    written_at: datetime


class BlobStore(Protocol):
    """Blobs by their SHA-256. Any thread, and any number of processes, may use it."""

    def put(self, content: bytes) -> str:
        """Keep *content* and return its SHA-256 as 64 hexadecimal digits, once it is durable.

        What is there is kept, and counts as put again; a damaged one is replaced. Raises
        StoreUnavailable; then nothing, or a leftover, is there.
        """
        ...

    def get(self, sha256: str) -> bytes:
        """Return a blob, checked against its name.

        Raises BlobMissing, BlobDamaged, or StoreUnavailable.
        """
        ...

    def stored(self) -> Iterator[StoredBlob]:
        """Yield what is there, in any order; content is not looked at."""
        ...

    def discard(self, sha256: str, *, put_before: datetime) -> bool:
        """Take a blob away if it was last put *put_before*; say whether it was taken.

        Who puts it at the same time has it afterwards.
        """
        ...

    def leftovers(self) -> Iterator[Leftover]:
        """Yield what crashes left; what is being put at this moment looks the same."""
        ...

    def sweep(self, *, written_before: datetime) -> int:
        """Take away older leftovers; return how many. A blob among them is put back."""
        ...


class InMemoryBlobs:
    """Blobs that last as long as the process, for tests, trials and `:memory:`."""

    def __init__(self, *, now: Callable[[], datetime] = system_clock) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._blobs: dict[str, tuple[bytes, datetime]] = {}

    def put(self, content: bytes) -> str:
        """Keep *content* and return its SHA-256."""
        sha256 = digest_of(content)
        with self._lock:
            self._blobs[sha256] = (content, self._now())
        return sha256

    def get(self, sha256: str) -> bytes:
        """Return a blob. Raises BlobMissing."""
        with self._lock:
            if sha256 not in self._blobs:
                raise BlobMissing(sha256, "this process")
            return self._blobs[sha256][0]

    def stored(self) -> Iterator[StoredBlob]:
        """Yield what is there."""
        with self._lock:
            blobs = list(self._blobs.items())
        yield from (StoredBlob(name, len(blob), put_at) for name, (blob, put_at) in blobs)

    def discard(self, sha256: str, *, put_before: datetime) -> bool:
        """Take a blob away if it was last put *put_before*."""
        with self._lock:
            if sha256 not in self._blobs or self._blobs[sha256][1] >= put_before:
                return False
            del self._blobs[sha256]
            return True

    def leftovers(self) -> Iterator[Leftover]:
        """Yield nothing: what is in memory a crash takes whole."""
        yield from ()

    def sweep(self, *, written_before: datetime) -> int:
        """Take nothing away."""
        del written_before
        return 0
