"""How long it takes from an append until another process recalls what was appended."""

import random
import time
from collections.abc import Iterator
from typing import Final

from measuring import Row, Sample, latency
from on_kafka import Broker
from processes import worker
from throughput import SCENARIO
from work_history import sentences

from mnemolog import Memory
from mnemolog.schemas.positions import Token

RECALL_SECONDS_MAX: Final = 60.0
WARM: Final = 5


def measured(broker: Broker, *, rounds: int, embedders: list[str], seed: int) -> Iterator[Row]:
    """Yield a row for each embedder: hashing's costs nothing, as a cached vector would."""
    for embedder in embedders:
        samples, alone = recallable(
            broker, broker.name(f"latency-{embedder}"), embedder, rounds=rounds, seed=seed
        )
        how = "vector cached (hashing)" if embedder == "hashing" else f"{embedder}, its vector too"
        yield Row(
            scenario=SCENARIO,
            what=f"append to recallable by another process, {how}, {rounds:,} times",
            ours=f"{latency(samples)}; the recall alone {latency(alone)}",
        )


def recallable(
    broker: Broker, tenant: str, embedder: str, *, rounds: int, seed: int
) -> tuple[list[Sample], list[Sample]]:
    """Return what each append and the recall that finds it took, and that recall once more."""
    chance = random.Random(seed)
    samples: list[Sample] = []
    alone: list[Sample] = []
    data = broker.folder / tenant
    with broker.memory(broker.folder / f"{tenant}-writer", tenant, embedder=embedder) as writer:
        writer.observe("the first of all", agent="ops")
        with worker(broker.log, data, tenant, "--embedder", embedder, "--group", tenant) as one:
            one.ready(tenant)
            with broker.memory(data, tenant, embedder=embedder) as reader:
                for number in range(rounds + WARM):
                    text = f"INC-{7000 + number}: {sentences(chance, 2)}"
                    samples.append(_found(writer, reader, text, vectors=embedder != "hashing"))
                    began = time.perf_counter()
                    reader.recall(text)
                    alone.append(Sample(time.perf_counter() - began, 0.0))
    return samples[WARM:], alone[WARM:]


def _found(writer: Memory, reader: Memory, text: str, *, vectors: bool) -> Sample:
    """Append *text*, and ask for it until it is among the answers."""
    began = time.perf_counter()
    token = writer.observe(text, agent="ops").token
    if vectors:
        reader.wait_for(token, vectors=True, timeout_seconds=RECALL_SECONDS_MAX)
    while not _is_among(reader, text, token):
        assert time.perf_counter() - began < RECALL_SECONDS_MAX, f"{text!r} is not recalled"
    return Sample(time.perf_counter() - began, 0.0)


def _is_among(reader: Memory, text: str, token: Token) -> bool:
    answer = reader.recall(text, after=token, timeout_seconds=RECALL_SECONDS_MAX)
    return text in [hit.text for hit in answer]
