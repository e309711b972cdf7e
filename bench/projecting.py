"""How fast the projections follow a log: what a rebuild with cached vectors has to do.

    python bench/projecting.py --events 20000
    python bench/projecting.py --profile memories     # where its time goes

The log is in memory and the vectors of all memories are cached, so that neither a disk's log nor
a model is measured. Each projection is built alone, then all four in one pass as live work does;
reading the log without decoding stands beside it. Seconds are of the clock and of the CPU (all
threads): on a machine that others use too only the second tell two versions apart. The digests
tell whether they still say the same.
"""

import argparse
import cProfile
import hashlib
import pstats
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from work_history import told

from mnemolog.projections.batch import BATCH_RECORDS_MAX, decoded
from mnemolog.projections.digests import ContentDigest
from mnemolog.projections.kinds import NAMES, VECTORS_FILE, Kind, kinds
from mnemolog.projections.memories.embedders import embedder_named
from mnemolog.projections.memories.embedding import Embedder, Vector
from mnemolog.projections.memories.sqlite_vector_cache import SQLiteVectorCache
from mnemolog.projections.memories.vector_cache import vector_key
from mnemolog.projections.projection import Projection
from mnemolog.projections.shelf import Shelf
from mnemolog.projections.write_rule import form
from mnemolog.schemas.codec import Codec
from mnemolog.schemas.decoded import Ours
from mnemolog.schemas.policy import BUILT_IN
from mnemolog.schemas.records import LogRecord
from mnemolog.streams.memory_log import InMemoryLog
from mnemolog.streams.projecting import Projector

TENANT: Final = "bench"
SEED: Final = 20300101
APPENDED_AT_ONCE: Final = 1_000
FOLLOW_UP_SECONDS: Final = 1.0


class Bench:
    """A history in a log, and what is needed to project it."""

    def __init__(self, folder: Path, *, events: int, seed: int) -> None:
        self.codec = Codec(tenant=TENANT, partitions=1)
        self.log = _log(self.codec, events=events, seed=seed)
        self._embedder = embedder_named("hashing")  # its vectors are not asked for: all are cached
        self._kinds = kinds(embedder=self._embedder, tenant_folder=folder)
        self._shelf = Shelf(folder, TENANT, self.log.topic, 1)
        cached_vectors(self, self._embedder, folder / VECTORS_FILE)

    def records(self) -> Iterable[Sequence[LogRecord]]:
        """Yield the whole log in batches."""
        reader, end = self.log.reader({0: 0}), self.log.ends()[0]
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


def _log(codec: Codec, *, events: int, seed: int) -> InMemoryLog:
    log = InMemoryLog(TENANT)
    records = [codec.encode(event, envelope) for event, envelope in told(events=events, seed=seed)]
    for start in range(0, len(records), APPENDED_AT_ONCE):
        log.append(records[start : start + APPENDED_AT_ONCE])
    return log


def cached_vectors(bench: Bench, embedder: Embedder, path: Path) -> None:
    """Put a vector into the cache for each memory of the history."""
    cache = SQLiteVectorCache(path)
    for records in bench.records():
        items = [item for item in decoded(records, bench.codec).items if isinstance(item, Ours)]
        memories = [one for item in items for one in form(item.recorded, BUILT_IN).memories]
        keys = {vector_key(embedder.model_id, "memory", one.text) for one in memories}
        cache.put_many({key: _vector(key, embedder.dimensions) for key in keys})
    cache.close()


def _vector(key: str, dimensions: int) -> Vector:
    """Return some unit vector that follows from *key*."""
    seed = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8])
    vector = np.random.default_rng(seed).standard_normal(dimensions).astype(np.float32)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def measured(name: str, events: int, work: Callable[[], object]) -> float:
    """Run *work* and print its pace; return its events a second of the CPU."""
    clock, cpu = time.perf_counter(), time.process_time()
    work()
    clock, cpu = time.perf_counter() - clock, time.process_time() - cpu
    print(
        f"{name:<12} {events / clock:>10,.0f} {events / cpu:>10,.0f} {1e6 * cpu / events:>10.1f}",
        end="",
    )
    return events / cpu


def run(bench: Bench, *, events: int) -> None:
    print(f"{'':<12} {'events/s':>10} {'per CPU s':>10} {'CPU us':>10} {'of reading':>11}  digest")
    raw = measured("reading", events, lambda: list(bench.records()))
    print(f" {1:>11.4f}")
    for name, stage in (("decoding", _decode), ("forming", _form)):
        pace = measured(name, events, lambda stage=stage: stage(bench))
        print(f" {pace / raw:>11.4f}")
    for name, wanted in (*((one, [one]) for one in NAMES), ("all four", list(NAMES))):
        projections = bench.fresh(wanted)
        pace = measured(name, events, lambda projections=projections: bench.project(projections))
        digests = " ".join(ContentDigest.of(one.content()).hex[:8] for one in projections)
        print(f" {pace / raw:>11.4f}  {digests}")
        for one in projections:
            one.close()


def _decode(bench: Bench) -> None:
    for records in bench.records():
        decoded(records, bench.codec)


def _form(bench: Bench) -> None:
    """Decode and form."""
    for records in bench.records():
        for item in decoded(records, bench.codec).items:
            form(item.recorded, BUILT_IN)


def profiled(bench: Bench, names: Sequence[str], *, lines: int) -> None:
    """Print where the time of projecting *names* goes."""
    projections, profile = bench.fresh(names), cProfile.Profile()
    profile.runcall(bench.project, projections)
    pstats.Stats(profile).sort_stats("tottime").print_stats(lines)


def main() -> None:
    asked = _arguments()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), events=asked.events, seed=asked.seed)
        if asked.profile:
            profiled(bench, asked.profile, lines=asked.lines)
        else:
            run(bench, events=asked.events)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--profile", nargs="+", choices=NAMES, metavar="PROJECTION")
    parser.add_argument("--lines", type=int, default=40)
    return parser.parse_args()


if __name__ == "__main__":
    main()
