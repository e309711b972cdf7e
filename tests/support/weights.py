"""A place for a generation of weights, and reading it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mnemolog.projections.projection import Place
from mnemolog.projections.weights.reading import WeightReader
from mnemolog.streams.log import topic_of
from support.histories import TENANT


def place(folder: Path | str) -> Place:
    """Return the place of a generation in *folder*."""
    home = Path(folder)
    return Place(folder=home, tenant=TENANT, tenant_folder=home.parent, topic=topic_of(TENANT))


@contextmanager
def read(folder: Path | str) -> Iterator[WeightReader]:
    """Yield a reader of the generation in *folder*."""
    reader = WeightReader.open(Path(folder))
    try:
        yield reader
    finally:
        reader.close()
