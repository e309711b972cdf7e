"""A folder as the doctor looks at it: what a check finds there, and what mending it does.

found = looked(data, log)          # of one check, or of several
mended(data, log)                  # runs what the findings offer; returns what is found then
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from mnemolog.doctor import Finding, Patient, admitted, mend
from mnemolog.settings import Settings


@contextmanager
def patient_at(data: Path, **more: Any) -> Iterator[Patient]:
    """Give the tenant in *data* to look at, with the hashing embedder."""
    settings = Settings.unchecked(data=str(data), **{"embedder": "hashing", **more})
    with admitted(settings) as patient:
        yield patient


def looked(data: Path, *checks: ModuleType, **more: Any) -> list[Finding]:
    """Return what *checks* find in *data*."""
    with patient_at(data, **more) as patient:
        return [finding for check in checks for finding in check.check(patient)]


def troubles(data: Path, *checks: ModuleType, **more: Any) -> list[Finding]:
    """Return what *checks* find in *data* that is not well."""
    return [finding for finding in looked(data, *checks, **more) if finding.state != "ok"]


def the_trouble(data: Path, *checks: ModuleType, **more: Any) -> Finding:
    """Return the one thing that is not well, which says what to do."""
    (finding,) = troubles(data, *checks, **more)
    assert finding.advice
    return finding


def mended(data: Path, *checks: ModuleType, **more: Any) -> list[str]:
    """Mend what *checks* find in *data*, which has to succeed; return what was told of it."""
    told: list[str] = []
    with patient_at(data, **more) as patient:
        findings = [finding for check in checks for finding in check.check(patient)]
        assert mend(findings, tell=told.append) == 0, told
    return told


def serving(data: Path, name: str) -> Path:
    """Return the folder of the serving generation of the projection *name*."""
    folder = data / "default" / name
    return folder / (folder / "CURRENT").read_text().strip()


def overwritten(path: Path, *, at: float = 0.5, count: int = 64) -> None:
    """Write other bytes over *count* of those of *path*, from the share *at* of it on."""
    content = bytearray(path.read_bytes())
    start = int(len(content) * at)
    content[start : start + count] = b"\xa5" * len(content[start : start + count])
    path.write_bytes(content)
