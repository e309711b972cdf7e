"""How much memory a worker has over many events: at a quarter, half, three quarters, and all.

    python bench/resident.py
    python bench/resident.py --events 1000000

The events are put on a topic a quarter at a time, each when the one before is applied by all four
projections with its vectors (the hashing embedder's: no model is in that memory).
"""

import argparse
import itertools
import os
from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Final

from measuring import Row, arguments, tell
from on_kafka import Broker, KafkaUnavailable, append, applied, encoded, on_broker
from processes import QUIET, Started, worker

from mnemolog.streams.kafka_log import KafkaLog

SCENARIO: Final = "resident"
EVENTS: Final = 100_000
EVENTS_QUICK: Final = 4_000
QUARTERS: Final = 4


def measured(broker: Broker, *, events: int, seed: int) -> Iterator[Row]:
    """Yield a row before the first event, and one after each quarter."""
    tenant = broker.name("resident")
    data = broker.folder / tenant
    with closing(KafkaLog.open(broker.bootstrap, tenant=tenant)) as log, ExitStack() as stack:
        options = ("--embedder", "hashing", "--group", tenant)
        one = stack.enter_context(worker(broker.log, data, tenant, *options))
        one.ready(tenant)
        yield _row(one, 0)
        memory = stack.enter_context(broker.memory(data, tenant))
        records = encoded(log, tenant, events=events, seed=seed)
        done = 0
        for quarter in range(1, QUARTERS + 1):
            until = events * quarter // QUARTERS
            append(log, itertools.islice(records, until - done))
            done = until
            applied(memory, vectors=True)
            yield _row(one, done)


def _row(one: Started, events: int) -> Row:
    return Row(
        scenario=SCENARIO,
        what=f"a worker's memory after {events:,} events",
        ours=f"{one.resident_bytes() / 1e6:,.0f} MB; at most {one.peak_bytes() / 1e6:,.0f} MB",
    )


def rows(given: argparse.Namespace) -> Iterator[Row]:
    events = given.events or (EVENTS_QUICK if given.quick else EVENTS)
    try:
        with on_broker(given.bootstrap, given.folder) as broker:
            yield from measured(broker, events=events, seed=given.seed)
    except KafkaUnavailable as error:
        yield Row(scenario=SCENARIO, what="kafka", ours=f"skipped: {error}")


def main() -> None:
    os.environ.update(QUIET)
    parser = arguments(__doc__)
    parser.add_argument("--events", type=int)
    parser.add_argument("--bootstrap", help="host:port of a broker; one of our own by default")
    parser.add_argument("--folder", help="where the data is made; a temporary one by default")
    given = parser.parse_args()
    tell(rows(given), as_json=given.json)


if __name__ == "__main__":
    main()
