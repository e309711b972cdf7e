"""What a forget takes away, by when, and what it leaves.

`memory.forgotten` names memories by id, events by identity, and texts. At once, in the transaction
that applies it, and for ever, in whichever order the events come:

- a named memory goes from `memories`. The words of the event that formed it are erased wherever
  they stand, and so are those of events that summarise, replace, link or otherwise change it.
- the words of a named event are erased, and every memory that it formed goes, with its own.
- a named text, compared as `schemas.text.normalised` gives it, forgets each event that says it
  and each memory that has it, as if their ids had been named.

Erased means: null, and `forgotten` is true; ids, names, tags, numbers and times stay. Other
memories of the same event stay: they were not named. The forgetting event's own copy of the texts
is never written. The published files follow at the next publish, which a forget triggers. Blocks
that DuckDB has freed hold the old words until it writes there again; the live file is the owner's
only, and a rebuild makes one without them. What stays for ever is the SHA-256 of texts.

Law: a forgotten row never comes back; the same events in any order leave the same rows.
"""

import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

import duckdb

from mnemolog.projections.analytics.arrow_rows import given
from mnemolog.projections.analytics.inserts import added
from mnemolog.projections.analytics.sql_files import sql
from mnemolog.projections.formed_memory import FormedMemory
from mnemolog.projections.said import forgotten_by, said_by
from mnemolog.schemas.decoded import Guest, Ours
from mnemolog.schemas.envelope import RecordedEvent
from mnemolog.schemas.events.memory import MemoryForgotten
from mnemolog.schemas.text import normalised

Connection = duckdb.DuckDBPyConnection

_TEXT_TYPES: Final = {"text_hash": "string", "identity": "string", "memory": "string"}
_FORGET_TYPES: Final = dict.fromkeys(("kind", "memory", "identity", "text_hash"), "string")


def text_hash(text: str) -> str:
    """Return 32 hexadecimal digits; texts that a person can't tell apart share them."""
    return hashlib.sha256(normalised(text).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def note_texts(
    connection: Connection, items: Sequence[Ours | Guest], memories: Sequence[FormedMemory]
) -> None:
    """Keep the hashes by which *items* and *memories* can be forgotten later."""
    hashed = cache(text_hash)  # a memory often says what its event says
    rows: list[tuple[str, str, str | None]] = [
        (hashed(text), item.identity, None)
        for item in items
        if isinstance(item, Ours)
        for text in said_by(item.recorded)
    ]
    rows += [(hashed(memory.text), memory.identity, memory.id) for memory in memories]
    if not rows:
        return
    columns = dict(zip(_TEXT_TYPES, zip(*rows, strict=True), strict=True))
    with given(connection, columns, types=_TEXT_TYPES):
        connection.execute(
            "INSERT INTO ledger.texts SELECT text_hash::UUID, identity::UUID, memory FROM given"
        )


def note_forgets(connection: Connection, items: Sequence[Ours | Guest]) -> bool:
    """Keep what *items* forget; say whether they forget anything."""
    forgetting = [i for i in items if isinstance(i, Ours) and i.event_type == "memory.forgotten"]
    rows = [row for item in forgetting for row in _forgets(item.recorded)]
    if not rows:
        return False
    columns = dict(zip(_FORGET_TYPES, zip(*rows, strict=True), strict=True))
    with given(connection, columns, types=_FORGET_TYPES):
        connection.execute(
            "INSERT INTO ledger.forgets"
            " SELECT DISTINCT kind, memory, identity::UUID, text_hash::UUID FROM given"
        )
    connection.executemany(
        "INSERT INTO ledger.unpublished_forgets VALUES (?, ?)",
        [tuple(item.record.position) for item in forgetting],
    )
    return True


def _forgets(
    recorded: RecordedEvent,
) -> Iterator[tuple[str, str | None, str | None, str | None]]:
    if isinstance(event := recorded.event, MemoryForgotten):
        yield from (("memory", memory, None, None) for memory in event.memories)
        yield from (("event", None, named, None) for named in event.events)
        yield from (("text", None, None, text_hash(text)) for text in forgotten_by(recorded))


def forgets_anything(connection: Connection) -> bool:
    """Say whether anything was ever forgotten here."""
    return bool(connection.execute("SELECT 1 FROM ledger.forgets LIMIT 1").fetchall())


def forget(connection: Connection, *, whole: bool) -> int:
    """Erase what the forgets reach, in all rows or in the batch's; return how many memories went.

    1. Find the events that are named, and the memories that are named or that those formed.
    2. Note these memories' ids, and add the events that formed them or speak of them.
    3. Delete the memories, erase the words.
    """
    find_forgotten(connection, whole=whole)  # 1
    find_forgotten_memories(connection, whole=whole)
    forget_memories(connection, whole=whole)  # 2
    if not connection.execute("SELECT 1 FROM forgotten_events LIMIT 1").fetchall():
        return 0
    gone = delete_forgotten_memories(connection)  # 3
    erase_words(connection)
    return gone


def find_forgotten(connection: Connection, *, whole: bool) -> None:
    """Make the table `forgotten_events`."""
    connection.execute(_for(sql("find_forgotten"), whole=whole))


def find_forgotten_memories(connection: Connection, *, whole: bool) -> None:
    """Make the table `forgotten_memories`."""
    connection.execute(_for(sql("find_forgotten_memories"), whole=whole))


def forget_memories(connection: Connection, *, whole: bool) -> None:
    """Note the ids of forgotten memories and add their events to `forgotten_events`."""
    connection.execute(_for(sql("forget_memories"), whole=whole))


def delete_forgotten_memories(connection: Connection) -> int:
    """Delete what stands in `forgotten_memories`; return how many went."""
    return added(connection, sql("delete_forgotten_memories"))


def erase_words(connection: Connection) -> None:
    """Null the words of what stands in `forgotten_events`."""
    connection.execute(sql("erase_words"))


def _for(statements: str, *, whole: bool) -> str:
    """Say in *statements* whether they look at all rows: DDL takes no parameters."""
    return statements.replace("$whole", "true" if whole else "false")
