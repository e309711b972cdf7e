"""A log that hands out its records as it likes, and a host that dies where it is told to.

Both keep to the contracts: order holds within a partition only, and what was appended before may
come again at any later time.
"""

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random

from mnemolog.projections import fault_points
from mnemolog.projections.kinds import Kind, kinds
from mnemolog.projections.memories.embedding import CheckedEmbedder, Embedder
from mnemolog.projections.memories.hashing_embedder import HashingModel
from mnemolog.projections.projection import Projection
from mnemolog.projections.shelf import Shelf
from mnemolog.replay.rebuilding import built
from mnemolog.schemas.positions import Position
from mnemolog.schemas.records import LogRecord, NewRecord
from mnemolog.streams.memory_log import InMemoryLog
from mnemolog.streams.projecting import Projector
from support.any_history import codec_of
from support.histories import TENANT

FOLLOW_UP_SECONDS = 1.0


class Died(BaseException):
    """The process is gone: nothing of it that handles ordinary errors runs."""


class WhimsicalLog(InMemoryLog):
    """An in-memory log that forgets whom it knows, and whose readers interleave at *chance*."""

    def __init__(self, *, partitions: int, chance: Random) -> None:
        super().__init__(TENANT, partitions=partitions)
        self._chance = chance

    def append(self, records: Sequence[NewRecord], **bound: float) -> list[Position]:
        """Append *records*, repeats too: as Kafka does once its window has passed."""
        self._known.clear()
        return super().append(records, **bound)

    def reader(self, start: Mapping[int, int]) -> "WhimsicalReader":
        return WhimsicalReader(self, start, self._chance)


class WhimsicalReader:
    """Reads any partition, any number of records at a time, in order within each."""

    def __init__(self, log: InMemoryLog, start: Mapping[int, int], chance: Random) -> None:
        self._log = log
        self._next = dict(start)
        self._chance = chance

    def poll(self, *, records_max: int, wait_seconds: float) -> list[LogRecord]:
        del wait_seconds  # what is there is there
        ends, found = self._log.ends(), []
        for _ in range(self._chance.randint(1, records_max)):
            waiting = sorted(p for p, offset in self._next.items() if offset < ends[p])
            if not waiting:
                break
            partition = self._chance.choice(waiting)
            record = self._log.at(Position(partition, self._next[partition]))
            assert record is not None
            found.append(record)
            self._next[partition] += 1
        return found

    def positions(self) -> Mapping[int, int]:
        return dict(self._next)

    def close(self) -> None:
        """Nothing is held."""


class Host:
    """A tenant's folder with the four projections, opened as the product opens them."""

    def __init__(self, folder: Path, log: InMemoryLog, *, embedder: Embedder | None = None) -> None:
        self.folder = folder
        self.log = log
        self._embedder = embedder or CheckedEmbedder(HashingModel())
        self.codec = codec_of(log.partitions)
        self.shelf = Shelf(folder, TENANT, log.topic, log.partitions)

    def kinds(self) -> dict[str, Kind]:
        return kinds(embedder=self._embedder, tenant_folder=self.folder)

    @contextmanager
    def projecting(self, *, records_max: int) -> Iterator[Projector]:
        """Yield a projector over the serving generations, started as after any opening."""
        projections = [self.shelf.open_serving(kind, epoch=1) for kind in self.kinds().values()]
        projector = Projector(self.log, self.codec, projections, records_max=records_max)
        try:
            projector.start()
            yield projector
        finally:
            projector.close()
            for projection in projections:
                projection.close()

    def project(self, *, records_max: int) -> None:
        """Bring all projections to the log's end and let them finish what comes after the rows."""
        with self.projecting(records_max=records_max) as projector:
            projector.catch_up(self.log.ends())
            for projection in projector.projections:
                settle(projection)

    def built(self, name: str, *, epoch: int) -> Projection:
        """Return a new generation, as a rebuild makes it, which does not serve."""
        made = built(
            self.kinds()[name],
            shelf=self.shelf,
            log=self.log,
            codec=self.codec,
            epoch=epoch,
            tell=lambda _: None,
        )
        return made.projection

    def dies(self, at: str, *, times: int, records_max: int) -> "Host":
        """Project; return the host as it is left if the point *at* is reached for the n-th time.

        That is the disk at this moment, under another name; all goes on from there.
        """
        left, reached = self.folder.with_name(f"{self.folder.name}+"), Counter[str]()

        def listener(point: str) -> None:
            reached.update([point])
            if point == at and reached[point] == times:
                shutil.copytree(self.folder, left)
                raise Died

        try:
            with fault_points.listening(listener):
                self.project(records_max=records_max)
        except Died:
            return Host(left, self.log)
        return self


def settle(projection: Projection) -> None:
    """Do all that comes after the rows."""
    while projection.follow_up(seconds_max=FOLLOW_UP_SECONDS):
        pass
