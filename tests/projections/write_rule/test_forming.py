"""What holds for all memories: ids, bounds, whose they are, under which policy."""

from mnemolog.projections.batch import Batch
from mnemolog.projections.choosing import Step
from mnemolog.projections.formed_memory import Formed
from mnemolog.projections.ledger import PolicyInForce
from mnemolog.projections.write_rule import FORMING, form, formed_in
from mnemolog.projections.write_rule.drafts import MEMORY_CHARACTERS_MAX
from mnemolog.schemas.decoded import Ours
from mnemolog.schemas.events import ALL_EVENTS, Event, ModelUse
from mnemolog.schemas.events import experience as ex
from mnemolog.schemas.events import memory as mem
from mnemolog.schemas.limits import MEMORIES_PER_EVENT_MAX
from mnemolog.schemas.policy import BUILT_IN, Policy, WritePolicy
from support.histories import batches, happened, memory_of, opened, recorded

SKILL = mem.SkillLearned(name="Drain a node", description="cordon, then drain", steps=("a", "b"))


def formed(event: Event, *, policy: Policy = BUILT_IN, **names) -> Formed:
    (one,) = opened(happened(event, **names))
    return form(one, policy)


def told(event: Event, **names) -> list[tuple[str, str, int, str]]:
    memories = formed(event, **names).memories
    return [(m.kind, m.text, m.importance, m.stated_by) for m in memories]


def test_every_other_type_forms_nothing_and_says_so():
    others = [event for event in ALL_EVENTS if event.event_type not in FORMING]
    silent = [
        ex.SessionStarted(instructions="Be kind."),
        ex.ActionStarted(action="1", tool="ls"),
        ex.ContextMeasured(used_tokens=1, limit_tokens=2),
        ex.TaskProgressed(note="half"),
        mem.MemoryUsed(memories=("m",)),
        mem.MemoryRecalled(question="never?"),
    ]
    assert {type(event) for event in silent} <= set(others)
    for event in silent:
        nothing = formed(event)
        assert nothing == Formed((), f"{event.event_type}: this type forms no memory")


def test_a_memory_carries_whose_it_is_and_where_it_came_from():
    scope = {"user": "u", "project": "p", "session": "s", "task": "t"}
    (one,) = opened(happened(ex.ObservationRecorded(text="see app.py"), event_id="e9", **scope))
    (memory,) = form(one, BUILT_IN).memories
    assert memory.id == memory_of("e9")
    assert {name: getattr(memory, name) for name in scope} == scope
    assert (memory.agent, memory.key, memory.event_id) == ("ops-1", "ops-1", "e9")
    assert (memory.identity, memory.position) == (one.identity, one.position)
    assert (memory.occurred_at, memory.recorded_at) == (one.occurred_at, one.recorded_at)
    assert "app.py" in memory.entities


def test_ids_follow_from_the_event_and_the_ordinal():
    message = ex.MessageExchanged(role="user", text="I prefer tea. I prefer rye.")
    memories = formed(message, event_id="m").memories
    assert [m.id for m in memories] == [memory_of("m", n) for n in range(3)]
    assert [m.ordinal for m in memories] == [0, 1, 2]


def test_memories_of_one_event_are_bounded():
    text = " ".join(f"Never open port {n}." for n in range(40))
    assert len(formed(ex.MessageExchanged(role="user", text=text)).memories) == (
        MEMORIES_PER_EVENT_MAX
    )


def test_a_very_long_text_is_cut_within_no_character():
    (memory,) = formed(ex.ObservationRecorded(text="a" + "👩‍👩‍👧‍👦" * 30_000)).memories
    assert memory.text.endswith("👩‍👩‍👧‍👦…")
    assert len(memory.text) < 7 * MEMORY_CHARACTERS_MAX


def test_the_numbers_are_those_of_the_policy_in_force():
    other = Policy(write=WritePolicy(importance=0.1, importance_success=0.05))
    noted = ex.ObservationRecorded(text="All tests pass", success=True)
    assert formed(noted, policy=other).memories[0].importance == 150


def test_importance_is_at_most_one():
    high = Policy(write=WritePolicy(importance=0.9))
    done = ex.TaskCompleted(outcome="It works", lesson="Ask first", success=True)
    assert [m.importance for m in formed(done, policy=high).memories] == [1_000, 1_000]


def test_who_says_it_and_what_model_took_part_change_no_text():
    use = ModelUse(model="m")
    assert told(ex.ObservationRecorded(text="x1", model_use=use))[0][1] == "x1"


def test_projections_of_one_batch_share_what_is_formed():
    (batch,) = batches(recorded(ex.ObservationRecorded(text="Seen once")))
    (item,) = batch.items
    assert isinstance(item, Ours)
    step = Step(item, PolicyInForce(0, BUILT_IN))
    assert formed_in(batch, step) is formed_in(batch, step)
    assert formed_in(batch, step) == form(item.recorded, BUILT_IN)
    other = Step(item, PolicyInForce(1, Policy(write=WritePolicy(importance=0.0))))
    assert formed_in(batch, other).memories[0].importance == 0
    assert formed_in(Batch(batch.items), step) == formed_in(batch, step)
