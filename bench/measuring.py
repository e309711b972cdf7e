"""How scenarios measure and what they print: turns, medians, and rows of one table.

Whoever is compared runs in turns with us in one process, so that a machine that others use too
slows both. A ratio is the median over the pairs of a round, with the least and the greatest;
it tells how fast we are beside the peer: 1 is as fast, 0.5 takes twice as long.
"""

import argparse
import gc
import itertools
import json
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final, TypeVar

Item = TypeVar("Item")
SEED: Final = 20300101
OURS: Final = "ours"
PEER: Final = "peer"
COLUMNS: Final = ("scenario", "what", "ours", "peer", "ratio", "of CPU", "wanted")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A line of the table."""

    scenario: str
    what: str
    ours: str
    peer: str = ""
    ratio: str = ""
    cpu_ratio: str = ""
    wanted: str = ""

    def line(self) -> str:
        """Return it as a line of Markdown."""
        return cells(asdict(self).values())


@dataclass(frozen=True, slots=True)
class Sample:
    """What one piece of work took: of the clock, and of all CPUs for this process."""

    seconds: float
    cpu_seconds: float


def timed(work: Callable[[], object]) -> Sample:
    """Run *work* and return what it took."""
    clock, cpu = time.perf_counter(), time.process_time()
    work()
    return Sample(time.perf_counter() - clock, time.process_time() - cpu)


def nothing() -> None:
    """Do nothing."""


def in_turns(
    works: Mapping[str, Callable[[int], object]],
    *,
    rounds: int,
    before: Callable[[], object] = nothing,
) -> dict[str, list[Sample]]:
    """Run each of *works* once a round, forwards and backwards by turns, with the round's number.

    A round before the first one warms up and is not counted; its number is 0. *before* is called
    before each piece of work, and not counted either. What is there by now is taken out of the
    garbage collector's sight: it belongs to the bench, not to the work.
    """
    for work in works.values():
        work(0)
    gc.collect()
    gc.freeze()
    samples: dict[str, list[Sample]] = {name: [] for name in works}
    for number in range(1, rounds + 1):
        names = list(works) if number % 2 else list(reversed(works))
        for name in names:
            before()
            samples[name].append(timed(lambda name=name, n=number: works[name](n)))
    gc.unfreeze()
    return samples


def batched(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield *items* in lists of *size*; the last one may be shorter."""
    rest = iter(items)
    while batch := list(itertools.islice(rest, size)):
        yield batch


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value that *share* of all do not exceed."""
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def seconds(samples: Iterable[Sample]) -> list[float]:
    return [sample.seconds for sample in samples]


def ratios(samples: Mapping[str, Sequence[Sample]]) -> tuple[str, str]:
    """Return how fast we are beside the peer, of the clock and of the CPU."""
    pairs = list(zip(samples[OURS], samples[PEER], strict=True))
    return (
        spread([peer.seconds / ours.seconds for ours, peer in pairs]),
        spread([peer.cpu_seconds / max(ours.cpu_seconds, 1e-9) for ours, peer in pairs]),
    )


def spread(values: Sequence[float], form: str | None = None) -> str:
    """Return the median, and the least and the greatest in brackets."""
    middle = statistics.median(values)
    form = form or (".2f" if middle >= 0.1 else ".3f")
    return f"{middle:{form}} ({min(values):{form}}-{max(values):{form}})"


def pace(samples: Sequence[Sample], *, events: int) -> str:
    """Return events a second, by the median, the slowest and the fastest run."""
    return spread([events / sample.seconds for sample in samples], ",.0f") + " events/s"


def latency(samples: Sequence[Sample]) -> str:
    """Return three quantiles in milliseconds."""
    told = (f"{1000 * quantile(seconds(samples), share):,.2f}" for share in (0.5, 0.95, 0.99))
    return f"p50/p95/p99 {' / '.join(told)} ms"


def milliseconds(samples: Sequence[Sample]) -> str:
    """Return two quantiles in milliseconds."""
    told = (f"{1000 * quantile(seconds(samples), share):,.1f}" for share in (0.5, 0.95))
    return f"p50/p95 {' / '.join(told)} ms"


def table(rows: Iterable[Row]) -> str:
    """Return *rows* as a table of Markdown."""
    head = [cells(COLUMNS), cells(["---"] * len(COLUMNS))]
    return "\n".join([*head, *(row.line() for row in rows)])


def cells(texts: Iterable[str]) -> str:
    return f"| {' | '.join(texts)} |"


def arguments(doc: str | None) -> argparse.ArgumentParser:
    """Return what all scenarios take."""
    description = (doc or "").split("\n", maxsplit=1)[0]
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="less of everything: a rough figure")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--json", action="store_true", help="print a line of JSON for each row")
    return parser


def tell(rows: Iterable[Row], *, as_json: bool) -> None:
    """Print *rows* as the caller asked for them."""
    if not as_json:
        print(table(rows))
        return
    for row in rows:
        print(json.dumps(asdict(row), ensure_ascii=False), flush=True)
