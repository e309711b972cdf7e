"""Any history, cut and interrupted in any way, gives the outputs that its events alone say.

The expected value is worked out without the harness: the rule over each key's events, in order.
"""

import tempfile
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from mnemolog.projections.fault_points import listening
from mnemolog.schemas.checkpoint import Checkpoint
from mnemolog.schemas.decoded import Ours
from mnemolog.schemas.events.governance import PolicyChanged
from mnemolog.schemas.events.memory import MemoryForgotten
from mnemolog.schemas.policy import BUILT_IN, CheckpointPolicy, Policy
from mnemolog.streams.processing import output_id, source_of
from mnemolog.streams.processor_harness import FAULT_POINTS
from mnemolog.streams.processors.checkpoints import CHECKPOINTS, CheckpointProcessor, folded
from mnemolog.streams.publishing import Draft
from support.any_history import examples
from support.histories import TENANT, recorded
from support.processors import Site, finish
from support.random_histories import histories
from support.whims import Died, WhimsicalLog

PARTITIONS = 2
_policies = st.builds(
    CheckpointPolicy,
    events_max=st.integers(1, 9),
    minutes_max=st.sampled_from([5.0, 60.0]),
    quiet_events=st.integers(0, 5),
    loop_actions=st.integers(2, 3),
    day_ends_at_minute=st.integers(0, 50),
    enabled=st.sampled_from([True, True, True, False]),
)


def expected(site) -> dict[str, dict]:
    """Return the checkpoint of each output's id, by the rule alone over what is on the log."""
    states, policies, found, seen = {}, {}, {}, set()
    for one in site.records():
        partition = one.position.partition
        if isinstance(one.event, PolicyChanged):
            known = policies.get(partition)
            if known is None or one.event.revision > known.revision:
                policies[partition] = one.event
        is_own = one.envelope.source == source_of(CHECKPOINTS)
        if one.identity in seen or is_own or one.event.event_type not in CheckpointProcessor.inputs:
            continue
        seen.add(one.identity)
        in_force = policies[partition].policy if partition in policies else BUILT_IN
        step = folded(states.get(one.key), one, in_force.checkpoints)
        states[one.key] = step.state
        if step.found is not None:
            found[output_id(CHECKPOINTS, one.identity)] = {
                name: Checkpoint(**told) if name == "checkpoint" else told
                for name, told in step.found.items()
            }
    return found


def live(site, folder, chance: Random) -> None:
    """Run a host that dies at some point, perhaps, and whose file is lost, perhaps."""
    point = chance.choice([*FAULT_POINTS, None, None])

    def die(here):
        if here == point:
            raise Died

    name = folder / chance.choice(["one", "two"])
    with closing(site.runner(CheckpointProcessor(), name)) as runner:
        runner._projector._records_max = chance.randint(1, 9)
        with suppress(Died), listening(die):
            finish(runner)


@examples(25)
@given(history=histories(), policy=_policies, seed=st.integers(0, 2**32))
def test_outputs_are_those_of_the_events_whatever_happened_on_the_way(history, policy, seed):
    chance = Random(seed)
    with tempfile.TemporaryDirectory() as name:
        log = WhimsicalLog(partitions=PARTITIONS, chance=chance)
        site = Site(log, tenant=TENANT)
        told = [site.codec.decode(record) for record in recorded(*history, partitions=PARTITIONS)]
        events = [item.recorded for item in told if isinstance(item, Ours)]
        changes_at = chance.randrange(len(events))
        for number, one in enumerate(events):
            if number == changes_at:
                fields = {"revision": 1, "policy": Policy(checkpoints=policy)}
                site.publisher.govern(Draft(model=PolicyChanged, fields=fields))
            log.append([site.codec.encode(one.event, one.envelope)])
            if chance.random() < 0.1:
                log.append([site.codec.encode(one.event, one.envelope)])  # told twice
            if chance.random() < 0.2:
                live(site, Path(name), chance)
        site.run(CheckpointProcessor(), Path(name) / "one")
        outputs = site.outputs(CHECKPOINTS)
        assert max(Counter(one.id for one in outputs).values(), default=1) == 1, "none twice"
        assert {one.id for one in outputs} == expected(site).keys(), "none missing"
        assert {one.id: _said(one.event) for one in outputs} == expected(site)


def _said(event):
    """Return what an output says, in the form in which the fold found it."""
    if isinstance(event, MemoryForgotten):
        return {"forgotten": list(event.events)}
    return {"checkpoint": event.checkpoint}
