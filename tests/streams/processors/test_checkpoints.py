"""The processor of checkpoints over a log: the policy of each place, ids that outlive a host."""

import pytest

from mnemolog.schemas.events import experience as ex
from mnemolog.schemas.events.governance import PolicyChanged
from mnemolog.schemas.policy import CheckpointPolicy, Policy
from mnemolog.streams.processing import MAKER, output_id, source_of
from mnemolog.streams.processors.checkpoints import CHECKPOINTS, CheckpointProcessor
from mnemolog.streams.publishing import Draft
from support.earlier_code import EarlierCodec
from support.log_engines import MemoryEngine
from support.processors import Site


@pytest.fixture
def site():
    engine = MemoryEngine()
    yield Site(engine.open(partitions=2), tenant=engine.tenant)
    engine.close()


def tell(site, model, *, agent="ann", **fields):
    return site.publisher.append([Draft(model=model, fields=fields, agent=agent, task="t1")])[0]


def change(site, revision, **numbers):
    policy = Policy(checkpoints=CheckpointPolicy(**numbers))
    fields = {"revision": revision, "policy": policy}
    site.publisher.govern(Draft(model=PolicyChanged, fields=fields))


def test_what_it_appends_names_its_maker_its_cause_and_itself(site, tmp_path):
    tell(site, ex.TaskStarted, goal="sign the tokens")
    paused = tell(site, ex.TaskPaused)
    site.run(CheckpointProcessor(), tmp_path)
    (saved,) = site.outputs(CHECKPOINTS)
    assert saved.envelope.source == source_of(CHECKPOINTS) == "/mnemolog/processors/checkpoints"
    assert (saved.envelope.cause, saved.envelope.task) == (paused.id, "t1")
    assert saved.envelope.extensions[MAKER] == "rules checkpoints/1"
    assert saved.id == saved.event.checkpoint.id == output_id(CHECKPOINTS, paused.identity)


def test_the_policy_in_force_at_an_events_place_judges_it_whenever_it_is_read(site, tmp_path):
    change(site, 1, enabled=False)
    tell(site, ex.TaskStarted, goal="sign the tokens")
    tell(site, ex.TaskPaused)
    change(site, 3, events_max=2)
    seen = [tell(site, ex.ObservationRecorded, text=f"n{n}") for n in range(3)]
    change(site, 2, events_max=1)  # a lower revision changes nothing
    seen += [tell(site, ex.ObservationRecorded, text=f"n{n}") for n in range(2)]
    change(site, 4, triggers=("paused",))
    seen += [tell(site, ex.ObservationRecorded, text=f"n{n}") for n in range(9)]
    site.run(CheckpointProcessor(), tmp_path)
    # Two were told under the first policy, so the third is at once one too many.
    assert [one.envelope.cause for one in site.outputs(CHECKPOINTS)] == [
        seen[0].id,
        seen[2].id,
        seen[4].id,
    ]


def test_a_policy_that_a_later_release_can_read_begins_the_fold_anew(site, tmp_path):
    change(site, 1, events_max=2)
    seen = [tell(site, ex.ObservationRecorded, text=f"n{n}") for n in range(5)]
    now, site.codec = site.codec, EarlierCodec(tenant=site.codec.tenant, partitions=2)
    site.run(CheckpointProcessor(), tmp_path)
    assert site.outputs(CHECKPOINTS) == []
    site.codec = now
    site.run(CheckpointProcessor(), tmp_path)
    assert [one.envelope.cause for one in site.outputs(CHECKPOINTS)] == [seen[1].id, seen[3].id]


def test_its_own_checkpoints_trigger_nothing_and_an_agents_do_not_either(site, tmp_path):
    tell(site, ex.TaskStarted, goal="sign the tokens")
    state = {"id": "c1", "agent": "ann", "current_goal": "g", "plan_summary": "p"}
    state |= {"timestamp": "2030-01-01T00:00:00Z"}
    tell(site, ex.CheckpointSaved, checkpoint=state)
    site.run(CheckpointProcessor(), tmp_path)
    assert site.outputs(CHECKPOINTS) == []


def test_agents_are_kept_apart(site, tmp_path):
    for agent in ("ann", "bob", "carl"):
        tell(site, ex.TaskStarted, goal=f"{agent}'s goal", agent=agent)
        tell(site, ex.TaskPaused, agent=agent)
    site.run(CheckpointProcessor(), tmp_path)
    saved = [one.event.checkpoint for one in site.outputs(CHECKPOINTS)]
    assert {one.agent: one.current_goal for one in saved} == {
        agent: f"{agent}'s goal" for agent in ("ann", "bob", "carl")
    }
