"""Random histories through a worker that is killed, and the content that each must come to.

    python tests/support/streamed_digests.py --seeds 100 --kills 40

Each history is a tenant's. It is published as many clients would: agents' events interleaved anew,
some twice, in appends of random sizes, while the worker is killed and started at random.
"""

import argparse
import random
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from mnemolog.ledgers import applied
from mnemolog.memory import Memory
from mnemolog.projections.kinds import NAMES
from mnemolog.schemas.codec import Codec
from mnemolog.schemas.records import NewRecord
from mnemolog.streams.kafka_log import KafkaLog
from support.histories import Happened, enveloped
from support.polling import eventually
from support.random_histories import histories
from support.workers import WorkerProcess, launched

PARTITIONS = (1, 2, 4)
REPEATED = 0.2  # of the events, published twice
APPEND_RECORDS_MAX = 12
SETTLE_SECONDS = 240.0
LINE_CHARS_MAX = 300
DRAWS = 3  # the first one that Hypothesis draws is the simplest that there is


class Streamed:
    """One history as a tenant's: what it must come to, and the appends that are still to come."""

    def __init__(self, number: int, *, mark: str) -> None:
        chance = random.Random(number)
        self.tenant = f"seed-{number}-{mark}"
        self.partitions = chance.choice(PARTITIONS)
        codec = Codec(tenant=self.tenant, partitions=self.partitions)
        told = [codec.encode(*enveloped(n, one)) for n, one in enumerate(drawn(number))]
        self.told = told
        self.appends = list(_appends(_interleaved(told, chance), chance))

    def expected(self) -> Mapping[str, str]:
        """Return the digests of a plain fold of the history, in the order in which it was drawn."""
        with opened(":memory:", self.tenant, partitions=self.partitions) as memory:
            memory.engine.log.append(self.told)
            memory.wait_for(memory.end(), projections=NAMES, vectors=True)
            return memory.digests()


def drawn(number: int) -> list[Happened]:
    """Return the random history of a seed."""
    found: list[list[Happened]] = []

    @seed(number)
    @settings(
        max_examples=DRAWS,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(histories())
    def draw(history: list[Happened]) -> None:
        found.append(history)

    draw()
    return found[-1]


def opened(data: Path | str, tenant: str, **more: object) -> Memory:
    """Return a Memory that appends nothing by itself."""
    return Memory(
        data, tenant=tenant, embedder="hashing", record_recalls=False, processors=False, **more
    )


def _interleaved(told: Sequence[NewRecord], chance: random.Random) -> list[NewRecord]:
    """Return *told* in another order, each key's own kept, and some of it again later."""
    by_key: dict[bytes, list[NewRecord]] = defaultdict(list)
    for record in told:
        by_key[record.key].append(record)
    queues = [list(reversed(queue)) for queue in by_key.values()]
    mixed = []
    while queues:
        queue = chance.choice(queues)
        mixed.append(queue.pop())
        queues = [one for one in queues if one]
    for at in sorted(chance.sample(range(len(mixed)), int(REPEATED * len(mixed))), reverse=True):
        mixed.insert(chance.randint(at + 1, len(mixed)), mixed[at])
    return mixed


def _appends(records: Sequence[NewRecord], chance: random.Random) -> Iterator[list[NewRecord]]:
    start = 0
    while start < len(records):
        size = chance.randint(1, APPEND_RECORDS_MAX)
        yield list(records[start : start + size])
        start += size


class Stream:
    """The worker, the histories, and the killing of the worker between their appends."""

    def __init__(self, folder: Path, bootstrap: str, streamed: Sequence[Streamed]) -> None:
        self.log = f"kafka://{bootstrap}"
        self.data = folder / "data"
        self.streamed = streamed
        self._bootstrap = bootstrap
        self._worker: WorkerProcess | None = None
        self._mark = streamed[0].tenant

    def start(self) -> None:
        named = [part for one in self.streamed for part in ("--tenant", one.tenant)]
        group = f"workers-{self._mark}"
        self._worker = launched(
            self.data, self.log, *named, "--group", group, MNEMOLOG_PROCESSORS="no"
        )

    def close(self) -> None:
        if self._worker is not None:
            self._worker.kill()
            print(*(str(line)[:LINE_CHARS_MAX] for line in self._worker.lines[-20:]), sep="\n")

    def pour(self, *, kills: int, chance: random.Random) -> None:
        """Publish all appends, of the tenants in turn; kill the worker *kills* times meanwhile."""
        with ExitStack() as stack:
            logs = {
                one.tenant: stack.enter_context(closing(self._log_of(one))) for one in self.streamed
            }
            self.start()
            order = [one for one in self.streamed for _ in one.appends]
            chance.shuffle(order)
            deadly = set(chance.sample(range(len(order)), kills))
            waiting = {one.tenant: iter(one.appends) for one in self.streamed}
            for number, one in enumerate(order):
                logs[one.tenant].append(next(waiting[one.tenant]))
                if number in deadly:
                    assert self._worker is not None
                    self._worker.tells("tenant taken")  # since its start: it is at work
                    self._worker.kill()
                    self.start()

    def _log_of(self, one: Streamed) -> KafkaLog:
        return KafkaLog.open(self._bootstrap, tenant=one.tenant, partitions=one.partitions)

    def settle(self) -> None:
        """Wait until the worker has applied all that there is, and stop it."""
        assert self._worker is not None
        for one in self.streamed:
            with opened(self.data, one.tenant, log=self.log, projects=False) as memory:
                ends = memory.engine.log.ends()
                eventually(
                    lambda memory=memory, ends=ends: all(
                        applied(memory.engine, name).get(partition, -1) >= end - 1
                        for name in NAMES
                        for partition, end in ends.items()
                    ),
                    what=f"{one.tenant} applied to its end",
                    within_seconds=SETTLE_SECONDS,
                    pause=0.1,
                )
        assert self._worker.stop() == 0


def run(folder: Path, bootstrap: str, *, seeds: int, kills: int, mark: str, first: int = 0) -> int:
    """Stream *seeds* histories and compare; return how many events there were."""
    streamed = [Streamed(first + number, mark=mark) for number in range(seeds)]
    stream = Stream(folder, bootstrap, streamed)
    try:
        stream.pour(kills=kills, chance=random.Random(first))
        stream.settle()
    finally:
        stream.close()
    for one in streamed:
        with opened(stream.data, one.tenant, log=stream.log) as memory:
            memory.wait_for(memory.end(), projections=NAMES, vectors=True)
            assert memory.digests() == one.expected(), f"{one.tenant}: streamed is not embedded"
            for compared in memory.verify():
                assert compared.is_equal, f"{one.tenant}: {compared}"
    return sum(len(one.told) for one in streamed)


if __name__ == "__main__":
    from support.kafka_broker import KafkaBroker

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as made, KafkaBroker(Path(made) / "kafka") as broker:
        mark = Path(made).name[-6:].strip("_")
        numbers = {"seeds": asked.seeds, "kills": asked.kills, "first": asked.first}
        print(run(Path(made), broker.bootstrap, mark=mark, **numbers), "events, all equal")
