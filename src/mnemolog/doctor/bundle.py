"""What a maintainer needs to help, in one file: nothing that an agent said, and no secret.

versions.json    of the packages, Python, SQLite and the system
settings.json    each setting, where it came from, and its value without credentials
sizes.json       of the files below the tenant's folder
positions.json   the log's ends, and how far each projection is
findings.json    what doctor found, as far as it may leave the machine
errors.json      the last errors, without what they said
"""

import json
import platform
import sqlite3
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from mnemolog.doctor.finding import Finding
from mnemolog.doctor.packages import versions
from mnemolog.doctor.patient import Patient
from mnemolog.error_log import last_errors
from mnemolog.projections.generations import speaking_of_files
from mnemolog.schemas.errors import InvalidSetting, MnemologError
from mnemolog.settings import Settings
from mnemolog.sizes import sizes_below
from mnemolog.status import status

FILES_MAX: Final = 5_000  # sizes that are told one by one, the largest
NOT_SHOWN: Final = "<not shown>"
_SECRETS: Final = ("key", "password", "secret", "token", "credential")
_URLS: Final = ("log",)
_PATHS: Final = ("data", "blobs_folder")  # they may name a person


def write_bundle(path: Path, patient: Patient, findings: Sequence[Finding]) -> None:
    """Write the bundle at *path*.

    Raises InvalidSetting if something stands there, StoreUnavailable if the disk refuses.
    """
    if path.exists():
        raise InvalidSetting("bundle", str(path), "it is there already")
    with speaking_of_files(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(path, "x", compression=zipfile.ZIP_DEFLATED) as bundle:
            for name, content in _parts(patient, findings):
                bundle.writestr(f"{name}.json", json.dumps(content, indent=1, default=str))


def _parts(patient: Patient, findings: Sequence[Finding]) -> Iterator[tuple[str, Any]]:
    yield "versions", _versions()
    yield "settings", _settings(patient.settings)
    yield "sizes", _sizes(patient.folder)
    yield "positions", _positions(patient)
    yield "findings", [_finding(one) for one in findings]
    yield "errors", last_errors(patient.folder)


def _versions() -> Mapping[str, str]:
    return {
        **versions(),
        "python": sys.version.partition(" ")[0],
        "sqlite": sqlite3.sqlite_version,
        "system": platform.platform(),
    }


def _settings(settings: Settings) -> Mapping[str, Any]:
    return {
        one.name: {"value": _value(one.name, one.value), "origin": one.origin}
        for one in settings.found.values()
    }


def _value(name: str, value: str) -> str:
    """Return *value* as it may leave the machine."""
    if any(word in name for word in _SECRETS):
        return NOT_SHOWN if value else ""
    if name in _PATHS:
        return "<a path>" if value else ""
    return _without_credentials(value) if name in _URLS else value


def _without_credentials(url: str) -> str:
    if not url:
        return ""
    try:
        parts = urlsplit(url)
    except ValueError:
        return NOT_SHOWN
    if not parts.scheme or not parts.netloc:
        return NOT_SHOWN
    brokers = ",".join(broker.rpartition("@")[2] for broker in parts.netloc.split(","))
    return f"{parts.scheme}://{brokers}"


def _sizes(folder: Path) -> Mapping[str, Any]:
    found = sizes_below(folder) if folder.is_dir() else {}
    largest = sorted(found, key=lambda path: (-found[path], path))[:FILES_MAX]
    return {
        "files": len(found),
        "bytes": sum(found.values()),
        "largest": {str(path.relative_to(folder)): found[path] for path in largest},
    }


def _positions(patient: Patient) -> Mapping[str, Any]:
    if patient.engine is None:
        return {}
    try:
        found = status(patient.engine)
        starts = patient.engine.log.starts()
    except MnemologError as error:
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
    return {"check": one.check, "state": one.state, "detail": told}
