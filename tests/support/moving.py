"""Logs on their way: export one, import it into another, and look at what came.

lines = lines_of(log, codec)
report = moved(log, codec, into=ImportLog(InMemoryLog("tests", partitions=4)), folder=tmp_path)
"""

import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

from mnemolog.exporting import Wanted, export
from mnemolog.importers.report import ImportReport
from mnemolog.schemas.codec import Codec
from mnemolog.schemas.decoded import Decoded, Foreign
from mnemolog.schemas.foreign import unmarked
from mnemolog.streams.log import Log
from support.import_log import ImportLog

RECORDS_MAX = 10_000


def exported(log: Log, codec: Codec, **wanted: Any) -> bytes:
    """Return the export of *log* as bytes."""
    target = io.BytesIO()
    export(log, codec, target, wanted=Wanted(**wanted))
    return target.getvalue()


def lines_of(log: Log, codec: Codec, **wanted: Any) -> list[dict[str, Any]]:
    """Return the lines of an export between the first and the last."""
    lines = [json.loads(line) for line in exported(log, codec, **wanted).splitlines()]
    assert [lines[0]["type"], lines[-1]["type"]] == [
        "mnemolog.export.begun",
        "mnemolog.export.ended",
    ]
    assert lines[-1]["data"]["lines"] == len(lines) - 2
    return lines[1:-1]


def moved(log: Log, codec: Codec, *, into: ImportLog, folder: Path, **how: Any) -> ImportReport:
    """Import an export of *log* into another, which has to take everything."""
    path = folder / "moved.jsonl"
    path.write_bytes(exported(log, codec))
    report = into.take(path, **how)
    assert report.problems == []
    return report


def items_of(log: Log, codec: Codec) -> list[Decoded]:
    """Return all that *log* holds, decoded, partition after partition."""
    ends = log.ends()
    reader = log.reader(dict.fromkeys(ends, 0))
    found: list[Decoded] = []
    while any(reader.positions()[p] < end for p, end in ends.items()):
        found += map(codec.decode, reader.poll(records_max=RECORDS_MAX, wait_seconds=1))
    reader.close()
    return sorted(found, key=lambda item: item.record.position)


def foreign_of(log: Log, codec: Codec) -> Counter[tuple[object, ...]]:
    """Return what is foreign on *log*: bytes and reasons."""
    return Counter(
        (item.record.key, item.record.value, unmarked(item.record.headers), item.reason)
        for item in items_of(log, codec)
        if isinstance(item, Foreign)
    )
