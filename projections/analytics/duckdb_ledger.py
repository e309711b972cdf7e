"""The ledger of a generation in its own DuckDB file, so that rows and progress move together.

No primary keys: what is new is found by an anti-join before anything is inserted.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import duckdb

from mnemolog.projections.analytics.arrow_rows import given
from mnemolog.projections.analytics.sql_files import sql
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
from mnemolog.schemas.positions import Position
from mnemolog.schemas.records import LogRecord
from mnemolog.schemas.times import microseconds

if TYPE_CHECKING:
    from mnemolog.projections.analytics.arrow_rows import Columns

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_RECORD: Final = "log_partition, log_offset, recorded_at, key, value, headers, reason"
_RECORD_TYPES: Final = {
    "log_partition": "int32",
    "log_offset": "int64",
    "recorded_at": "int64",
    "key": "binary",
    "value": "binary",
    "headers": "string",
    "reason": "string",
}
_PARKED_TYPES: Final = {
    **_RECORD_TYPES,
    **dict.fromkeys(("ordering_key", "identity", "event_type"), "string"),
    **dict.fromkeys(("newer", "behind"), "bool"),
}
_PROGRESS_TYPES: Final = {
    "log_partition": "int32",
    "last_applied": "int64",
    "fingerprint": "string",
}
_POLICY_TYPES: Final = {
    "log_partition": "int32",
    "revision": "int64",
    "policy": "string",
    "since": "int64",
}
_REPEAT_TYPES: Final = {
    "log_partition": "int32",
    "log_offset": "int64",
    "identity": "string",
    "content": "string",
}


def create_ledger(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the tables of an empty ledger in the database in use."""
    connection.execute(sql("create_ledger"))


class DuckDBLedger:
    """A ledger over a connection whose database has one; the caller holds the transaction."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def progress(self) -> dict[int, Progress]:
        """Return how far each partition has been applied."""
        return {row[0]: Progress(*row) for row in self._rows("SELECT * FROM ledger.progress")}

    def firsts(self) -> dict[int, Progress]:
        """Return the first record that was applied of each partition."""
        return {row[0]: Progress(*row) for row in self._rows("SELECT * FROM ledger.firsts")}

    def seen(self, identities: Sequence[str]) -> dict[str, str]:
        """Return the contents of those *identities* that were applied before."""
        if not identities:
            return {}
        with self._given({"identity": identities}, {"identity": "string"}):
            found = self._rows(
                "SELECT identity::VARCHAR, content::VARCHAR FROM ledger.seen"
                " WHERE identity IN (SELECT identity::UUID FROM given)"
            )
        return {identity.replace("-", ""): content.replace("-", "") for identity, content in found}

    def policies(self) -> dict[int, PolicyInForce]:
        """Return the policy in force at the end of each partition that has seen one."""
        partitions = self._rows("SELECT DISTINCT log_partition FROM ledger.policies")
        found = {p: self.policy_at(Position(p, OFFSET_MAX)) for (p,) in partitions}
        return {partition: policy for partition, policy in found.items() if policy is not None}

    def policy_at(self, position: Position) -> PolicyInForce | None:
        """Return the policy in force at *position*, or None where none was seen up to there."""
        found = self._rows(
            "SELECT revision, policy, since FROM ledger.policies"
            " WHERE log_partition = ? AND since <= ? ORDER BY revision DESC, since LIMIT 1",
            position,
        )
        return PolicyInForce.read(found[0]) if found else None

    def skips(self, identities: Iterable[str]) -> set[str]:
        """Return those *identities* that an operator said never to apply here."""
        said = {identity for (identity,) in self._rows("SELECT identity FROM ledger.skips")}
        return said.intersection(identities)  # few were said

    def parked_keys(self) -> set[str]:
        """Return the keys that have a parked event."""
        return {key for (key,) in self._rows("SELECT DISTINCT ordering_key FROM ledger.parked")}

    def parked(self) -> list[ParkedRecord]:
        """Return what is parked, by partition and offset."""
        rows = self._rows(
            f"SELECT {_RECORD}, ordering_key, identity, event_type, newer, behind"  # noqa: S608 - ours
            " FROM ledger.parked ORDER BY log_partition, log_offset"
        )
        return [
            ParkedRecord(
                _record(row), row[7], row[8], row[9], row[6], newer=row[10], behind=row[11]
            )
            for row in rows
        ]

    def parked_summaries(self, *, first_max: int, last_max: int) -> list[ParkedSummary]:
        """Return the first that are parked by their own fault, and the last parked, by position."""
        rows = self._rows(
            "SELECT log_partition, log_offset, ordering_key, identity, event_type, reason,"
            " newer, behind, recorded_at, CASE WHEN behind THEN 0 ELSE of_key - 1 END"
            " FROM ledger.parked JOIN (SELECT ordering_key AS of, count(*) AS of_key"
            "  FROM ledger.parked GROUP BY ALL) ON ordering_key = of"
            " WHERE (log_partition, log_offset) IN ("
            " (SELECT (log_partition, log_offset) FROM ledger.parked WHERE NOT behind"
            "  ORDER BY log_partition, log_offset LIMIT ?) UNION ALL"
            " (SELECT (log_partition, log_offset) FROM ledger.parked"
            "  ORDER BY recorded_at DESC, log_partition, log_offset DESC LIMIT ?)"
            ") ORDER BY log_partition, log_offset",
            [first_max, last_max],
        )
        return [
            replace(
                ParkedSummary(Position(row[0], row[1]), *row[2:8]),
                recorded_at=_moment(row[8]),
                waiting=row[9],
            )
            for row in rows
        ]

    def foreign(self, *, records_max: int) -> list[ForeignRecord]:
        """Return the first foreign records, by partition and offset."""
        rows = self._rows(
            f"SELECT {_RECORD} FROM ledger.foreign_records"  # noqa: S608 - ours
            " ORDER BY log_partition, log_offset LIMIT ?",
            [records_max],
        )
        return [ForeignRecord(_record(row), row[6]) for row in rows]

    def repeats(self, *, repeats_max: int) -> list[Repeat]:
        """Return the first repeats with other content, by partition and offset."""
        rows = self._rows(
            "SELECT identity, log_partition, log_offset, content FROM ledger.repeats"
            " ORDER BY log_partition, log_offset LIMIT ?",
            [repeats_max],
        )
        return [Repeat(row[0], Position(row[1], row[2]), row[3]) for row in rows]

    def counts(self) -> Mapping[str, int]:
        """Return how many records are parked, foreign and repeats, by these words."""
        [(parked, foreign, repeats)] = self._rows(
            "SELECT (SELECT count(*) FROM ledger.parked),"
            " (SELECT count(*) FROM ledger.foreign_records), (SELECT count(*) FROM ledger.repeats)"
        )
        return {"parked": parked, "foreign": foreign, "repeats": repeats}

    def record(self, entries: Entries) -> None:
        """Write *entries* in the caller's transaction."""
        self._add("firsts", map(_progress_row, entries.firsts.values()), _PROGRESS_TYPES)
        self._replace("progress", map(_progress_row, entries.progress.values()), _PROGRESS_TYPES)
        self._record_seen(entries.seen)
        policies = (
            (p, f.revision, f.policy.model_dump_json(), f.since) for p, f in entries.policies
        )
        self._add("policies", policies, _POLICY_TYPES, on="log_partition, since")
        skips = ((identity,) for identity in entries.skips)
        self._add("skips", skips, {"identity": "string"}, on="identity")
        self._record_exceptions(entries)

    def _record_seen(self, seen: Mapping[str, str]) -> None:
        if not seen:
            return
        columns = {"identity": list(seen), "content": list(seen.values())}
        with self._given(columns, dict.fromkeys(columns, "string")):
            self._connection.execute(
                "INSERT INTO ledger.seen SELECT * FROM"
                " (SELECT identity::UUID AS identity, content::UUID AS content FROM given)"
                " ANTI JOIN ledger.seen USING (identity)"
            )

    def _record_exceptions(self, entries: Entries) -> None:
        place = "log_partition, log_offset"
        repeats = ((*r.position, r.identity, r.content) for r in entries.repeats)
        self._add("repeats", repeats, _REPEAT_TYPES, on=place)
        foreign = ((*_record_row(f.record), f.reason) for f in entries.foreign)
        self._add("foreign_records", foreign, _RECORD_TYPES, on=place)
        if entries.released:
            partitions, offsets = zip(*entries.released, strict=True)
            columns = {"log_partition": partitions, "log_offset": offsets}
            with self._given(columns, {"log_partition": "int32", "log_offset": "int64"}):
                self._connection.execute(
                    "DELETE FROM ledger.parked"
                    " WHERE (log_partition, log_offset) IN (SELECT * FROM given)"
                )
        self._replace("parked", map(_parked_row, entries.parked), _PARKED_TYPES, on=place)

    def _replace(
        self,
        table: str,
        rows: Iterable[Sequence[Any]],
        types: Mapping[str, str],
        *,
        on: str = "log_partition",
    ) -> None:
        """Write *rows* in place of those that are the same in the columns *on*."""
        self._write(
            f"DELETE FROM ledger.{table} WHERE ({on}) IN (SELECT ({on}) FROM given);"  # noqa: S608 - ours
            f"INSERT INTO ledger.{table} SELECT * FROM given",
            rows,
            types,
        )

    def _add(
        self,
        table: str,
        rows: Iterable[Sequence[Any]],
        types: Mapping[str, str],
        *,
        on: str = "log_partition",
    ) -> None:
        """Write those *rows* that are the same as no other in the columns *on*."""
        self._write(
            f"INSERT INTO ledger.{table} SELECT * FROM given ANTI JOIN ledger.{table} USING ({on})",  # noqa: S608 - ours
            rows,
            types,
        )

    def _write(
        self, statements: str, rows: Iterable[Sequence[Any]], types: Mapping[str, str]
    ) -> None:
        every = list(rows)
        if not every:
            return
        columns = dict(zip(types, zip(*every, strict=True), strict=True))
        with self._given(columns, types):
            self._connection.execute(statements)

    def _given(self, columns: "Columns", types: Mapping[str, str]) -> Any:
        return given(self._connection, columns, types=types)

    def _rows(self, statement: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._connection.execute(statement, parameters).fetchall()


def _progress_row(progress: Progress) -> tuple[int, int, str]:
    return progress.partition, progress.last_applied, progress.fingerprint


def _record_row(record: LogRecord) -> tuple[Any, ...]:
    headers = json.dumps([[name, None if v is None else v.hex()] for name, v in record.headers])
    moment = microseconds(record.recorded_at)
    return record.partition, record.offset, moment, record.key, record.value, headers


def _parked_row(parked: ParkedRecord) -> tuple[Any, ...]:
    tail = (parked.key, parked.identity, parked.event_type, parked.newer, parked.behind)
    return (*_record_row(parked.record), parked.reason, *tail)


def _record(row: Sequence[Any]) -> LogRecord:
    headers = tuple(
        (name, None if value is None else bytes.fromhex(value))
        for name, value in json.loads(row[5])
    )
    return LogRecord(row[0], row[1], _moment(row[2]), row[3], row[4], headers)


def _moment(since_epoch: int) -> datetime:
    return _EPOCH + timedelta(microseconds=since_epoch)
