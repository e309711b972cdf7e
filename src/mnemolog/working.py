"""The worker: keeps the projections of the tenants that it owns, each in a thread of its own.

Whom it owns the group of workers says (`streams.app`); what it does about a tenant is `tending`'s.
An assignment that is taken back and given again, as in every change of the group, closes nothing.
"""

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import structlog

from mnemolog.attending import attended
from mnemolog.health_listener import watched
from mnemolog.schemas.errors import InvalidSetting
from mnemolog.settings import TENANT_DEFAULT, Settings
from mnemolog.streams.brokers import Brokers
from mnemolog.streams.kafka_tenants import GROUP, KafkaTenants
from mnemolog.streams.log import tenant_of, topic_of
from mnemolog.streams.opening import brokers_of
from mnemolog.tenant_watch import Subject
from mnemolog.tending import Attend, Tending
from mnemolog.watching import Watch

if TYPE_CHECKING:
    from mnemolog.streams.app import WorkerApp

_log = structlog.get_logger("mnemolog.worker")

GROUP_VARIABLE: Final = "MNEMOLOG_WORKER_GROUP"
SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a worker is to do: for whom, where, and whether it copies what others own."""

    log: str
    data: str | None = None
    embedder: str | None = None
    tenants: tuple[str, ...] = ()  # none: all that there are
    replica: bool = False
    health_listen: str | None = None  # host:port; see the setting

    @property
    def brokers(self) -> Brokers:
        """The brokers. Raises InvalidSetting for a log that is on none."""
        if not self.log:
            raise InvalidSetting("log", self.log, "a worker's log is on Kafka: kafka://host:port")
        return brokers_of(self.log, Settings.resolve(log=self.log).security)

    def settings(self, tenant: str) -> Settings:
        """Return the settings of one tenant. Raises InvalidSetting."""
        return Settings.resolve(
            data=self.data,
            log=self.log,
            tenant=tenant,
            embedder=self.embedder,
            health_listen=self.health_listen,
        )


class Worker:
    """A worker's tenants: a `Tenancy` of the Faust application. Any thread may call it."""

    def __init__(self, wanted: Wanted, *, attend: Attend = attended) -> None:
        """Check what is *wanted* before anything is opened. Raises InvalidSetting."""
        self._wanted = wanted
        self._attend = attend
        for tenant in wanted.tenants or (None,):
            Settings.resolve(data=wanted.data, tenant=tenant, embedder=wanted.embedder)
        self._named = {topic_of(tenant): tenant for tenant in wanted.tenants}
        self._brokers = KafkaTenants(wanted.brokers)
        self._lock = threading.Lock()
        self._is_closed = False
        self._listed: frozenset[str] = frozenset()
        self._owned: frozenset[str] = frozenset()
        self._tended: dict[str, Tending] = {}
        self._unserved: frozenset[str] = frozenset()

    @property
    def tended(self) -> dict[str, Tending]:
        """What it keeps, by topic: what it owns and, as a replica, what others own."""
        with self._lock:
            return dict(self._tended)

    def tenants(self) -> list[str]:
        """Return whom it keeps."""
        return [tending.tenant for tending in self.tended.values()]

    @contextmanager
    def using(self, tenant: str) -> Iterator[Subject]:
        """Give one of them to who watches; it may be let go of meanwhile."""
        found = self.tended.get(topic_of(tenant))
        if found is None:
            yield Subject(tenant, None)
        else:
            yield Subject(tenant, found.engine, found.stopped_by)

    def topics(self) -> frozenset[str]:
        """Return the topics that this worker would own, of those that the brokers have."""
        listed = self._brokers.topics()
        wanted = frozenset(topic for topic in listed if self._tenant(topic) is not None)
        self._tell_unserved(listed)
        with self._lock:
            self._listed = wanted
            if self._wanted.replica:
                self._reconcile()
        return wanted

    def assigned(self, topics: frozenset[str]) -> None:
        """Own *topics* from now on, and no others."""
        with self._lock:
            if topics != self._owned:
                names = sorted(filter(None, map(self._tenant, topics)))
                _log.info("tenants owned", tenants=names)
            self._owned = topics
            self._reconcile()

    def revoked(self) -> None:
        """Own nothing, but keep what is open: the next assignment often gives it again."""
        with self._lock:
            for tending in self._tended.values():
                tending.own(owned=False)

    def woken(self, topic: str) -> None:
        """Let the tenant's projector look at the log."""
        tending = self._tended.get(topic)
        if tending is not None:
            tending.wake()

    def close(self) -> None:
        """Let go of all tenants, each between two turns of its projector. Harmless twice."""
        with self._lock:
            self._is_closed = True
            ending = list(self._tended.values())
            self._tended = {}
        for tending in ending:
            tending.end()
        for tending in ending:
            tending.join()
        self._brokers.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _tenant(self, topic: str) -> str | None:
        """Return whose log *topic* is, if that tenant is to be served here."""
        if self._named:
            return self._named.get(topic)
        return tenant_of(topic)

    def _reconcile(self) -> None:
        """Tend what is owned, and as a replica what is there; let go of all else."""
        if self._is_closed:
            return
        keep = self._owned | self._listed if self._wanted.replica else self._owned
        for topic in self._tended.keys() - keep:
            self._tended.pop(topic).end()
        for topic in sorted(keep):
            tenant = self._tenant(topic)
            if tenant is not None and topic not in self._tended:
                self._tended[topic] = self._begun(topic, tenant)
        for topic, tending in self._tended.items():
            tending.own(owned=topic in self._owned)

    def _begun(self, topic: str, tenant: str) -> Tending:
        tending = Tending(
            self._wanted.settings(tenant),
            is_there=lambda: topic in self._listed,
            attend=self._attend,
        )
        tending.start()
        return tending

    def _tell_unserved(self, listed: frozenset[str]) -> None:
        """Say once for whom nothing can be done now: no log yet, or no name to open it under."""
        if self._named:
            unserved, why = frozenset(self._named) - listed, "no log yet; waiting for it"
        else:
            unserved = frozenset(topic for topic in listed if tenant_of(topic) is None)
            why = "only a digest of the tenant's name; serve it with --tenant"
        for topic in sorted(unserved - self._unserved):
            _log.warning("tenant not served", topic=topic, why=why)
        self._unserved = unserved


def work(wanted: Wanted, *, group: str | None = None, attend: Attend = attended) -> None:
    """Be a worker until SIGTERM or SIGINT, then let go of everything. Raises InvalidSetting."""
    watching = wanted.settings(TENANT_DEFAULT).watching
    with (
        Worker(wanted, attend=attend) as worker,
        watched(Watch(worker, watching), watching, by_default=True),
    ):
        asyncio.run(_work(worker, wanted, group))


async def _work(worker: Worker, wanted: Wanted, group: str | None) -> None:
    from mnemolog.streams import app  # noqa: PLC0415 - Faust is for workers alone

    stopping = asyncio.Event()
    for number in SIGNALS:
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    group = group or GROUP
    data = wanted.settings(TENANT_DEFAULT)["data"]
    _log.info("worker started", brokers=str(wanted.brokers), data=data, group=group)
    await app.run(worker, brokers=wanted.brokers, group=group, stopping=stopping)
    _log.info("worker stopping")


def app_of_environment() -> "WorkerApp":
    """Return the application that `faust -A mnemolog.streams.app worker` runs."""
    from mnemolog.streams import app  # noqa: PLC0415 - Faust is for workers alone

    settings = Settings.resolve()
    tenants = (settings.tenant,) if settings.found["tenant"].origin != "default" else ()
    wanted = Wanted(log=settings["log"], tenants=tenants)
    worker = Worker(wanted)
    group = os.environ.get(GROUP_VARIABLE) or GROUP
    made = app.WorkerApp(worker, brokers=wanted.brokers, group=group)
    last = ExitStack()
    last.callback(worker.close)
    watching = settings.watching
    last.enter_context(watched(Watch(worker, watching), watching, by_default=True))
    made.on_before_shutdown.connect(lambda *_, **__: last.close())
    return made
