"""Which memories have their vector, which wait for one, and which can't have one, in SQLite."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from mnemolog.projections.memories.formed_json import formed_of
from mnemolog.projections.memories.state_schema import OUTSTANDING, THERE, UNEMBEDDABLE
from mnemolog.projections.sqlite_store import chunks, marks

SEQUENCE_BITS: Final = 40  # of a row's `seq`; the owner's epoch stands above them
_COUNTER: Final = (1 << SEQUENCE_BITS) - 1


class Waiting(NamedTuple):
    """A memory whose vector is outstanding."""

    id: str
    vector_key: str
    text: str


class Summary(NamedTuple):
    """What the state and the index have to agree on, row by row, in four exact numbers."""

    rows: int
    epochs: int
    counters: int
    vectors: int


class VectorState:
    """The vectors' bookkeeping over a connection with `STATE_SCHEMA`; writes need a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def waiting(self, *, memories_max: int) -> list[Waiting]:
        """Return the first memories whose vectors are outstanding, by the place of their events."""
        rows = self._connection.execute(
            "SELECT id, vector_key, formed FROM memories WHERE vector = 0"
            ' ORDER BY "offset", partition LIMIT ?',
            [memories_max],
        )
        return [Waiting(id_, key, formed_of(line).text) for id_, key, line in rows]

    def first_waiting(self) -> Mapping[int, int]:
        """Return the offset of the first event in each partition that waits for a vector."""
        rows = self._connection.execute(
            'SELECT partition, min("offset") FROM memories WHERE vector = 0 GROUP BY partition'
        )
        return dict(rows.fetchall())

    def is_outstanding(self) -> bool:
        """Say whether any vector is."""
        row = self._connection.execute("SELECT 1 FROM memories WHERE vector = 0 LIMIT 1")
        return row.fetchone() is not None

    def note_served(self, served: Iterable[tuple[str, int]], *, sequence: int) -> None:
        """Note that rows were written to the index under *sequence*, with what of a vector."""
        self._connection.executemany(
            "UPDATE memories SET seq = ?, vector = ? WHERE id = ?",
            ((sequence, vector, id_) for id_, vector in served),
        )

    def note_there(self, ids: Iterable[str]) -> None:
        """Note that the vectors of *ids* are in the index."""
        self._connection.executemany(
            f"UPDATE memories SET vector = {THERE} WHERE id = ?",  # noqa: S608 - ours
            ((id_,) for id_ in ids),
        )

    def note_unembeddable(self, reasons: Mapping[str, str]) -> None:
        """Note why memories will have no vector: they are not tried again."""
        self._connection.executemany(
            f"UPDATE memories SET vector = {UNEMBEDDABLE}, why_none = ? WHERE id = ?",  # noqa: S608
            ((reason, id_) for id_, reason in reasons.items()),
        )

    def dropped_keys(self) -> tuple[list[str], list[str]]:
        """Return the keys of forgotten memories: those nobody else has, and all of them."""
        every = self._connection.execute(
            "SELECT d.vector_key,"
            " EXISTS (SELECT 1 FROM memories m WHERE m.vector_key = d.vector_key)"
            " FROM dropped_vectors d"
        ).fetchall()
        return [key for key, in_use in every if not in_use], [key for key, _ in every]

    def note_dropped(self, keys: Iterable[str]) -> None:
        """Note that the cache no longer holds what only forgotten memories had."""
        self._connection.executemany(
            "DELETE FROM dropped_vectors WHERE vector_key = ?", ((key,) for key in keys)
        )

    def summary(self) -> Summary:
        """Return what the index has to agree with."""
        row = self._connection.execute(
            f"SELECT count(*), coalesce(sum(seq >> {SEQUENCE_BITS}), 0),"  # noqa: S608 - ours
            f" coalesce(sum(seq & {_COUNTER}), 0), coalesce(sum(vector = {THERE}), 0)"
            " FROM memories"
        )
        return Summary(*row.fetchone())

    def last_sequence(self) -> int:
        """Return the highest sequence that a row was written under."""
        row = self._connection.execute("SELECT coalesce(max(seq), 0) FROM memories")
        return int(row.fetchone()[0])

    def served(self) -> Iterator[tuple[str, int, bool]]:
        """Yield what the index has to hold: id, sequence, and whether the vector is there."""
        rows = self._connection.execute("SELECT id, seq, vector FROM memories")
        yield from ((id_, sequence, vector == THERE) for id_, sequence, vector in rows)

    def counts(self) -> Mapping[int, int]:
        """Return how many memories are in each state of their vector."""
        rows = self._connection.execute("SELECT vector, count(*) FROM memories GROUP BY vector")
        return {OUTSTANDING: 0, THERE: 0, UNEMBEDDABLE: 0} | dict(rows.fetchall())

    def reasons(self) -> Mapping[str, int]:
        """Return how many memories can have no vector, by the reason."""
        rows = self._connection.execute(
            f"SELECT why_none, count(*) FROM memories WHERE vector = {UNEMBEDDABLE}"  # noqa: S608
            " GROUP BY why_none ORDER BY why_none"
        )
        return dict(rows.fetchall())

    def with_vector(self, ids: Sequence[str]) -> set[str]:
        """Return those of *ids* whose vector is in the index."""
        found: set[str] = set()
        for run in chunks(ids):
            statement = f"SELECT id FROM memories WHERE vector = {THERE} AND id IN ({marks(run)})"  # noqa: S608
            found |= {id_ for (id_,) in self._connection.execute(statement, run)}
        return found
