"""Kill -9 at random, and pauses: of a worker, its replica, who appends, and the broker beneath.

    python tests/support/worker_storm.py --kills 200 --seed 7

Afterwards an account that none of them kept is drawn up, from the topics as another client reads
them: every acknowledged event is there, each worker's tables hold each event once and at its first
place, in the order of its key, none is missing at the end, and what was streamed equals a fold.
"""

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, suppress
from pathlib import Path

from confluent_kafka import Consumer, TopicPartition

from mnemolog.ledgers import applied
from mnemolog.memory import Memory
from mnemolog.projections.kinds import CHECKPOINTS, MEMORIES, NAMES, WEIGHTS
from mnemolog.streams.log import topic_of

if __package__:
    from support.kafka_broker import KafkaBroker
    from support.polling import eventually
else:  # as a script: its own folder is on the path, and tests/ must not be
    from kafka_broker import KafkaBroker
    from polling import eventually

TENANTS = ("acme", "globex", "北京")
PARTITIONS = 2
AGENTS = 3
WORKERS = ("worker", "replica")
APPENDING = "appending"
KINDS = (*WORKERS, "pause", APPENDING, "broker")
KIND_WEIGHTS = (5, 5, 3, 3, 2)
LIFE_SECONDS = (0.5, 4.0)  # between two strikes
PAUSE_SECONDS = (1.0, 14.0)  # of a stopped worker: longer than the group waits for it, sometimes
SETTLE_SECONDS = 180.0
EMBEDDER = "hashing"
PAGE_ROWS = 5_000

# Appends to every tenant in turn and notes each acknowledgement; goes on where the last one was.
APPEND = """
import sys, time
from contextlib import ExitStack, suppress
from pathlib import Path
from mnemolog.memory import Memory
from mnemolog.schemas.errors import StoreUnavailable
log, folder, partitions, agents, *tenants = sys.argv[1:]
acks = Path(folder) / "acks"
known = acks.read_text().splitlines() if acks.exists() else []
number = int(known[-1].split()[-1]) + 1 if known else 0
with ExitStack() as stack, acks.open("a", buffering=1) as noted:
    def opened(tenant):
        data = f"{folder}/appending"
        return Memory(data, log=log, tenant=tenant, partitions=int(partitions), projects=False)
    memories = []
    while len(memories) < len(tenants):
        try:
            memories.append(stack.enter_context(opened(tenants[len(memories)])))
        except StoreUnavailable:
            continue
    while True:
        which = number % len(tenants)
        agent = f"agent-{number // len(tenants) % int(agents)}"
        try:
            memories[which].observe(
                f"reading {number}", agent=agent, id=f"n-{number}",
                occurred_at="2030-01-01T00:00:00Z",
            )
        except StoreUnavailable:
            continue  # the same event again
        noted.write(f"{tenants[which]} {number}\\n")
        number += 1
        if number % 30 == 0:  # in bursts: the account afterwards reads all of it
            time.sleep(0.1)
"""


class Storm:
    """The broker, a worker and a replica, who appends, and the striking of them."""

    def __init__(self, folder: Path, broker: KafkaBroker, *, seed: int) -> None:
        self.folder = folder
        self.broker = broker
        self.strikes: Counter[str] = Counter()
        self._random = random.Random(seed)
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def log(self) -> str:
        return f"kafka://{self.broker.bootstrap}"

    def command(self, name: str) -> list[str]:
        if name == APPENDING:
            numbers = (str(PARTITIONS), str(AGENTS))
            return [sys.executable, "-c", APPEND, self.log, str(self.folder), *numbers, *TENANTS]
        worker = [sys.executable, "-m", "mnemolog.cli.main", "worker", "--log", self.log]
        as_what = ["--replica"] if name == "replica" else []
        return [*worker, "--data", str(self.folder / name), "--embedder", EMBEDDER, *as_what]

    def start(self, name: str) -> None:
        with (self.folder / f"{name}.out").open("ab") as out:
            self._running[name] = subprocess.Popen(
                self.command(name), stdout=subprocess.DEVNULL, stderr=out
            )

    def kill(self, name: str) -> None:
        self._running[name].kill()
        self._running[name].wait()

    def rage(self, *, kills: int) -> None:
        """Strike *kills* times; what was killed begins again at once."""
        for name in (*WORKERS, APPENDING):
            self.start(name)
        kinds = self._kinds(kills)
        while kinds:
            time.sleep(self._random.uniform(*LIFE_SECONDS))
            self._strike(kinds.pop())
            died = [name for name, process in self._running.items() if process.poll() is not None]
            assert not died, f"ended by themselves: {died}"

    def _kinds(self, kills: int) -> list[str]:
        """Return what is struck: each once at least, workers most often."""
        more = self._random.choices(KINDS, weights=KIND_WEIGHTS, k=max(0, kills - len(KINDS)))
        return self._random.sample([*KINDS, *more], k=len(KINDS) + len(more))

    def _strike(self, kind: str) -> None:
        self.strikes[kind] += 1
        match kind:
            case "pause":
                name = self._random.choice(WORKERS)
                self._running[name].send_signal(signal.SIGSTOP)
                with suppress(subprocess.TimeoutExpired):
                    self._running[name].wait(self._random.uniform(*PAUSE_SECONDS))
                self._running[name].send_signal(signal.SIGCONT)
            case "broker":
                self.broker.kill()
                self.broker.restart()
            case name:
                self.kill(name)
                self.start(name)

    def settle(self) -> dict[str, Path]:
        """Let the workers come to the end; return the folder that is there, of each tenant."""
        self.kill(APPENDING)
        folders = {
            tenant: eventually(
                lambda tenant=tenant: self._folder_at_end(tenant),
                what=f"{tenant} seen to its end by a worker",
                within_seconds=SETTLE_SECONDS,
                pause=0.5,
            )
            for tenant in TENANTS
        }
        for name in WORKERS:
            self._running[name].terminate()
        assert [self._running[name].wait(SETTLE_SECONDS) for name in WORKERS] == [0, 0]
        return folders

    def _folder_at_end(self, tenant: str) -> Path | None:
        for name in WORKERS:
            data = self.folder / name
            with Memory(data, log=self.log, tenant=tenant, projects=False) as memory:
                ends = memory.engine.log.ends()
                known = [applied(memory.engine, one) for one in (MEMORIES, WEIGHTS, CHECKPOINTS)]
            if all(at.get(p, -1) >= end - 1 for at in known for p, end in ends.items()):
                return data
        return None

    def close(self) -> None:
        for process in self._running.values():
            process.kill()
            process.wait()


def on_the_topic(bootstrap: str, tenant: str) -> dict[str, list[tuple[int, int]]]:
    """Return the places of each id on the topic, as a client that is not ours reads it."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "account",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
        }
    )
    found: dict[str, list[tuple[int, int]]] = {}
    for partition in range(PARTITIONS):
        where = TopicPartition(topic_of(tenant), partition, 0)
        end = consumer.get_watermark_offsets(where, timeout=30)[1]
        consumer.assign([where])
        at = 0
        while at < end:
            for message in consumer.consume(1000, timeout=10):
                assert message.error() is None, message.error()
                at = message.offset() + 1
                found.setdefault(json.loads(message.value())["id"], []).append(
                    (partition, message.offset())
                )
    consumer.close()
    return found


def analysed(memory: Memory) -> list[tuple[str, int, int, str]]:
    """Return id, place and agent of each event in the published tables, in the log's order."""
    page = (
        "SELECT event_id, log_partition, log_offset, agent FROM events"
        f" WHERE (log_partition, log_offset) > (?, ?) ORDER BY 2, 3 LIMIT {PAGE_ROWS}"
    )
    found: list[tuple[str, int, int, str]] = []
    after = (-1, -1)
    while rows := memory.sql(page, parameters=after, fresh=False).rows:
        found += rows
        after = rows[-1][1:3]
    return found


def account(storm: Storm, tenant: str, data: Path, acknowledged: set[str]) -> Counter[str]:
    """Draw up one tenant's account; raise AssertionError for what is lost, doubled or different."""
    there = on_the_topic(storm.broker.bootstrap, tenant)
    lost = acknowledged - there.keys()
    assert not lost, f"acknowledged and not on the topic: {sorted(lost)[:5]}"
    with Memory(data, log=storm.log, tenant=tenant, embedder=EMBEDDER) as memory:
        memory.wait_for(memory.end(), projections=NAMES, timeout_seconds=SETTLE_SECONDS)
        rows = analysed(memory)
        places = {(event_id, (partition, offset)) for event_id, partition, offset, _ in rows}
        assert len(places) == len(rows), "an event stands twice"
        firsts = {(event_id, min(found)) for event_id, found in there.items()}
        assert places == firsts, f"lost, doubled or elsewhere: {sorted(places ^ firsts)[:5]}"
        said = [row for row in rows if row[0].startswith("n-")]  # the others are processors'
        for agent in {row[3] for row in said}:
            numbers = [int(row[0].removeprefix("n-")) for row in said if row[3] == agent]
            assert numbers == sorted(numbers), f"{agent}'s events are out of order"
        for compared in memory.verify():
            assert compared.is_equal, str(compared)
    repeats = sum(len(found) - 1 for found in there.values())
    return Counter(
        acknowledged=len(acknowledged),
        events=len(there),
        processed=len(rows) - len(said),
        repeats_on_topic=repeats,
    )


def run(*, kills: int, seed: int) -> dict[str, int]:
    """Let the storm rage and return the account."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        broker = stack.enter_context(KafkaBroker(folder / "kafka"))
        storm = Storm(folder, broker, seed=seed)
        stack.callback(storm.close)
        storm.rage(kills=kills)
        folders = storm.settle()
        acks = [line.rsplit(" ", 1) for line in (folder / "acks").read_text().splitlines()]
        total: Counter[str] = Counter()
        for tenant, data in folders.items():
            mine = {f"n-{number}" for name, number in acks if name == tenant}
            total += account(storm, tenant, data, mine)
        return {**total, **storm.strikes}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20, help="strikes in all")
    parser.add_argument("--seed", type=int, default=None)
    arguments = parser.parse_args()
    chosen = random.randrange(2**32) if arguments.seed is None else arguments.seed
    print(f"seed {chosen}", flush=True)
    print(run(kills=arguments.kills, seed=chosen))
