"""What scenarios on a broker share: one of their own, topics with events, and waiting for them."""

import sys
import tempfile
import uuid
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from measuring import batched
from work_history import told

from mnemolog import Memory
from mnemolog.projections.kinds import NAMES
from mnemolog.schemas.codec import Codec
from mnemolog.schemas.ids import fresh_id
from mnemolog.schemas.records import NewRecord
from mnemolog.streams.kafka_log import KafkaLog

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))
from kafka_broker import KafkaBroker, KafkaUnavailable

APPENDED_AT_ONCE: Final = 1_000
APPLY_SECONDS_MAX: Final = 36_000.0


@dataclass(frozen=True, slots=True)
class Broker:
    """Where the topics are, and where data is made."""

    bootstrap: str
    folder: Path
    _mark: str = field(default_factory=lambda: uuid.uuid4().hex[:8])

    @property
    def log(self) -> str:
        return f"kafka://{self.bootstrap}"

    def name(self, what: str) -> str:
        """Return a tenant's or a group's name that no other run has."""
        return f"{what}-{self._mark}"

    def memory(self, data: Path, tenant: str, *, embedder: str = "hashing") -> Memory:
        """Open the folder *data* beside the worker that keeps it."""
        return Memory(data, log=self.log, tenant=tenant, embedder=embedder, projects=False)


@contextmanager
def on_broker(bootstrap: str | None, folder: str | None) -> Iterator[Broker]:
    """Give a broker, one of our own by default; raise KafkaUnavailable where none can run."""
    with tempfile.TemporaryDirectory(dir=folder) as data, ExitStack() as stack:
        if bootstrap is None:
            bootstrap = stack.enter_context(KafkaBroker(Path(data) / "kafka")).bootstrap
        yield Broker(bootstrap, Path(data))


def encoded(log: KafkaLog, tenant: str, *, events: int, seed: int) -> Iterator[NewRecord]:
    """Yield *events* records of the history."""
    codec = Codec(tenant=tenant, partitions=log.partitions)
    for event, around in told(events=events, seed=seed):
        yield codec.encode(event, replace(around, id=fresh_id()))


def append(log: KafkaLog, records: Iterable[NewRecord]) -> None:
    for call in batched(records, APPENDED_AT_ONCE):
        log.append(call)


def put(broker: Broker, tenant: str, *, events: int, seed: int) -> None:
    """Make the topic of *tenant* with so many events."""
    with closing(KafkaLog.open(broker.bootstrap, tenant=tenant)) as log:
        append(log, encoded(log, tenant, events=events, seed=seed))


def applied(memory: Memory, *, vectors: bool = False) -> None:
    """Return once all that the log has now is in all read models."""
    memory.wait_for(
        memory.end(), timeout_seconds=APPLY_SECONDS_MAX, projections=NAMES, vectors=vectors
    )


__all__ = ["Broker", "KafkaUnavailable", "append", "applied", "encoded", "on_broker", "put"]
