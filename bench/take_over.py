"""How long a worker takes until it is ready: started anew, started again, and taking over."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from confluent_kafka import ConsumerGroupState
from confluent_kafka.admin import AdminClient
from measuring import Row, spread
from on_kafka import Broker, applied, put
from processes import LOOK_SECONDS, WAIT_SECONDS_MAX, Started, launched_worker
from throughput import SCENARIO

TAKE_OVER_WANTED: Final = "<= 15 s"


def measured(broker: Broker, *, events: int, rounds: int, seed: int) -> Iterator[Row]:
    """Yield rows of starting, and of taking over with and without a replica."""
    tenant = broker.name("taken")
    put(broker, tenant, events=events, seed=seed)
    data = broker.folder / "first"
    for what in ("an empty folder", "its folder again"):
        with ExitStack() as stack:
            one = started(stack, broker, data, tenant, group=broker.name("starting"))
            seconds = one.ready(tenant) - one.began
            one.stop()
        yield _row(f"start to ready, {what}, {events:,} events", f"{seconds:,.1f} s")
    for kind, options in (("without a replica", ()), ("with a replica", ("--replica",))):
        group = broker.name(kind.replace(" ", "-"))
        owned, ready = taken_over(
            broker, tenant, group=group, rounds=rounds, options=options, first=data
        )
        what = f"kill -9 {kind}, {events:,} events"
        yield _row(f"{what}, until owned", f"{spread(owned, '.1f')} s", TAKE_OVER_WANTED)
        yield _row(f"{what}, until ready", f"{spread(ready, '.1f')} s")


def _row(what: str, ours: str, wanted: str = "") -> Row:
    return Row(scenario=SCENARIO, what=what, ours=ours, wanted=wanted)


def started(
    stack: ExitStack, broker: Broker, data: Path, tenant: str, *options: str, group: str
) -> Started:
    """Start a worker that is killed at the end of *stack*."""
    around = ("--embedder", "hashing", "--group", group, *options)
    one = launched_worker(broker.log, data, tenant, *around)
    stack.callback(one.kill)
    return one


def taken_over(
    broker: Broker,
    tenant: str,
    *,
    group: str,
    rounds: int,
    options: tuple[str, ...],
    first: Path,
) -> tuple[list[float], list[float]]:
    """Kill the owner *rounds* times; return the seconds until its heir owned and was ready.

    The heir has a folder of its own. As a replica it is left alone until it has all; else its
    folder is empty.
    """
    owned: list[float] = []
    ready: list[float] = []
    with ExitStack() as stack:
        owner = started(stack, broker, first, tenant, *options, group=group)
        owner.ready(tenant)
        for number in range(rounds):
            data = broker.folder / f"{group}-{number}"
            heir = started(stack, broker, data, tenant, *options, group=group)
            if options:
                _copied(broker, data, tenant, heir)
            else:
                _joined(broker, group)
            killed = owner.kill()
            owned.append(heir.owned(tenant, since=killed) - killed)
            ready.append(max(heir.ready(tenant) - killed, owned[-1]))
            owner = heir
    return owned, ready


def _joined(broker: Broker, group: str) -> None:
    """Return once *group* has two members that know what each of them owns."""
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    while True:
        found = admin.describe_consumer_groups([group])[group].result()
        if len(found.members) == 2 and found.state == ConsumerGroupState.STABLE:
            return
        assert time.monotonic() < deadline, f"no second member: {found.members}"
        time.sleep(LOOK_SECONDS)


def _copied(broker: Broker, data: Path, tenant: str, heir: Started) -> None:
    """Return once the copy at *data* has all that the log has."""
    heir.ready(tenant)
    with broker.memory(data, tenant) as memory:
        applied(memory)
