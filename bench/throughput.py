"""How fast events of a topic are applied: by a worker, and by a consumer that only does that."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from measuring import OURS, PEER, Row, Sample, pace, ratios, spread
from on_kafka import Broker, append, applied, encoded, put
from processes import worker
from sinks import ANALYTICS_SINK

from mnemolog.streams.kafka_log import KafkaLog

SCENARIO: Final = "streaming"
CONSUMING: Final = Path(__file__).with_name("consuming.py")
PEERS: Final = {"faust": "bare Faust agent", "quix": "Quix Streams"}
MODULES: Final = {"faust": "faust", "quix": "quixstreams"}
WANTED: Final = ">= 8"
CONSUME_SECONDS_MAX: Final = 600.0

Consumed = dict[str, list[Sample]]


def measured(
    broker: Broker, *, events: int, rounds: int, at_once: int, sinks: Sequence[str], seed: int
) -> Iterator[Row]:
    """Yield the worker's row, and for each sink one for each peer."""
    live = live_pace(broker, broker.name("live"), events=events, seed=seed)
    tenant = broker.name("consumed")
    put(broker, tenant, events=events, seed=seed)
    for sink in sinks:
        samples = in_turns(broker, tenant, events, sink=sink, rounds=rounds, at_once=at_once)
        what = f"{sink} alone, {events:,} events in batches of {at_once:,}"
        yield from compared(what, samples, events=events)
        if sink == ANALYTICS_SINK:
            yield _worker_row(live, samples, events=events)


def live_pace(broker: Broker, tenant: str, *, events: int, seed: int) -> Sample:
    """Return how long a running worker takes from the first append on until all is applied."""
    with closing(KafkaLog.open(broker.bootstrap, tenant=tenant)) as log:
        records = list(encoded(log, tenant, events=events, seed=seed))
        data = broker.folder / tenant
        with worker(broker.log, data, tenant, "--embedder", "hashing", "--group", tenant) as one:
            one.ready(tenant)
            with broker.memory(data, tenant) as memory:
                began, cpu = time.perf_counter(), one.cpu_seconds()
                append(log, records)
                applied(memory)
                return Sample(time.perf_counter() - began, one.cpu_seconds() - cpu)


def _worker_row(live: Sample, samples: Consumed, *, events: int) -> Row:
    mine = f"{events / live.seconds:,.0f} events/s; of CPU {events / live.cpu_seconds:,.0f}"
    bare = samples["faust"]
    rates = [one.seconds / live.seconds for one in bare]
    return Row(
        scenario=SCENARIO,
        what=f"worker, all four projections, {events:,} events from append to applied",
        ours=mine,
        peer=f"bare Faust agent, analytics alone: {pace(bare, events=events)}",
        ratio=spread(rates),
        wanted=WANTED,
    )


def in_turns(
    broker: Broker, tenant: str, events: int, *, sink: str, rounds: int, at_once: int
) -> Consumed:
    """Consume the topic with each that can, in turns; a sample is of all *events*."""
    names = [OURS, *(name for name in PEERS if find_spec(MODULES[name]))]
    samples: Consumed = {name: [] for name in names}
    for number in range(rounds):
        for name in names if number % 2 else list(reversed(names)):
            options = ["--events", str(events), "--sink", sink, "--at-once", str(at_once)]
            samples[name].append(_consumed(broker, tenant, name, options, events=events))
    return samples


def _consumed(broker: Broker, tenant: str, name: str, options: list[str], *, events: int) -> Sample:
    with tempfile.TemporaryDirectory(dir=broker.folder) as folder:
        around = ["--bootstrap", broker.bootstrap, "--tenant", tenant, "--folder", folder]
        done = subprocess.run(
            [sys.executable, str(CONSUMING), name, *around, *options],
            stdout=subprocess.PIPE,
            text=True,
            timeout=CONSUME_SECONDS_MAX,
            check=True,
            env={**os.environ, "PYTHONWARNINGS": "ignore"},
        )
    told = json.loads(done.stdout.splitlines()[-1])
    whole = events / told["events"]
    return Sample(told["seconds"] * whole, told["cpu_seconds"] * whole)


def compared(what: str, samples: Consumed, *, events: int) -> Iterator[Row]:
    """Yield a row for each peer."""
    mine = samples[OURS]
    for name, title in PEERS.items():
        if name not in samples:
            ours = f"{title}: not installed; ours {pace(mine, events=events)}"
            yield Row(scenario=SCENARIO, what=what, ours=ours)
            continue
        clock, cpu = ratios({OURS: mine, PEER: samples[name]})
        yield Row(
            scenario=SCENARIO,
            what=what,
            ours=pace(mine, events=events),
            peer=f"{title}: {pace(samples[name], events=events)}",
            ratio=clock,
            cpu_ratio=cpu,
            wanted=WANTED if name == "faust" else "",
        )
