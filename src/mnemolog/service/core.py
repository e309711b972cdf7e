"""What every endpoint works with: who asks, the tenant's memory, and threads for what blocks."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from mnemolog.http_errors import Refused, UnknownKey
from mnemolog.http_wire import RIGHTS, TOKEN_HEADER, Right
from mnemolog.memory import Memory
from mnemolog.schemas.errors import InvalidSetting, MnemologError, StoreUnavailable
from mnemolog.schemas.positions import Token
from mnemolog.service.keys import Keys
from mnemolog.service.lanes import Lane
from mnemolog.service.limits import Limits
from mnemolog.service.tenants import Tenants
from mnemolog.tenant_watch import Subject
from mnemolog.waiting import ROWS
from mnemolog.watch_settings import Watching
from mnemolog.watching import Told, Watch

R = TypeVar("R")
Opens = Callable[[str], Memory]
TOKEN_CHARACTERS_MAX: Final = 32_768
_SCHEME: Final = "bearer"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: a tenant, and what it may do. No question can name another tenant."""

    tenant: str
    rights: tuple[Right, ...]


class Service:
    """One service: its tenants, its keys, its threads. For one event loop."""

    def __init__(
        self,
        opens: Opens,
        *,
        tenant: str,
        keys: Path | None,
        limits: Limits | None = None,
        watching: Watching | None = None,
    ) -> None:
        """Open memories with *opens*. Without *keys* everyone is *tenant*, with every right."""
        self.limits = limits or Limits()
        self.tenants = Tenants(opens, open_max=self.limits.tenants)
        self.watching = watching or Watching()
        self.watch = Watch(_Subjects(self.tenants), self.watching)
        self._tenant = tenant
        self._keys = None if keys is None else Keys(keys)
        self._appends = self._lane("append", self.limits.appends_at_once)
        self._asks = self._lane("answer", self.limits.asks_at_once)
        self._waits = self._lane("wait", self.limits.waits_at_once)

    @property
    def has_keys(self) -> bool:
        """Whether one needs a key here."""
        return self._keys is not None

    def caller(self, authorization: str | None, *, right: Right) -> Caller:
        """Return who asks, by the Authorization header. Raises UnknownKey or Refused."""
        if self._keys is None:
            return Caller(self._tenant, RIGHTS)
        scheme, _, given = (authorization or "").partition(" ")
        key = self._keys.find(given.strip()) if scheme.lower() == _SCHEME else None
        if key is None:
            raise UnknownKey("no such key" if authorization else "no key was sent")
        if right not in key.rights:
            raise Refused(f"this key may {', '.join(key.rights)}, and not {right}")
        return Caller(key.tenant, tuple(key.rights))

    async def append(
        self, caller: Caller, call: Callable[[Memory], R], *, after: str | None = None
    ) -> R:
        """Return what *call* says of the memory of *caller*; it appends. *after* as in `ask`."""
        await self._know(caller, after)
        return await self._appends.run(lambda: self._called(caller, call))

    async def ask(
        self, caller: Caller, call: Callable[[Memory], R], *, after: str | None = None
    ) -> R:
        """Return what *call* says of the memory of *caller* once it knows what *after* covers."""
        await self._know(caller, after)
        return await self._asks.run(lambda: self._called(caller, call))

    async def wait(
        self,
        caller: Caller,
        token: Token,
        *,
        timeout_seconds: float,
        projections: tuple[str, ...] = ROWS,
        vectors: bool = False,
    ) -> None:
        """Return once the read models of *caller* hold what *token* covers; see `waiting`."""
        seconds = min(timeout_seconds, self.limits.wait_seconds)

        def wait(memory: Memory) -> None:
            memory.wait_for(
                token, timeout_seconds=seconds, projections=projections, vectors=vectors
            )

        await self._waits.run(lambda: self._called(caller, wait))

    def check_alive(self) -> None:
        """Raise StoreUnavailable where something stands still that a restart may mend."""
        _check(self.watch.alive())

    async def check_ready(self) -> None:
        """Raise as the log of an open tenant does that can't be read, or StoreUnavailable.

        That is where projections of an open tenant stand still, or are too far behind. Without
        keys the one tenant is opened, or what stands in its way is raised.
        """
        wanted = self.tenants.opened() if self.has_keys else [self._tenant]
        for tenant in wanted:
            await self.ask(Caller(tenant, RIGHTS), lambda memory: memory.end())
        _check(self.watch.ready())

    def metrics(self, caller: Caller) -> bytes:
        """Return what Prometheus reads of the tenant of *caller*: of no other, whoever asks."""
        return self.watch.metrics(caller.tenant)

    def start(self) -> None:
        """Watch, and open the one tenant of a service without keys: no question shall wait."""
        self.watch.start()
        if self._keys is None:
            threading.Thread(target=self._warm, name="mnemolog-warm", daemon=True).start()

    def close(self) -> None:
        """Let what runs end, and close every memory. Harmless twice."""
        self.watch.stop()
        for lane in (self._appends, self._asks, self._waits):
            lane.close()
        self.tenants.close()

    async def _know(self, caller: Caller, after: str | None) -> None:
        if after is not None:
            token = token_of(after)
            await self.wait(caller, token, timeout_seconds=self.limits.wait_seconds)

    def _warm(self) -> None:
        with suppress(MnemologError), self.tenants.using(self._tenant):
            pass  # whatever is wrong is told to who asks

    def _lane(self, name: str, at_once: int) -> Lane:
        limits = self.limits
        return Lane(name, at_once=at_once, queued=limits.queued, seconds=limits.answer_seconds)

    def _called(self, caller: Caller, call: Callable[[Memory], R]) -> R:
        with self.tenants.using(caller.tenant) as memory:
            return call(memory)


class _Subjects:
    """What a service has open, for who watches."""

    def __init__(self, tenants: Tenants) -> None:
        self.tenants = tenants.opened
        self._tenants = tenants

    @contextmanager
    def using(self, tenant: str) -> Iterator[Subject]:
        """Give a tenant, which stays open meanwhile."""
        with self._tenants.if_open(tenant) as memory:
            yield Subject(tenant, None if memory is None else memory.engine)


def _check(told: Told) -> None:
    if not told.is_well:
        hint = "`mnemolog status` and the service's log say more."
        raise StoreUnavailable("projections", "; ".join(told.details), hint=hint)


def token_of(text: str) -> Token:
    """Return the token that *text* is. Raises InvalidSetting."""
    try:
        return Token.parse(text)
    except ValueError as error:
        limit = "what an append returned as its token, such as 0@7"
        raise InvalidSetting(TOKEN_HEADER, text, limit) from error
