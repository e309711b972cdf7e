"""The fold of analytics: SQL over a batch, live and in a rebuild alike.

Repeats are out already (`choosing` asked the ledger), so that no table can have them. Each
statement is pure: no clock, no chance, and no row depends on how the history was cut.
"""

from collections import Counter
from collections.abc import Sequence

import duckdb

from mnemolog.projections.analytics.arrow_rows import given, registered
from mnemolog.projections.analytics.forgetting import (
    forget,
    forgets_anything,
    note_forgets,
    note_texts,
)
from mnemolog.projections.analytics.incoming import MEMORY_TYPES, incoming, memory_columns
from mnemolog.projections.analytics.inserts import (
    INSERTS,
    create_batch,
    insert_drawn_links,
    insert_formed_memories,
)
from mnemolog.projections.formed_memory import FormedMemory
from mnemolog.schemas.decoded import Guest, Ours

Connection = duckdb.DuckDBPyConnection


def fold(
    connection: Connection, items: Sequence[Ours | Guest], memories: Sequence[FormedMemory]
) -> Counter[str]:
    """Add the rows of *items*, which form *memories*; return by how many rows each table grew.

    1. Read the bytes into the temporary table `batch`.
    2. Insert what each table takes of it.
    3. Forget what is to be forgotten: of all rows when this batch says so, else of its own.
    """
    grown: Counter[str] = Counter()
    if not items:
        return grown
    with registered(connection, incoming(items), name="incoming"):
        create_batch(connection)  # 1
    types = {item.event_type for item in items if isinstance(item, Ours)}
    for insert in INSERTS:  # 2
        if not insert.types or types & insert.types:
            grown[insert.table] += insert.run(connection)
    if memories:
        with given(
            connection, memory_columns(memories), types=MEMORY_TYPES, name="incoming_memories"
        ):
            grown["formed_memories"] += insert_formed_memories(connection)
            if any(memory.from_memories for memory in memories):
                grown["told_links"] += insert_drawn_links(connection)
    note_texts(connection, items, memories)
    says_so = note_forgets(connection, items)  # 3
    if says_so or forgets_anything(connection):
        grown["formed_memories"] -= forget(connection, whole=says_so)
    return grown
