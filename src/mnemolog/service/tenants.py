"""The memories that a service has open: one a tenant, opened when it is first asked for."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from mnemolog.http_errors import Busy
from mnemolog.memory import Memory


@dataclass(slots=True)
class _Open:
    opening: threading.Lock = field(default_factory=threading.Lock)
    memory: Memory | None = None
    users: int = 0


class Tenants:
    """Opens at most *open_max* memories with *opens*. Any thread may use it.

    When one more is wanted, the one that nobody has used for the longest time is closed.
    """

    def __init__(self, opens: Callable[[str], Memory], *, open_max: int) -> None:
        self._opens = opens
        self._open_max = open_max
        self._lock = threading.Lock()
        self._known: dict[str, _Open] = {}  # the one that was used last stands last
        self._closed = False

    @contextmanager
    def using(self, tenant: str) -> Iterator[Memory]:
        """Give the memory of *tenant*, which stays open while the block runs.

        Raises Busy where all that may be open are in use, or what opening a `Memory` raises.
        """
        one, left = self._entered(tenant)
        try:
            if left is not None:
                left.close()
            with one.opening:
                if one.memory is None:
                    one.memory = self._opens(tenant)
            yield one.memory
        finally:
            with self._lock:
                one.users -= 1

    @contextmanager
    def if_open(self, tenant: str) -> Iterator[Memory | None]:
        """Give the memory of *tenant* if it is open; that it is looked at is no use of it."""
        with self._lock:
            one = self._known.get(tenant)
            if one is not None:
                one.users += 1
        try:
            yield None if one is None else one.memory
        finally:
            if one is not None:
                with self._lock:
                    one.users -= 1

    def opened(self) -> list[str]:
        """Return the tenants that are open now."""
        with self._lock:
            return [name for name, one in self._known.items() if one.memory is not None]

    def close(self) -> None:
        """Close all of them. Harmless twice."""
        with self._lock:
            self._closed = True
            known, self._known = self._known, {}
        for one in known.values():
            with one.opening:
                if one.memory is not None:
                    one.memory.close()

    def _entered(self, tenant: str) -> tuple[_Open, Memory | None]:
        """Return the tenant's place, taken, and a memory that has to be closed for it."""
        with self._lock:
            if self._closed:
                raise Busy("service", "it is being shut down")
            one, left = self._known.pop(tenant, None), None
            if one is None:
                left = self._room()
                one = _Open()
            self._known[tenant] = one
            one.users += 1
        return one, left

    def _room(self) -> Memory | None:
        """Make room for one more; return what has to be closed for it."""
        if len(self._known) < self._open_max:
            return None
        idle = next((name for name, one in self._known.items() if not one.users), None)
        if idle is None:
            raise Busy("service", f"{self._open_max} tenants are in use")
        return self._known.pop(idle).memory
