"""Kill -9 at random, of a writing, an importing and a projecting process on one folder.

    python tests/support/kill_storm.py --kills 200 --seed 7

Afterwards an account that none of the three kept is drawn up: every acknowledged event stands in
the log, none stands twice, and every projection holds each event once and equals a fresh fold.
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
from collections.abc import Iterator
from pathlib import Path

from mnemolog.memory import Memory
from mnemolog.schemas.decoded import Ours

CONVERSATIONS = 60
EMBEDDER = "hashing"
LIFE_SECONDS = (0.2, 4.0)  # how long a process lives before it is killed
SETTLE_SECONDS = 300.0
PAGE_ROWS = 5_000

# Appends observations one after the other and notes each acknowledgement, from where it was.
WRITE = """
import sys, time
from pathlib import Path
from mnemolog.memory import Memory
data, acks = sys.argv[1], Path(sys.argv[2])
known = acks.read_text().split() if acks.exists() else []
number = int(known[-1]) + 1 if known else 0
with Memory(data, projects=False) as memory, acks.open("a", buffering=1) as noted:
    while True:
        second = f"{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}"
        memory.observe(
            f"reading {number} of the pool",
            agent=f"writer-{number % 3}",
            id=f"w-{number}",
            occurred_at=f"2030-01-01T{second}Z",
        )
        noted.write(f"{number}\\n")
        number += 1
        if number % 20 == 0:  # in bursts: the account afterwards reads all of it
            time.sleep(0.1)
"""
PROJECT = """
import sys, time
from mnemolog.memory import Memory
with Memory(sys.argv[1], embedder=sys.argv[2]) as memory:
    while memory.engine.dispatcher is None or memory.engine.dispatcher.failure is None:
        memory.engine.take_over()
        time.sleep(0.05)
sys.exit("projecting stopped")
"""


class Storm:
    """The three processes, and the killing of them."""

    def __init__(self, folder: Path, *, seed: int) -> None:
        self.data = folder / "data"
        self.acks = folder / "acks"
        self.history = folder / "history.jsonl"
        self._random = random.Random(seed)
        self.history.write_text(conversations())

    def commands(self) -> dict[str, list[str]]:
        python = sys.executable
        return {
            "write": [python, "-c", WRITE, str(self.data), str(self.acks)],
            "import": [
                *(python, "-m", "mnemolog.cli.main", "import", str(self.history)),
                *("--format", "openai-chat", "--data", str(self.data), "--no-wait"),
            ],
            "project": [python, "-c", PROJECT, str(self.data), EMBEDDER],
        }

    def rage(self, *, kills: int) -> None:
        """Kill each process *kills* times; it begins again at once."""
        commands = self.commands()
        running = {name: start(command) for name, command in commands.items()}
        left = Counter(dict.fromkeys(commands, kills))
        try:
            while any(left.values()):
                time.sleep(self._random.uniform(*LIFE_SECONDS) / len(commands))
                name = self._random.choice([name for name, times in left.items() if times])
                running[name].send_signal(signal.SIGKILL)
                running[name].wait()
                left[name] -= 1
                running[name] = start(commands[name])
        finally:
            for process in running.values():
                process.kill()
                process.wait()

    def settle(self) -> None:
        """Let one import run to its end, undisturbed."""
        done = subprocess.run(self.commands()["import"], capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()


def start(command: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def conversations() -> str:
    """Return a history to import: conversations of a few messages, one a line."""
    return "".join(
        json.dumps(
            {
                "task_id": f"task-{number}",
                "messages": [
                    {"role": "user", "content": f"question {number}: where is order {number}?"},
                    {"role": "assistant", "content": f"order {number} is at station {number % 7}"},
                    {"role": "user", "content": "好的"},
                ],
            }
        )
        + "\n"
        for number in range(CONVERSATIONS)
    )


def accounts(storm: Storm) -> dict[str, int]:
    """Draw up the account; raise AssertionError for anything lost, doubled or different."""
    acknowledged = {f"w-{number}" for number in storm.acks.read_text().split()}
    with Memory(storm.data.as_posix(), embedder=EMBEDDER) as memory:
        ids = Counter(recorded_ids(memory))
        assert not acknowledged - ids.keys(), "acknowledged and not in the log"
        doubled = [name for name, times in ids.items() if times > 1]
        assert not doubled, f"twice in the log: {doubled[:5]}"
        imported = [name for name in ids if not name.startswith("w-")]
        projections = ("memories", "weights", "checkpoints", "analytics")
        memory.wait_for(memory.end(), timeout_seconds=SETTLE_SECONDS, projections=projections)
        rows = dict(analysed(memory))
        assert rows == dict(ids), "events of analytics are not those of the log"
        for compared in memory.verify():
            assert compared.is_equal, str(compared)
        return {"acknowledged": len(acknowledged), "imported": len(imported), "records": len(ids)}


def analysed(memory: Memory) -> Iterator[tuple[str, int]]:
    """Yield how often each event stands in analytics, page by page."""
    page = (
        "SELECT event_id, count(*) FROM events WHERE event_id > ?"
        f" GROUP BY 1 ORDER BY 1 LIMIT {PAGE_ROWS}"
    )
    last = ""
    while rows := memory.sql(page, parameters=[last], fresh=False).rows:
        yield from rows
        last = rows[-1][0]


def recorded_ids(memory: Memory) -> list[str]:
    """Return the ids of all events in the log, read without any projection."""
    log = memory.engine.log
    reader, ends = log.reader(dict.fromkeys(log.ends(), 0)), log.ends()
    found = []
    while any(reader.positions()[p] < end for p, end in ends.items()):
        records = reader.poll(records_max=1000, wait_seconds=1)
        items = [memory.engine.codec.decode(record) for record in records]
        assert all(isinstance(item, Ours) for item in items)
        found += [item.recorded.id for item in items if isinstance(item, Ours)]
    reader.close()
    return found


def run(*, kills: int, seed: int) -> dict[str, int]:
    """Let the storm rage and return the account."""
    with tempfile.TemporaryDirectory() as folder:
        storm = Storm(Path(folder), seed=seed)
        storm.rage(kills=kills)
        storm.settle()
        return accounts(storm)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20, help="kills of each process")
    parser.add_argument("--seed", type=int, default=None)
    arguments = parser.parse_args()
    chosen = random.randrange(2**32) if arguments.seed is None else arguments.seed
    print(f"seed {chosen}", flush=True)
    print(run(kills=arguments.kills, seed=chosen))
