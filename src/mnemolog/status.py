"""How a tenant stands: its log, who keeps its projections, how far each of them is."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from mnemolog.engine import LEASE_FILE, Engine
from mnemolog.ledgers import applied, counts_in, index_upkeep, vectors_outstanding
from mnemolog.processing_status import ProcessorStanding, processor_standings
from mnemolog.projections.kinds import MEMORIES, NAMES
from mnemolog.projections.lease import look
from mnemolog.projections.memories.state_schema import INDEX_FOLDER
from mnemolog.projections.room import Room, Usage
from mnemolog.schemas.errors import Damaged, StoreUnavailable
from mnemolog.sizes import bytes_below
from mnemolog.streams.control import paused_by
from mnemolog.streams.dead_letters import trouble_in
from mnemolog.streams.opening import brokers_of

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Standing:
    """How one projection stands; positions are offsets by partition.

    `trouble` says why its store could not be read; then the numbers are those of nothing.
    """

    name: str
    generation: str | None
    applied: dict[int, int]
    behind: int  # records of the log that it has not applied
    parked: int
    foreign: int
    repeats: int
    bytes: int
    trouble: str | None = None


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
    """How a tenant stands at one moment; `warnings` are what an operator should look at.

    `owner` is the worker that owns a tenant on Kafka, wherever its folder is; None without one.
    """

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
    disk_used_percent: int
    warnings: tuple[str, ...]
    owner: str | None = None
    processors: tuple[ProcessorStanding, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)


def status(engine: Engine, *, group: str | None = None) -> Status:
    """Return how the tenant of *engine* stands, which workers of *group* may own."""
    ends = engine.log.ends()
    usage = engine.room.usage_of(engine.folder)
    projections = tuple(_standing(engine, name, ends) for name in NAMES)
    processors = processor_standings(engine, ends)
    return Status(
        tenant=engine.settings.tenant,
        folder=str(engine.folder),
        topic=engine.log.topic,
        partitions=engine.log.partitions,
        ends=ends,
        keeper="this process" if engine.is_owner else str(look(engine.folder / LEASE_FILE)),
        vectors_outstanding=_or_none(lambda: vectors_outstanding(engine)) or 0,
        projections=projections,
        index=_or_none(lambda: index_standing(engine)),
        disk_free_bytes=usage.free,
        disk_used_percent=round(100 * usage.share),
        warnings=(
            *disk_warnings(engine.room, usage),
            *_damages(projections),
            *_parked(projections),
            *_letters(engine),
            *_pauses(engine),
            *(f"{one.name}: {trouble}" for one in processors for trouble in one.troubles),
        ),
        processors=processors,
        owner=_or_none(lambda: _owner(engine, group)),
    )


def _owner(engine: Engine, group: str | None) -> str | None:
    if not engine.settings["log"]:
        return None
    from mnemolog.streams.kafka_tenants import (  # noqa: PLC0415 - slow to import
        GROUP,
        KafkaTenants,
    )

    with KafkaTenants(brokers_of(engine.settings["log"], engine.settings.security)) as brokers:
        members = brokers.members(group or GROUP)
    owners = (m for m in members if engine.log.topic in m.topics)
    return next((f"{owner.client} at {owner.host}" for owner in owners), None)


def disk_warnings(room: Room, usage: Usage) -> tuple[str, ...]:
    """Return what to say of a disk of this *usage*: nothing below the first mark of *room*."""
    if usage.share < room.warn_share:
        return ()
    used = f"{usage.share:.0%} of the disk is used"
    if usage.share < room.refuse_share:
        return (f"{used}: make room before {room.refuse_share:.0%}",)
    waits = "rebuilds, compaction and publishing wait for room"
    return (f"{used}: {waits}; appends go on as long as the log has any",)


def _parked(projections: tuple[Standing, ...]) -> list[str]:
    most = max(one.parked for one in projections)
    return [f"{most} events are parked: `mnemolog parked list`"] if most else []


def _damages(projections: tuple[Standing, ...]) -> list[str]:
    return [f"{one.name}: {one.trouble}" for one in projections if one.trouble is not None]


def _pauses(engine: Engine) -> list[str]:
    held = paused_by(engine.folder).items()
    return [
        f"paused since {since}, by way of {way}: `mnemolog control resume`" for way, since in held
    ]


def _letters(engine: Engine) -> list[str]:
    trouble = _or_none(lambda: trouble_in(engine.folder))
    return [] if trouble is None else [f"dead letters can't be copied: {trouble}"]


def _or_none(ask: Callable[[], T]) -> T | None:
    """Return what *ask* says, or None where a store can't be read: its projection tells why."""
    try:
        return ask()
    except (Damaged, StoreUnavailable):
        return None


def _standing(engine: Engine, name: str, ends: dict[int, int]) -> Standing:
    try:
        return _standing_of(engine, name, ends)
    except (Damaged, StoreUnavailable) as error:
        behind = sum(ends.values())
        return Standing(name, None, {}, behind, 0, 0, 0, 0, trouble=str(error))


def _standing_of(engine: Engine, name: str, ends: dict[int, int]) -> Standing:
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
        bytes=bytes_below(serving),
    )


def index_standing(engine: Engine) -> IndexStanding | None:
    """Return how the index of the serving memories stands, or None where there is none."""
    serving = engine.shelf.generations(MEMORIES).serving()
    if serving is None:
        return None
    kept = index_upkeep(engine)
    size = bytes_below(serving / INDEX_FOLDER)
    return IndexStanding(size, kept.live_bytes, kept.failures, kept.error)
