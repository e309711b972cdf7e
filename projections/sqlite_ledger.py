"""The ledger of a generation in a SQLite file: with the rows themselves, or beside them."""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from mnemolog.projections.ledger import (
    OFFSET_MAX,
    Entries,
    ForeignRecord,
    ParkedRecord,
    ParkedSummary,
    PolicyInForce,
    Repeat,
)
from mnemolog.projections.progress import Progress
from mnemolog.projections.sqlite_store import chunks, marks
from mnemolog.schemas.positions import Position
from mnemolog.schemas.records import LogRecord
from mnemolog.schemas.times import microseconds

LEDGER_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS progress (
    partition INTEGER PRIMARY KEY, last_applied INTEGER NOT NULL, fingerprint TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS firsts (
    partition INTEGER PRIMARY KEY, last_applied INTEGER NOT NULL, fingerprint TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS seen (
    identity BLOB PRIMARY KEY, content BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS policies (
    partition INTEGER, revision INTEGER NOT NULL, policy TEXT NOT NULL, since INTEGER,
    PRIMARY KEY (partition, since));
CREATE TABLE IF NOT EXISTS skips (identity TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS repeats (
    partition INTEGER, "offset" INTEGER, identity TEXT NOT NULL, content TEXT NOT NULL,
    PRIMARY KEY (partition, "offset"));
CREATE TABLE IF NOT EXISTS foreign_records (
    partition INTEGER, "offset" INTEGER, recorded_at INTEGER NOT NULL, key BLOB, value BLOB,
    headers TEXT NOT NULL, reason TEXT NOT NULL, PRIMARY KEY (partition, "offset"));
CREATE TABLE IF NOT EXISTS parked (
    partition INTEGER, "offset" INTEGER, recorded_at INTEGER NOT NULL, key BLOB, value BLOB,
    headers TEXT NOT NULL, reason TEXT NOT NULL, ordering_key TEXT NOT NULL,
    identity TEXT NOT NULL, event_type TEXT NOT NULL, newer INTEGER NOT NULL,
    behind INTEGER NOT NULL, PRIMARY KEY (partition, "offset"));
"""

FIRST: Final = Position(-1, -1)  # before all places
_RECORD: Final = 'partition, "offset", recorded_at, key, value, headers, reason'
_PARKED: Final = f"{_RECORD}, ordering_key, identity, event_type, newer, behind"
_SUMMARY: Final = 'partition, "offset", ordering_key, identity, event_type, reason, newer, behind'
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class SQLiteLedger:
    """A ledger over a connection that has `LEDGER_SCHEMA`; the caller holds the transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def progress(self) -> dict[int, Progress]:
        """Return how far each partition has been applied."""
        return self._progress_in("progress")

    def firsts(self) -> dict[int, Progress]:
        """Return the first record that was applied of each partition."""
        return self._progress_in("firsts")

    def _progress_in(self, table: str) -> dict[int, Progress]:
        rows = self._connection.execute(
            f"SELECT partition, last_applied, fingerprint FROM {table}"  # noqa: S608 - ours
        )
        return {row[0]: Progress(*row) for row in rows}

    def seen(self, identities: Sequence[str]) -> dict[str, str]:
        """Return the contents of those *identities* that were applied before."""
        found: dict[str, str] = {}
        for run in chunks([bytes.fromhex(identity) for identity in identities]):
            rows = self._connection.execute(
                f"SELECT identity, content FROM seen WHERE identity IN ({marks(run)})",  # noqa: S608
                run,
            )
            found.update({identity.hex(): content.hex() for identity, content in rows})
        return found

    def policies(self) -> dict[int, PolicyInForce]:
        """Return the policy in force at the end of each partition that has seen one."""
        partitions = self._connection.execute("SELECT DISTINCT partition FROM policies")
        found = {p: self.policy_at(Position(p, OFFSET_MAX)) for (p,) in partitions.fetchall()}
        return {partition: policy for partition, policy in found.items() if policy is not None}

    def policy_at(self, position: Position) -> PolicyInForce | None:
        """Return the policy in force at *position*, or None where none was seen up to there."""
        row = self._connection.execute(
            "SELECT revision, policy, since FROM policies WHERE partition = ? AND since <= ?"
            " ORDER BY revision DESC, since LIMIT 1",
            position,
        ).fetchone()
        return None if row is None else PolicyInForce.read(row)

    def skips(self, identities: Iterable[str]) -> set[str]:
        """Return those *identities* that an operator said never to apply here."""
        rows = self._connection.execute("SELECT identity FROM skips")  # few: each by hand
        return {identity for (identity,) in rows}.intersection(identities)

    def parked_keys(self) -> set[str]:
        """Return the keys that have a parked event."""
        rows = self._connection.execute("SELECT DISTINCT ordering_key FROM parked")
        return {key for (key,) in rows}

    def parked(self) -> list[ParkedRecord]:
        """Return what is parked, by partition and offset."""
        rows = self._connection.execute(
            f'SELECT {_PARKED} FROM parked ORDER BY partition, "offset"'  # noqa: S608 - ours
        )
        return [_parked(row) for row in rows]

    def whole(self, position: Position) -> ParkedRecord | None:
        """Return what is parked at *position*, or None."""
        row = self._connection.execute(
            f'SELECT {_PARKED} FROM parked WHERE partition = ? AND "offset" = ?',  # noqa: S608 - ours
            position,
        ).fetchone()
        return None if row is None else _parked(row)

    def parked_at(self, positions: Iterable[Position]) -> list[ParkedSummary]:
        """Return what is parked at one of *positions*; what else is parked is not looked at."""
        if self._connection.execute("SELECT 1 FROM parked LIMIT 1").fetchone() is None:
            return []
        statement = f'SELECT {_SUMMARY} FROM parked WHERE partition = ? AND "offset" = ?'  # noqa: S608 - ours
        return [
            _summary(row)
            for position in positions
            for row in self._connection.execute(statement, position)
        ]

    def first_parked(self, *, events_max: int) -> list[ParkedSummary]:
        """Return the first that are parked by their own fault, by partition and offset."""
        rows = self._connection.execute(
            f"SELECT {_SUMMARY} FROM parked WHERE NOT behind"  # noqa: S608 - ours
            ' ORDER BY partition, "offset" LIMIT ?',
            [events_max],
        )
        return [_summary(row) for row in rows]

    def foreign(self, *, records_max: int, after: Position = FIRST) -> list[ForeignRecord]:
        """Return the first foreign records behind *after*, by partition and offset."""
        rows = self._connection.execute(
            f'SELECT {_RECORD} FROM foreign_records WHERE (partition, "offset") > (?, ?)'  # noqa: S608
            ' ORDER BY partition, "offset" LIMIT ?',
            (*after, records_max),
        )
        return [ForeignRecord(_record(row), row[6]) for row in rows]

    def repeats(self, *, repeats_max: int) -> list[Repeat]:
        """Return the first repeats with other content, by partition and offset."""
        rows = self._connection.execute(
            'SELECT identity, partition, "offset", content FROM repeats'
            ' ORDER BY partition, "offset" LIMIT ?',
            [repeats_max],
        )
        return [Repeat(row[0], Position(row[1], row[2]), row[3]) for row in rows]

    def counts(self) -> Mapping[str, int]:
        """Return how many records are parked, foreign and repeats, by these words."""
        tables = {"parked": "parked", "foreign": "foreign_records", "repeats": "repeats"}
        return {
            word: self._connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608
            for word, table in tables.items()
        }

    def record(self, entries: Entries) -> None:
        """Write *entries* in the caller's transaction."""
        self._many(
            "INSERT OR IGNORE INTO firsts VALUES (?,?,?)",
            map(_progress_row, entries.firsts.values()),
        )
        self._many(
            "INSERT OR REPLACE INTO progress VALUES (?,?,?)",
            map(_progress_row, entries.progress.values()),
        )
        self._many(
            "INSERT OR IGNORE INTO seen VALUES (?,?)",
            ((bytes.fromhex(i), bytes.fromhex(content)) for i, content in entries.seen.items()),
        )
        self._many(
            "INSERT OR IGNORE INTO policies VALUES (?,?,?,?)",
            ((p, f.revision, f.policy.model_dump_json(), f.since) for p, f in entries.policies),
        )
        self._many("INSERT OR IGNORE INTO skips VALUES (?)", ((i,) for i in entries.skips))
        self._record_exceptions(entries)

    def _record_exceptions(self, entries: Entries) -> None:
        self._many(
            "INSERT OR IGNORE INTO repeats VALUES (?,?,?,?)",
            ((*r.position, r.identity, r.content) for r in entries.repeats),
        )
        self._many(
            "INSERT OR IGNORE INTO foreign_records VALUES (?,?,?,?,?,?,?)",
            ((*_record_row(f.record), f.reason) for f in entries.foreign),
        )
        self._many('DELETE FROM parked WHERE partition = ? AND "offset" = ?', entries.released)
        self._many(
            "INSERT OR REPLACE INTO parked VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
            (
                (
                    *_record_row(p.record),
                    p.reason,
                    p.key,
                    p.identity,
                    p.event_type,
                    p.newer,
                    p.behind,
                )
                for p in entries.parked
            ),
        )

    def _many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        self._connection.executemany(statement, rows)


def _progress_row(progress: Progress) -> tuple[int, int, str]:
    return progress.partition, progress.last_applied, progress.fingerprint


def _record_row(record: LogRecord) -> tuple[Any, ...]:
    headers = json.dumps([[name, None if v is None else v.hex()] for name, v in record.headers])
    moment = microseconds(record.recorded_at)
    return record.partition, record.offset, moment, record.key, record.value, headers


def _parked(row: Sequence[Any]) -> ParkedRecord:
    key, identity, event_type, newer, behind = row[7:]
    return ParkedRecord(
        _record(row), key, identity, event_type, row[6], newer=bool(newer), behind=bool(behind)
    )


def _summary(row: Sequence[Any]) -> ParkedSummary:
    partition, offset, key, identity, event_type, reason, newer, behind = row
    position = Position(partition, offset)
    return ParkedSummary(
        position, key, identity, event_type, reason, newer=bool(newer), behind=bool(behind)
    )


def _record(row: Sequence[Any]) -> LogRecord:
    headers = tuple(
        (name, None if value is None else bytes.fromhex(value))
        for name, value in json.loads(row[5])
    )
    recorded_at = _EPOCH + timedelta(microseconds=row[2])
    return LogRecord(row[0], row[1], recorded_at, row[3], row[4], headers)
