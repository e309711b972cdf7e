"""A log for tests of importers: import into it, and see what stands on it.

log = ImportLog()
report = log.take(tmp_path / "chat.json", agent="ops-1")
[said.recorded.event.text for said in log.of(MessageExchanged)]
"""

import json
from datetime import datetime
from pathlib import Path

from mnemolog.importers.base import START_DEFAULT, Options
from mnemolog.importers.importing import import_paths
from mnemolog.importers.report import ImportReport
from mnemolog.schemas.codec import Codec
from mnemolog.schemas.decoded import Ours
from mnemolog.schemas.events import Event
from mnemolog.streams.clock import system_clock
from mnemolog.streams.log import Log
from mnemolog.streams.memory_log import InMemoryLog
from mnemolog.streams.publishing import Publisher

TENANT = "tests"
RECORDS_MAX = 100_000


class ImportLog:
    """One log with its publisher."""

    def __init__(self, log: Log | None = None) -> None:
        self.log = log or InMemoryLog(TENANT)
        self._codec = Codec(tenant=TENANT, partitions=self.log.partitions)
        self.publisher = Publisher(self.log, self._codec, tenant=TENANT, now=system_clock)

    def take(
        self,
        *paths: str | Path,
        agent: str | None = None,
        user: str | None = None,
        project: str | None = None,
        start: str | datetime = START_DEFAULT,
        **how,
    ) -> ImportReport:
        """Import *paths*; *how* is what `import_paths` takes."""
        options = Options(agent=agent, user=user, project=project, start=start)
        return import_paths(paths, publisher=self.publisher, log=self.log, options=options, **how)

    def events(self) -> list[Ours]:
        """Return all events in the order of the log; there is nothing else on it."""
        reader = self.log.reader(self.log.starts())
        found: list[Ours] = []
        while records := reader.poll(records_max=RECORDS_MAX, wait_seconds=0):
            decoded = [self._codec.decode(record) for record in records]
            assert all(isinstance(event, Ours) for event in decoded)
            found += decoded
        return found

    def of(self, model: type[Event]) -> list[Ours]:
        """Return the events of one type."""
        return [found for found in self.events() if isinstance(found.recorded.event, model)]

    def types(self) -> list[str]:
        """Return the types of all events."""
        return [found.event_type for found in self.events()]

    def size(self) -> int:
        """Return how many records the log holds."""
        return sum(self.log.ends().values())


def json_file(folder: Path, value, *, name: str = "in.json") -> Path:
    """Write *value* as one JSON document and return its path."""
    path = folder / name
    path.write_text(json.dumps(value))
    return path


def lines_file(folder: Path, *lines: bytes | dict | list, name: str = "in.jsonl") -> Path:
    """Write *lines*, values as JSON and bytes as they are, each with a line feed."""
    path = folder / name
    written = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    path.write_bytes(b"".join(line + b"\n" for line in written))
    return path
