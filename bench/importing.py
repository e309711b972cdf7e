"""Whether memory stays flat while a long history is imported and projected in one process.

    python bench/importing.py
    python bench/importing.py --events 20000

A file of CloudEvents is imported by `mnemolog import`, as a user does it: the importer and the
projector of all four read models in one process, with the hashing embedder, so that no model's
weights are in the figures. What the process holds (its resident set) is sampled from outside.
Flat: what it holds in the last quarter of the time is about what it held in the second.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from measuring import Row, arguments, tell
from work_history import told

from mnemolog.schemas.codec import Codec

EVENTS: Final = 200_000
EVENTS_QUICK: Final = 10_000
SAMPLE_SECONDS: Final = 0.1
GROWTH_MAX: Final = 1.25  # last quarter beside second quarter
COMMAND: Final = "from mnemolog.cli.main import console; console()"
STATM: Final = "/proc/{pid}/statm"


class Held(NamedTuple):
    """What a process held at a moment since its start."""

    seconds: float
    megabytes: float


class Ended(NamedTuple):
    """A process that ended: its time of the clock and of the CPU, and what it held."""

    seconds: float
    cpu_seconds: float
    held: Sequence[Held]


def written(path: Path, *, events: int, seed: int) -> None:
    """Write the history as a file of CloudEvents, a line each."""
    codec = Codec(tenant="default", partitions=1)
    with path.open("wb") as file:
        for event, envelope in told(events=events, seed=seed):
            record = codec.encode(event, envelope)
            assert record.value is not None
            file.write(record.value + b"\n")


def imported(path: Path, data: Path) -> Ended:
    """Import the file into a new folder, in a process of its own, and watch it."""
    options = ["import", str(path), "--data", str(data), "--embedder", "hashing"]
    began, before = time.monotonic(), os.times()
    with subprocess.Popen(
        [sys.executable, "-c", COMMAND, *options], stdout=subprocess.DEVNULL
    ) as process:
        held = list(_watched(process, began))
    if process.returncode != 0:
        sys.exit(f"the import failed with {process.returncode}")
    after = os.times()
    cpu = sum(after[2:4]) - sum(before[2:4])  # of children that ended
    return Ended(time.monotonic() - began, cpu, held)


def _watched(process: "subprocess.Popen[bytes]", began: float) -> Iterator[Held]:
    pages = Path(STATM.format(pid=process.pid))
    page_bytes = os.sysconf("SC_PAGE_SIZE")
    while process.poll() is None:
        try:
            resident = int(pages.read_text().split()[1])
        except (OSError, IndexError):  # it has just ended
            return
        yield Held(time.monotonic() - began, resident * page_bytes / 1e6)
        time.sleep(SAMPLE_SECONDS)


def quarters(held: Sequence[Held]) -> list[float]:
    """Return the median of what was held in each quarter of the time."""
    size = max(len(held) // 4, 1)
    parts = (held[n * size : (n + 1) * size] or held[-1:] for n in range(4))
    return [statistics.median(one.megabytes for one in part) for part in parts]


def slope(held: Sequence[Held]) -> float:
    """Return by how many megabytes it grew in the last three quarters, by a straight line."""
    later = held[len(held) // 4 :]
    if len(later) < 2:
        return 0.0
    line = statistics.linear_regression(
        [one.seconds for one in later], [one.megabytes for one in later]
    )
    return line.slope * (later[-1].seconds - later[0].seconds)


def rows(given: argparse.Namespace) -> Iterator[Row]:
    if not Path(STATM.format(pid=os.getpid())).exists():
        yield Row(scenario="importing", what="memory", ours="skipped: no /proc on this system")
        return
    events = given.events or (EVENTS_QUICK if given.quick else EVENTS)
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        path = Path(folder) / "history.jsonl"
        written(path, events=events, seed=given.seed)
        ended = imported(path, Path(folder) / "data")
    told_in = quarters(ended.held)
    yield Row(
        scenario="importing",
        what=f"{events:,} events, resident MB by quarter of the time",
        ours=" / ".join(f"{one:,.0f}" for one in told_in)
        + f"; peak {max(one.megabytes for one in ended.held):,.0f}"
        + f"; {slope(ended.held):+,.0f} over the last three",
        ratio=f"{told_in[-1] / told_in[1]:.2f}",
        wanted=f"last <= {GROWTH_MAX} x second",
    )
    yield Row(
        scenario="importing",
        what=f"{events:,} events, imported and projected",
        ours=f"{events / ended.seconds:,.0f} events/s; "
        f"{1e6 * ended.cpu_seconds / events:,.0f} us of CPU an event",
    )


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--events", type=int)
    parser.add_argument("--folder", help="where the data is made; a temporary one by default")
    given = parser.parse_args()
    tell(rows(given), as_json=given.json)


if __name__ == "__main__":
    main()
