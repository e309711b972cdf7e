"""A generation of weights: where it lies, how it is made from records, and how it is read."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from mnemolog.projections.digests import ContentDigest
from mnemolog.projections.projection import Place
from mnemolog.projections.weights.projection import WeightsProjection
from mnemolog.projections.weights.reading import WeightReader
from mnemolog.schemas.records import LogRecord
from mnemolog.streams.log import topic_of
from support.histories import TENANT, batches


def place(folder: Path | str) -> Place:
    """Return the place of a generation in *folder*."""
    home = Path(folder)
    return Place(folder=home, tenant=TENANT, tenant_folder=home.parent, topic=topic_of(TENANT))


def projected(
    folder: Path | str, records: Sequence[LogRecord], *, partitions: int = 1, records_max: int = 3
) -> WeightsProjection:
    """Return the generation in *folder* after *records*, still open."""
    projection = WeightsProjection.open(place(folder))
    for batch in batches(records, records_max=records_max, partitions=partitions):
        projection.apply(batch)
    return projection


def digest(projection: WeightsProjection) -> str:
    """Return the content digest of *projection*."""
    return ContentDigest.of(projection.content()).hex


@contextmanager
def read(folder: Path | str) -> Iterator[WeightReader]:
    """Yield a reader of the generation in *folder*."""
    reader = WeightReader.open(Path(folder))
    try:
        yield reader
    finally:
        reader.close()
