"""How a tenant stands: its log, who keeps its projections, how far each of them is."""

import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mnemolog.engine import LEASE_FILE, Engine
from mnemolog.ledgers import applied, counts_in, index_upkeep, vectors_outstanding
from mnemolog.projections.kinds import MEMORIES, NAMES
from mnemolog.projections.lease import holder
from mnemolog.projections.memories.state_schema import INDEX_FOLDER


@dataclass(frozen=True, slots=True)
class Standing:
    """How one projection stands; positions are offsets by partition."""

    name: str
    generation: str | None
    applied: dict[int, int]
    behind: int  # records of the log that it has not applied
    parked: int
    foreign: int
    repeats: int
    bytes: int


@dataclass(frozen=True, slots=True)
class IndexStanding:
    """How the memories' index stands: its bytes on disk, and those of the rows that it serves.

    `failures` counts the maintenance runs that failed in a row; `error` is the last one's.
    """

    bytes: int
    live_bytes: int
    failures: int
    error: str | None


@dataclass(frozen=True, slots=True)
class Status:
    """How a tenant stands at one moment."""

    tenant: str
    folder: str
    topic: str
    partitions: int
    ends: dict[int, int]
    keeper: str
    vectors_outstanding: int
    projections: tuple[Standing, ...]
    index: IndexStanding | None
    disk_free_bytes: int

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)


def status(engine: Engine) -> Status:
    """Return how the tenant of *engine* stands."""
    ends = engine.log.ends()
    return Status(
        tenant=engine.settings.tenant,
        folder=str(engine.folder),
        topic=engine.log.topic,
        partitions=engine.log.partitions,
        ends=ends,
        keeper="this process" if engine.is_owner else holder(engine.folder / LEASE_FILE),
        vectors_outstanding=vectors_outstanding(engine),
        projections=tuple(_standing(engine, name, ends) for name in NAMES),
        index=index_standing(engine),
        disk_free_bytes=shutil.disk_usage(_existing(engine.folder)).free,
    )


def _standing(engine: Engine, name: str, ends: dict[int, int]) -> Standing:
    serving = engine.shelf.generations(name).serving()
    last = dict(applied(engine, name))
    counts = counts_in(engine, name)
    return Standing(
        name=name,
        generation=None if serving is None else serving.name,
        applied=last,
        behind=sum(max(0, end - 1 - last.get(p, -1)) for p, end in ends.items()),
        parked=counts.get("parked", 0),
        foreign=counts.get("foreign", 0),
        repeats=counts.get("repeats", 0),
        bytes=_bytes_below(serving),
    )


def index_standing(engine: Engine) -> IndexStanding | None:
    """Return how the index of the serving memories stands, or None where there is none."""
    serving = engine.shelf.generations(MEMORIES).serving()
    if serving is None:
        return None
    kept = index_upkeep(engine)
    size = _bytes_below(serving / INDEX_FOLDER)
    return IndexStanding(size, kept.live_bytes, kept.failures, kept.error)


def _bytes_below(folder: Path | None) -> int:
    if folder is None:
        return 0
    sizes = 0
    for path in folder.rglob("*"):
        try:
            sizes += path.stat().st_size if path.is_file() else 0
        except FileNotFoundError:
            continue  # compacted away since it was listed
    return sizes


def _existing(folder: Path) -> Path:
    return folder if folder.exists() else _existing(folder.parent)
