"""The Faust application of a worker: woken by the log, owner of tenants by group assignment.

The only module that imports Faust. It decides nothing: an agent tells that something came, an
assignment tells who owns what, and what is done about it is the `Tenancy`'s. What Faust reads and
commits is never asked for progress, and no agent raises (it would acknowledge what it lost).
"""

import asyncio
import contextlib
import importlib
import logging
import os
import socket
from collections.abc import Mapping
from typing import Any, Final, Protocol, cast

import faust
import structlog
from faust.assignor.client_assignment import ClientAssignment
from faust.assignor.partition_assignor import PartitionAssignor
from faust.transport.drivers.aiokafka import Consumer

from mnemolog.streams.brokers import Brokers, Security
from mnemolog.streams.kafka_noise import Hush
from mnemolog.streams.kafka_tenants import GROUP
from mnemolog.streams.sharing import shared_out

SESSION_SECONDS: Final = 10.0  # without a sign of life, after which others own its tenants
HEARTBEAT_SECONDS: Final = 2.0
TOPICS_SECONDS: Final = 3.0  # between two looks for new tenants
SUBSCRIBE_SECONDS: Final = 0.5  # in which new tenants gather before they are subscribed to
RETRY_SECONDS: Final = 2.0  # before an application that failed is started anew
STOP_SECONDS_MAX: Final = 15.0
# Wake-ups wait in memory, payloads and all; what was read and not woken for is no loss.
BUFFER_EVENTS_MAX: Final = 16
FETCH_BYTES_MAX: Final = 65_536

_log = structlog.get_logger("mnemolog.worker")


class Tenancy(Protocol):
    """What a worker does about its tenants. None of the calls but `topics` may wait or raise."""

    def topics(self) -> frozenset[str]:
        """Return the topics that this worker would own. May wait; raises StoreUnavailable."""
        ...

    def assigned(self, topics: frozenset[str]) -> None:
        """Own *topics* from now on, and no others."""
        ...

    def revoked(self) -> None:
        """Own nothing until the next assignment, which often gives the same again."""
        ...

    def woken(self, topic: str) -> None:
        """Look at *topic*: something came, probably."""
        ...


class TopicAssignor(PartitionAssignor):
    """Gives a tenant's whole topic to one worker, and leaves it there while it lives."""

    @property
    def name(self) -> str:
        """Keep Faust's own assignor out of a group of ours."""
        return "mnemolog"

    def _perform_assignment(self, cluster: Any, member_metadata: Mapping[str, Any]) -> Any:
        clients = {m: self._get_client_metadata(found) for m, found in member_metadata.items()}
        self._update_member_urls(clients)
        owners = shared_out(
            {member: found.subscription for member, found in member_metadata.items()},
            {member: set(client.assignment.actives) for member, client in clients.items()},
        )
        shares = {member: ClientAssignment(actives={}, standbys={}) for member in clients}
        for topic, member in owners.items():
            if partitions := cluster.partitions_for_topic(topic):  # none of a topic that is gone
                shares[member].actives[topic] = sorted(partitions)
        groups = {topic: number for number, topic in enumerate(owners)}
        return self._protocol_assignments(shares, {}, {}, groups)


class WakingConsumer(Consumer):
    """Hands over the last record of each partition that a fetch found: one wake-up does for all.

    So Faust's pace, some thousand events a second, takes nothing of the projectors'.
    """

    async def _getmany(self, *asked: Any, **more: Any) -> Any:
        found = await super()._getmany(*asked, **more)
        return {tp: records[-1:] for tp, records in found.items()}


class WorkerApp(faust.App):
    """One member of the group of workers. It starts once there is a tenant to own."""

    def __init__(self, tenancy: Tenancy, *, brokers: Brokers, group: str = GROUP) -> None:
        super().__init__(
            group,
            broker=[f"kafka://{broker}" for broker in brokers.addresses.split(",")],
            broker_credentials=credentials_of(brokers.security),
            broker_client_id=f"mnemolog-worker-{socket.gethostname()}-{os.getpid()}",
            broker_session_timeout=SESSION_SECONDS,
            broker_heartbeat_interval=HEARTBEAT_SECONDS,
            broker_request_timeout=SESSION_SECONDS,
            broker_rebalance_timeout=SESSION_SECONDS,
            consumer_auto_offset_reset="latest",
            consumer_max_fetch_size=FETCH_BYTES_MAX,
            consumer_metadata_max_age_ms=int(TOPICS_SECONDS * 1000),  # a topic made anew is seen
            stream_buffer_maxsize=BUFFER_EVENTS_MAX,
            stream_wait_empty=False,
            topic_disable_leader=True,
            topic_allow_declare=False,
            web_enabled=False,
            autodiscover=False,
            PartitionAssignor=TopicAssignor,
        )
        self._tenancy = tenancy
        self.on_partitions_assigned.connect(self._tell_assigned)
        self.on_partitions_revoked.connect(self._tell_revoked)
        self._conductor = cast("Any", self.topics)  # its type hides what follows
        self._conductor._resubscribe_sleep_lock_seconds = SUBSCRIBE_SECONDS  # noqa: SLF001

    def _new_transport(self) -> Any:
        transport: Any = super()._new_transport()
        transport.Consumer = WakingConsumer
        return transport

    def _create_directories(self) -> None:
        """Make none: there are no tables."""

    async def on_start(self) -> None:
        """Wait for the first tenant: a group of no topics can't be joined."""
        await super().on_start()
        while not await self._look() and not self.should_stop:
            await self.sleep(TOPICS_SECONDS)

    async def on_started(self) -> None:
        """Look for new tenants from now on."""
        await super().on_started()
        self.add_future(self._keep_looking())

    async def _keep_looking(self) -> None:
        while not self.should_stop:
            await self.sleep(TOPICS_SECONDS)
            await self._look()

    async def _look(self) -> bool:
        """Take in the topics that are new; say whether there are any at all."""
        try:
            wanted = await asyncio.to_thread(self._tenancy.topics)
        except Exception as error:  # noqa: BLE001 - the next look may do better
            _log.warning("tenants can't be listed; trying again", error=str(error))
            return bool(self.agents)
        for topic in sorted(wanted - set(self.agents)):
            await self._attend(topic)
        if not wanted <= set(self._conductor._topic_name_index):  # noqa: SLF001
            # A change in the middle of a rebalance is forgotten there.
            self._conductor._flag_changes()  # noqa: SLF001
        return bool(self.agents)

    async def _attend(self, topic: str) -> None:
        async def wake(stream: Any) -> None:
            async for _ in stream:
                self._tenancy.woken(topic)

        raw: dict[str, Any] = {"value_type": bytes, "value_serializer": "raw"}
        channel = self.topic(topic, key_type=bytes, key_serializer="raw", **raw)
        await self.add_runtime_dependency(self.agent(channel, name=topic)(wake))

    async def _tell_assigned(self, *told: Any, **_: Any) -> None:
        self._tenancy.assigned(frozenset(tp.topic for tp in told[-1]))

    async def _tell_revoked(self, *_: Any, **__: Any) -> None:
        self._tenancy.revoked()


def credentials_of(security: Security) -> faust.SASLCredentials | faust.SSLCredentials | None:
    """Return *security* in Faust's words; None for plain text. Raises InvalidSetting."""
    context = security.context()
    if security.has_login:
        return faust.SASLCredentials(
            username=security.sasl_username,
            password=security.password(),
            ssl_context=context,
            mechanism=security.mechanism,
        )
    return None if context is None else faust.SSLCredentials(context)


async def run(
    tenancy: Tenancy, *, brokers: Brokers, group: str = GROUP, stopping: asyncio.Event
) -> None:
    """Be a member of *group* until *stopping* is set; whatever fails, begin anew."""
    relay_logs()
    while not stopping.is_set():
        app = WorkerApp(tenancy, brokers=brokers, group=group)
        try:
            await _run_once(app, stopping)
        except Exception as error:  # noqa: BLE001 - a supervisor's task
            _log.warning("the group was lost; joining again", error=repr(error))
        tenancy.revoked()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), RETRY_SECONDS)


async def _run_once(app: WorkerApp, stopping: asyncio.Event) -> None:
    """Run *app* until it fails or *stopping* is set; raise what it failed with."""
    runs = asyncio.ensure_future(_started_to_end(app))
    stops = asyncio.ensure_future(stopping.wait())
    try:
        await asyncio.wait({runs, stops}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stops.cancel()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(app.stop(), STOP_SECONDS_MAX)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(runs, STOP_SECONDS_MAX)
    if app.crash_reason is not None and not stopping.is_set():
        raise app.crash_reason


async def _started_to_end(app: WorkerApp) -> None:
    await app.start()
    await app.wait_until_stopped()


class _Relay(logging.Handler):
    """Hands what the libraries log to our own log, each message once in a while."""

    def emit(self, record: logging.LogRecord) -> None:
        _log.log(record.levelno, record.getMessage(), library=record.name)


def relay_logs() -> None:
    """Let Faust's warnings appear in our log, and not ten a second. Harmless twice."""
    for name in ("faust", "mode"):
        logger = logging.getLogger(name)
        if not any(isinstance(handler, _Relay) for handler in logger.handlers):
            relay = _Relay(logging.WARNING)
            relay.addFilter(Hush())
            logger.addHandler(relay)
            logger.propagate = False


def __getattr__(name: str) -> Any:
    """Give `faust -A mnemolog.streams.app worker` its app, as the environment says.

    What the app works on is wired where everything is, so it is looked up by name.
    """
    if name != "app":
        raise AttributeError(name)
    app = importlib.import_module("mnemolog.working").app_of_environment()
    globals()[name] = app
    return app
