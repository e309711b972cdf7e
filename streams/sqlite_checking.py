"""Is every record of the embedded log there, and what was appended? Asked by `doctor`.

Nothing here changes a record. The one thing that can be mended is the index of identities, which
is written anew from the records.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from mnemolog.projections.sqlite_damage import is_undecodable
from mnemolog.schemas.errors import LogDamaged, LogUnavailable
from mnemolog.schemas.positions import Position
from mnemolog.streams.sqlite_errors import speaking_of
from mnemolog.streams.sqlite_file import INDEX, LogFile, transaction, unreadable_commits
from mnemolog.streams.sqlite_reader import start_of
from mnemolog.streams.sqlite_records import SELECTED, ReadRow, place_of, records_of
from mnemolog.streams.sqlite_wal import TORN_COMMITS_MAX

RECORDS_AT_ONCE: Final = 1_000
NAMED_MAX: Final = 10  # damaged records and faults of pages that are named
MEND_SECONDS_MAX: Final = 600.0  # how long mending waits for those who append


@dataclass
class LogDamage:
    """What is wrong with a log; nothing if all is empty.

    `records` are the first that are missing or are not what was appended, of `count`; `pages` is
    what SQLite says of its pages. `commits_lost` stand in the write-ahead log behind the record
    `readable_to`, where SQLite no longer reads them. With sound records and faults in pages only
    the index of identities is damaged, which `mend_index` writes anew.
    """

    records: list[Position] = field(default_factory=list)
    count: int = 0
    pages: list[str] = field(default_factory=list)
    commits_lost: int = 0
    readable_to: str = ""

    @property
    def is_of_the_index_alone(self) -> bool:
        """Whether all records are sound and something else is not."""
        return not self.count and bool(self.pages)

    def add(self, partition: int, offset: int) -> None:
        """Note a record that can't be read as it was appended."""
        self.count += 1
        if len(self.records) < NAMED_MAX:
            self.records.append(Position(partition, offset))


def damage_of(file: LogFile) -> LogDamage:
    """Read the whole log, and return what is wrong with it. Raises LogUnavailable, LogDamaged."""
    connection = file.connect()
    try:
        found = LogDamage()
        with speaking_of(file.path):
            for partition, end in connection.execute("SELECT partition, end FROM ends").fetchall():
                _look_at(connection, partition, end, found)
        found.pages = _page_faults(connection)
        with suppress(LogUnavailable):  # who may not write it can't tell, and drops nothing
            lost, end = unreadable_commits(file.path)
            if lost > TORN_COMMITS_MAX:
                found.commits_lost, found.readable_to = lost, end
        return found
    finally:
        connection.close()


def mend_index(file: LogFile) -> None:
    """Write the index of identities anew from the records.

    1. In one transaction: forget that there is an index, without walking its damaged pages as
       dropping it would, and make another.
    2. Write the file without the pages of the former one.

    A crash before 2 leaves pages that nobody uses. Raises LogDamaged if the index is still at
    fault, LogUnavailable if the disk has no room for the file once more.
    """
    connection = file.connect()
    try:
        with speaking_of(file.path):
            with transaction(connection, wait_seconds=MEND_SECONDS_MAX):  # 1
                connection.execute("PRAGMA writable_schema = ON")
                connection.execute("DELETE FROM sqlite_schema WHERE name = 'once'")
                connection.execute("PRAGMA writable_schema = RESET")
                connection.execute(INDEX)
            connection.execute("VACUUM")  # 2
        faults = _page_faults(connection)
        if faults:
            raise LogDamaged(str(file.path), faults[0])
    finally:
        connection.close()


def _look_at(connection: sqlite3.Connection, partition: int, end: int, found: LogDamage) -> None:
    """Note each offset of *partition* up to its *end* that does not hold what was appended."""
    wanted = start_of(connection, partition)
    while wanted < end:
        until = min(wanted + RECORDS_AT_ONCE, end)
        sound = set(_sound(connection, partition, wanted, until))
        for offset in range(wanted, until):
            if offset not in sound:
                found.add(partition, offset)
        wanted = until


def _sound(connection: sqlite3.Connection, partition: int, start: int, end: int) -> Iterator[int]:
    """Yield the sound offsets of a range; where pages can't be read, each is asked for alone."""
    try:
        rows = connection.execute(
            f"SELECT {SELECTED} FROM records WHERE place >= ? AND place < ?",  # noqa: S608 - ours
            (place_of(partition, start), place_of(partition, end)),
        ).fetchall()
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError) and not is_undecodable(error):
            raise
        rows = [row for offset in range(start, end) for row in _row(connection, partition, offset)]
    for row in rows:
        try:
            yield from (record.offset for record in records_of([row]))
        except (LogDamaged, ValueError, TypeError, AttributeError):
            continue


def _row(connection: sqlite3.Connection, partition: int, offset: int) -> list[ReadRow]:
    asked = f"SELECT {SELECTED} FROM records WHERE place = ?"  # noqa: S608 - ours
    try:
        return connection.execute(asked, (place_of(partition, offset),)).fetchall()
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError) and not is_undecodable(error):
            raise
        return []


def _page_faults(connection: sqlite3.Connection) -> list[str]:
    try:
        rows = connection.execute(f"PRAGMA integrity_check({NAMED_MAX})").fetchall()
    except sqlite3.DatabaseError as error:
        return [str(error)]
    return [str(said).replace("\n", " ") for (said,) in rows if said != "ok"]
