"""Does the index hold what the state says, and can all of it be read? Asked by `doctor`."""

from contextlib import closing
from pathlib import Path

from mnemolog.projections.memories.lance_index import READ_ROWS_MAX, summary_of
from mnemolog.projections.memories.lance_searches import search_each_way
from mnemolog.projections.memories.lance_table import connected, opened, speaking_of_index
from mnemolog.projections.memories.state_schema import STATE_FILE
from mnemolog.projections.memories.vector_state import Summary, VectorState
from mnemolog.projections.sqlite_store import open_store, speaking_of
from mnemolog.schemas.errors import Damaged


def check_index(folder: Path, *, dimensions: int) -> None:
    """Read the whole index of the generation in *folder*, which nobody may be writing.

    Raises Damaged where it can't be read, can't be searched, or differs from the state.
    """
    with speaking_of_index(folder):
        table = opened(connected(folder))
        if table is None:
            raise Damaged(str(folder), "it has no index")
        for _ in table.search().to_batches(READ_ROWS_MAX):
            pass
        search_each_way(table, dimensions=dimensions)
        served, _ = summary_of(table)
    expected = _expected(folder / STATE_FILE)
    if served != expected:
        reason = f"the index has {served.rows} rows, the state {expected.rows}, or they differ"
        raise Damaged(str(folder), reason)


def _expected(state: Path) -> Summary:
    with closing(open_store(state, schema="", read_only=True)) as store, speaking_of(state):
        return VectorState(store).summary()
