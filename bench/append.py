"""How fast durable appends are, embedded and on Kafka, against the bare engine in turns.

    python bench/append.py
    python bench/append.py --only embedded --quick

Each append waits for its acknowledgement. "Whole" begins with what a caller has in hand (a type,
fields, whose it is) and makes events of it; "log alone" appends records that are ready, the same
bytes on both sides. Kafka is a broker on this machine (Java 17 and Maven), left out without one.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Final, Protocol

from bare_logs import BareKafka, BareSQLite, Document, document
from measuring import OURS, PEER, Row, arguments, batched, in_turns, latency, pace, ratios, tell
from said import said
from work_history import told

from mnemolog.engine import present
from mnemolog.schemas.codec import Codec
from mnemolog.schemas.ids import fresh_id
from mnemolog.streams.blobs import InMemoryBlobs
from mnemolog.streams.kafka_log import KafkaLog
from mnemolog.streams.log import Log
from mnemolog.streams.publishing import Publisher
from mnemolog.streams.sqlite_log import SQLiteLog

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))
from kafka_broker import KafkaBroker, KafkaUnavailable

TENANT: Final = "bench"
PEERS_TENANT: Final = "bench-peer"
WANTED: Final = 0.6  # at 1,000 at a time
ROUNDS: Final = {1: 1_000, 100: 200, 1_000: 60}
ROUNDS_QUICK: Final = {1: 100, 100: 30, 1_000: 10}


class Bare(Protocol):
    """A peer."""

    def append(self, documents: Sequence[Document]) -> None: ...

    def close(self) -> None: ...


Pair = tuple[Log, Bare]
Works = Mapping[str, Callable[[int], object]]


def measured(engine: str, pair: Pair, *, rounds: dict[int, int], seed: int) -> Iterator[Row]:
    """Yield the rows of one engine."""
    log, bare = pair
    for size, times in rounds.items():
        yield _whole(engine, log, bare, size=size, rounds=times, seed=seed)
    for size, times in rounds.items():
        yield _log_alone(engine, log, bare, size=size, rounds=times, seed=seed)


def _whole(engine: str, log: Log, bare: Bare, *, size: int, rounds: int, seed: int) -> Row:
    codec = Codec(tenant=TENANT, partitions=log.partitions)
    publisher = Publisher(log, codec, tenant=TENANT, now=present, blobs=InMemoryBlobs())
    calls = list(batched(said(events=size * (rounds + 1), seed=seed), size))
    works = {
        OURS: lambda n: publisher.append([one.draft() for one in calls[n]]),
        PEER: lambda n: bare.append([document(one) for one in calls[n]]),
    }
    wanted = f">= {WANTED}" if size == max(ROUNDS) else ""
    return _row(f"{engine}, {size:,} at a time", works, size=size, rounds=rounds, wanted=wanted)


def _log_alone(engine: str, log: Log, bare: Bare, *, size: int, rounds: int, seed: int) -> Row:
    codec = Codec(tenant=TENANT, partitions=log.partitions)
    history = told(events=size * (rounds + 1), seed=seed)
    ready = (codec.encode(event, replace(around, id=fresh_id())) for event, around in history)
    records = list(batched(ready, size))
    rows = [[(one.identity, one.key, one.value) for one in call] for call in records]
    works = {OURS: lambda n: log.append(records[n]), PEER: lambda n: bare.append(rows[n])}
    return _row(f"{engine}, {size:,} at a time, log alone", works, size=size, rounds=rounds)


def _row(what: str, works: Works, *, size: int, rounds: int, wanted: str = "") -> Row:
    samples = in_turns(works, rounds=rounds)
    clock, cpu = ratios(samples)
    ours, peer = (
        f"{pace(samples[who], events=size)}; {latency(samples[who])}" for who in (OURS, PEER)
    )
    return Row(
        scenario="append",
        what=what,
        ours=ours,
        peer=peer,
        ratio=clock,
        cpu_ratio=cpu,
        wanted=wanted,
    )


def embedded(folder: Path, stack: ExitStack, bootstrap: str | None) -> Pair:
    """Return a log in a file, and a bare file beside it."""
    del bootstrap
    return (
        stack.enter_context(closing(SQLiteLog.open(folder / "log.db", tenant=TENANT))),
        stack.enter_context(closing(BareSQLite(folder / "bare.db"))),
    )


def kafka(folder: Path, stack: ExitStack, bootstrap: str | None) -> Pair:
    """Return a log on a broker, and a bare producer to a topic just like its topic."""
    if bootstrap is None:
        bootstrap = stack.enter_context(KafkaBroker(folder / "kafka")).bootstrap
    with closing(KafkaLog.open(bootstrap, tenant=PEERS_TENANT)) as peers:
        topic = peers.topic
    return (
        stack.enter_context(closing(KafkaLog.open(bootstrap, tenant=TENANT))),
        stack.enter_context(closing(BareKafka(bootstrap, topic))),
    )


OPENED: Final[Mapping[str, Callable[[Path, ExitStack, str | None], Pair]]] = {
    "embedded": embedded,
    "kafka": kafka,
}


def rows(asked: argparse.Namespace) -> Iterator[Row]:
    """Yield all rows that were asked for; one that says so where there is no broker."""
    rounds = ROUNDS_QUICK if asked.quick else ROUNDS
    rounds = {size: asked.rounds or times for size, times in rounds.items() if size in asked.sizes}
    for engine in asked.only:
        with tempfile.TemporaryDirectory(dir=asked.folder) as folder, ExitStack() as stack:
            try:
                pair = OPENED[engine](Path(folder), stack, asked.bootstrap)
            except KafkaUnavailable as error:
                yield Row(scenario="append", what=engine, ours=f"skipped: {error}")
                continue
            yield from measured(engine, pair, rounds=rounds, seed=asked.seed)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--only", nargs="+", choices=tuple(OPENED), default=tuple(OPENED))
    parser.add_argument("--sizes", nargs="+", type=int, choices=tuple(ROUNDS), default=list(ROUNDS))
    parser.add_argument("--rounds", type=int, help="of each size")
    parser.add_argument("--bootstrap", help="host:port of a broker; one of our own by default")
    parser.add_argument("--folder", help="where the logs are made; a temporary one by default")
    asked = parser.parse_args()
    tell(rows(asked), as_json=asked.json)


if __name__ == "__main__":
    main()
