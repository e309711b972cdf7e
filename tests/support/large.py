"""Texts that are too large for an event, and a memory on each log to keep them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mnemolog.memory import Memory
from mnemolog.streams.clock import system_clock
from mnemolog.streams.publishing import Appended
from support.remembering import opened

OUTPUT = "".join(f"line {n}: connection refused by db-7\n" for n in range(85_000))  # 3 MB
PNG = "data:image/png;base64," + "iVBORw0KGgo" * 380_000  # 4 MB
LOGS = ["memory", "sqlite", pytest.param("kafka", marks=pytest.mark.kafka)]


@contextmanager
def memory_on(request: pytest.FixtureRequest, folder: Path) -> Iterator[Memory]:
    """Yield a memory on the log that *request* names, one of `LOGS`."""
    log = None
    if request.param == "kafka":
        log = f"kafka://{request.getfixturevalue('kafka').bootstrap}"
    data = ":memory:" if request.param == "memory" else folder / "data"
    with opened(data, log=log, tenant=f"large {folder.name}", agent="ops-1") as memory:
        yield memory


def size_on_log(memory: Memory, appended: Appended) -> int:
    """Return how many bytes an event takes there."""
    record = memory.engine.log.at(appended.position)
    assert record is not None
    return len(record.value or b"")


def blob_file(memory: Memory, sha256: str) -> Path:
    """Return where a blob lies beside an embedded log."""
    return memory.engine.folder / "blobs" / sha256[:2] / sha256[2:]


def lose(memory: Memory, sha256: str) -> None:
    """Take a blob away that an event names, as nobody should."""
    assert memory.engine.blobs.discard(sha256, put_before=system_clock().replace(year=9999))
