"""How fast the projections follow a log: what a rebuild with cached vectors has to do.

    python bench/projecting.py
    python bench/projecting.py --events 20000 --profile memories     # where its time goes

The log is an embedded one, and the vectors of all memories are cached: no model is measured. Each
projection is built alone, then all four in one pass as live work does; reading the same log
without decoding stands beside each, before and after it. Two versions of a fold are compared by
CPU seconds: on a machine that others use too the clock tells of the others. The digests tell
whether they still say the same.
"""

import argparse
import cProfile
import itertools
import pstats
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final

from filling import fill
from measuring import OURS, PEER, Row, Sample, arguments, ratios, tell, timed

from mnemolog.projections.batch import BATCH_RECORDS_MAX, decoded
from mnemolog.projections.digests import ContentDigest
from mnemolog.projections.kinds import NAMES, VECTORS_FILE, Kind, kinds
from mnemolog.projections.memories.embedders import embedder_named
from mnemolog.projections.memories.sqlite_vector_cache import SQLiteVectorCache
from mnemolog.projections.projection import Projection
from mnemolog.projections.shelf import Shelf
from mnemolog.projections.write_rule import form
from mnemolog.schemas.codec import Codec
from mnemolog.schemas.policy import BUILT_IN
from mnemolog.schemas.records import LogRecord
from mnemolog.streams.projecting import Projector
from mnemolog.streams.sqlite_log import SQLiteLog

TENANT: Final = "bench"
EVENTS: Final = 200_000
EVENTS_QUICK: Final = 10_000
FOLLOW_UP_SECONDS: Final = 1.0

Stage = Callable[[], object]


class Bench:
    """A history in a log, and what is needed to project it."""

    def __init__(self, folder: Path, stack: ExitStack, *, events: int, seed: int) -> None:
        self.codec = Codec(tenant=TENANT, partitions=1)
        log = SQLiteLog.open(folder / "log.db", tenant=TENANT)
        self.log = stack.enter_context(closing(log))
        embedder = embedder_named("hashing")  # its vectors are not asked for: all are cached
        self._kinds = kinds(embedder=embedder, tenant_folder=folder)
        self._shelf = Shelf(folder, TENANT, self.log.topic, 1)
        with closing(SQLiteVectorCache(folder / VECTORS_FILE)) as cache:
            fill(self.log, self.codec, cache, embedder, seed=seed, events=events)

    def records(self) -> Iterable[Sequence[LogRecord]]:
        """Yield the whole log in batches."""
        with closing(self.log.reader({0: 0})) as reader:
            end = self.log.ends()[0]
            while reader.positions()[0] < end:
                yield reader.poll(records_max=BATCH_RECORDS_MAX, wait_seconds=0)

    def fresh(self, names: Sequence[str]) -> list[Projection]:
        """Return new, empty generations of *names*."""
        return [self._opened(self._kinds[name]) for name in names]

    def _opened(self, kind: Kind) -> Projection:
        return kind.open(self._shelf.place(self._shelf.create(kind), epoch=1))

    def project(self, projections: list[Projection]) -> None:
        """Fold the whole log and do all that comes after the rows."""
        projector = Projector(self.log, self.codec, projections, records_max=BATCH_RECORDS_MAX)
        projector.catch_up(self.log.ends())
        more = True
        while more:
            left = [one.follow_up(seconds_max=FOLLOW_UP_SECONDS) for one in projections]
            more = any(left)

    def read(self) -> None:
        for _ in self.records():
            pass

    def decode(self) -> None:
        for records in self.records():
            decoded(records, self.codec)

    def form(self) -> None:
        """Decode and form."""
        for records in self.records():
            for item in decoded(records, self.codec).items:
                form(item.recorded, BUILT_IN)


def rows(bench: Bench, *, events: int, stages: Sequence[str]) -> Iterator[Row]:
    """Yield a row for each stage, and one for each projection and for all of them."""
    reading = timed(bench.read)
    for name in stages:
        projections = [] if name in STAGES else bench.fresh(PROJECTED[name])
        ours = timed(lambda name=name, made=projections: _work(bench, name, made))
        digests = " ".join(ContentDigest.of(one.content()).hex[:8] for one in projections)
        for one in projections:
            one.close()
        before, reading = reading, timed(bench.read)
        yield _row(name, ours, [before, reading], events=events, digests=digests)


STAGES: Final = {"decoding": Bench.decode, "decoding and forming": Bench.form}
PROJECTED: Final = {**{name: [name] for name in NAMES}, "all four": list(NAMES)}


def _work(bench: Bench, name: str, projections: list[Projection]) -> None:
    if name in STAGES:
        STAGES[name](bench)
    else:
        bench.project(projections)


def _row(name: str, ours: Sample, around: Sequence[Sample], *, events: int, digests: str) -> Row:
    clock, cpu = ratios({OURS: [ours] * len(around), PEER: around})
    return Row(
        scenario="projecting",
        what=f"{name}, {events:,} events" + (f" ({digests})" if digests else ""),
        ours=f"{_pace(ours.seconds, events)}; of CPU {_pace(ours.cpu_seconds, events)}, "
        f"{1e6 * ours.cpu_seconds / events:,.0f} us an event",
        peer=f"reading: {_pace(min(one.seconds for one in around), events)}",
        ratio=clock,
        cpu_ratio=cpu,
    )


def _pace(seconds: float, events: int) -> str:
    return f"{events / seconds:,.0f} events/s"


def profiled(bench: Bench, names: Sequence[str], *, lines: int) -> None:
    """Print where the time of projecting *names* goes."""
    projections, profile = bench.fresh(names), cProfile.Profile()
    profile.runcall(bench.project, projections)
    pstats.Stats(profile).sort_stats("tottime").print_stats(lines)


def main() -> None:
    given = _given()
    events = given.events or (EVENTS_QUICK if given.quick else EVENTS)
    with tempfile.TemporaryDirectory(dir=given.folder) as folder, ExitStack() as stack:
        bench = Bench(Path(folder), stack, events=events, seed=given.seed)
        if given.profile:
            profiled(bench, given.profile, lines=given.lines)
        else:
            tell(rows(bench, events=events, stages=given.only), as_json=given.json)


def _given() -> argparse.Namespace:
    every = tuple(itertools.chain(STAGES, PROJECTED))
    parser = arguments(__doc__)
    parser.add_argument("--events", type=int)
    parser.add_argument("--only", nargs="+", choices=every, default=every)
    parser.add_argument("--profile", nargs="+", choices=NAMES, metavar="PROJECTION")
    parser.add_argument("--lines", type=int, default=40)
    parser.add_argument("--folder", help="where the data is made; a temporary one by default")
    return parser.parse_args()


if __name__ == "__main__":
    main()
