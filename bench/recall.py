"""How long a recall takes, against a bare query of the same LanceDB table in turns.

    python bench/recall.py
    python bench/recall.py --memories 5000 --embedder hashing

The peer finds ten nearest vectors in the same table, in turns with us: once with the question's
vector ready, once embedding the question as we do. Ours looks for words, neighbours, times, links
and entities as well, weighs, and assembles. Memories' vectors are some vectors from the cache (see
filling.py), the questions' are the embedder's. What the folder takes on the disk is told, too.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from filling import Filled, fill
from measuring import OURS, PEER, Row, arguments, in_turns, milliseconds, ratios, tell
from said import said

from mnemolog import Memory
from mnemolog.projections.kinds import MEMORIES, NAMES, VECTORS_FILE
from mnemolog.projections.memories.embedding import Embedder, Unembeddable, Vector
from mnemolog.projections.memories.lance_maintenance import VECTOR_INDEX_ROWS_MIN
from mnemolog.projections.memories.lance_table import connected, opened
from mnemolog.projections.memories.sqlite_vector_cache import SQLiteVectorCache
from mnemolog.schemas.events.experience import MessageExchanged

SIZES: Final = (5_000, 50_000)
ROUNDS: Final = 300
ROUNDS_QUICK: Final = 40
HITS: Final = 10
SETTLE_SECONDS_MAX: Final = 3_600.0
INDEX_SECONDS_MAX: Final = 300.0
EMBEDDING: Final = "peer that embeds"


def filled(data: Path, *, memories: int, embedder: str, seed: int) -> Filled:
    """Fill the log in the folder *data*, and its cache of vectors."""
    with Memory(data, embedder=embedder, projects=False) as memory:
        engine = memory.engine
        with closing(SQLiteVectorCache(engine.folder / VECTORS_FILE)) as cache:
            return fill(
                engine.log, engine.codec, cache, engine.embedder(), seed=seed, memories=memories
            )


def settled(memory: Memory) -> Any:
    """Return the memories' table once all is in it, indexed where it is large enough."""
    memory.wait_for(
        memory.end(), timeout_seconds=SETTLE_SECONDS_MAX, projections=NAMES, vectors=True
    )
    serving = memory.engine.shelf.generations(MEMORIES).serving()
    assert serving is not None, "it was just filled"
    deadline = time.monotonic() + INDEX_SECONDS_MAX
    while True:
        table = opened(connected(serving))
        if table.count_rows() < VECTOR_INDEX_ROWS_MIN or _has_vector_index(table):
            return table
        assert time.monotonic() < deadline, "the projector indexes what has grown"
        time.sleep(1)


def _has_vector_index(table: Any) -> bool:
    return any(index.columns == ["vector"] for index in table.list_indices())


def measured(
    memory: Memory, table: Any, questions: list[str], *, embedder: Embedder
) -> Iterator[Row]:
    """Yield the rows of one table."""
    vectors = [embedded(embedder, question) for question in questions]
    samples = in_turns(
        {
            OURS: lambda n: memory.recall(questions[n], hits_max=HITS),
            PEER: lambda n: nearest(table, vectors[n]),
            EMBEDDING: lambda n: nearest(table, embedded(embedder, questions[n])),
        },
        rounds=len(questions) - 1,
    )
    for peer, what in ((PEER, "vector ready"), (EMBEDDING, "embedding")):
        clock, cpu = ratios({OURS: samples[OURS], PEER: samples[peer]})
        yield Row(
            scenario="recall",
            what=f"{table.count_rows():,} memories, {what}",
            ours=milliseconds(samples[OURS]),
            peer=milliseconds(samples[peer]),
            ratio=clock,
            cpu_ratio=cpu,
        )


def embedded(embedder: Embedder, question: str) -> Vector:
    (vector,) = embedder.embed([question], role="question")
    assert not isinstance(vector, Unembeddable), "the history's users say something"
    return vector


def nearest(table: Any, vector: Any) -> list[dict[str, Any]]:
    """Return the rows nearest to *vector*, as LanceDB's own users ask for them."""
    query = table.search(vector).distance_type("cosine").select(["id", "text", "_distance"])
    found: list[dict[str, Any]] = query.limit(HITS).to_list()
    return found


def asked(*, rounds: int, seed: int) -> list[str]:
    """Return questions that nobody asked in the history: what users of another one said."""
    texts: list[str] = []
    for one in said(events=100 * rounds, seed=seed + 1):
        if one.model is MessageExchanged and one.fields["role"] == "user":
            texts.append(one.fields["text"])
            if len(texts) == rounds:
                break
    return texts


def on_disk(folder: Path, told: Filled) -> Iterator[Row]:
    """Yield what each part of the tenant's *folder* takes."""
    for part in ("log", *NAMES, VECTORS_FILE):
        taken = sum(file.stat().st_size for file in files_of(folder / part))
        yield Row(
            scenario="disk",
            what=f"{part}, {told.events:,} events, {told.memories:,} memories",
            ours=f"{taken / told.events:,.0f} bytes an event, "
            f"{taken / told.memories:,.0f} a memory; {taken / 1e6:,.1f} MB",
        )


def files_of(path: Path) -> list[Path]:
    beside = path.parent.glob(f"{path.name}-*")  # SQLite's
    return [file for file in (*path.rglob("*"), path, *beside) if file.is_file()]


def rows(given: argparse.Namespace) -> Iterator[Row]:
    rounds = given.rounds or (ROUNDS_QUICK if given.quick else ROUNDS)
    sizes = given.memories or (SIZES[:1] if given.quick else SIZES)
    questions = asked(rounds=rounds + 1, seed=given.seed)
    for size in sizes:
        with tempfile.TemporaryDirectory(dir=given.folder) as data:
            told = filled(Path(data), memories=size, embedder=given.embedder, seed=given.seed)
            with Memory(data, embedder=given.embedder, record_recalls=False) as memory:
                table, folder = settled(memory), memory.engine.folder
                embedder = memory.engine.embedder()
                yield from measured(memory, table, questions, embedder=embedder)
            yield from on_disk(folder, told)


def main() -> None:
    os.environ["MNEMOLOG_PROCESSORS"] = "no"  # what is measured is as large as was asked for
    parser = arguments(__doc__)
    parser.add_argument("--memories", nargs="+", type=int, help="how many, one table each")
    parser.add_argument("--rounds", type=int, help="how many questions")
    parser.add_argument("--embedder", default="auto", help="of the questions")
    parser.add_argument("--folder", help="where the data is made; a temporary one by default")
    given = parser.parse_args()
    tell(rows(given), as_json=given.json)


if __name__ == "__main__":
    main()
