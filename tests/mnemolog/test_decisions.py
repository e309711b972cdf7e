"""What a decision, a judgement and a use mean for the memories that they name."""

import pytest

from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.ids import memory_id
from support.remembering import opened, recorded, the_event

KNOWN = "mem_" + "0" * 32


@pytest.fixture(scope="module")
def mem():
    with opened(projects=False) as memory:
        yield memory


def test_a_decision_splits_what_it_rests_on_into_events_and_memories():
    with opened(agent="ops-1") as mem:
        seen = mem.observe("the pool of auth is exhausted")
        (found,) = mem.recall("which pool?", after=seen.token)
        decided = mem.decide("raise it", because=[seen, found, "e-9", KNOWN])
        event = the_event(mem, decided).event
        assert event.because_events == (seen.id, "e-9")
        assert event.because_memories == (found.id, KNOWN) == (seen.memory_id, KNOWN)


def test_an_event_whose_id_only_looks_like_a_memory_is_an_event(mem):
    odd = mem.observe("odd", id="mem_1")
    assert the_event(mem, mem.decide("go", because=[odd])).event.because_events == ("mem_1",)


@pytest.mark.parametrize(
    "use",
    [
        lambda m, found: m.decide("raise it", because=[found]),
        lambda m, found: m.used(found),
        lambda m, found: m.feedback(found, 1),
    ],
    ids=["decide", "used", "feedback"],
)
def test_use_and_praise_make_a_memory_weigh_more(use):
    with opened(agent="ops-1") as mem:
        seen = mem.observe("the pool of auth is exhausted", occurred_at="2020-01-01")
        mem.wait_for(seen.token)
        before = mem.get(seen.memory_id).weight.weight
        mem.wait_for(use(mem, mem.get(seen.memory_id)).token)
        assert mem.get(seen.memory_id).weight.weight > before


def test_a_recall_alone_reinforces_nothing():
    with opened(agent="ops-1", record_recalls=True) as mem:
        seen = mem.observe("the pool of auth is exhausted", occurred_at="2020-01-01")
        mem.wait_for(seen.token)
        before = mem.get(seen.memory_id).weight
        mem.recall("which pool?")
        mem._recorder.close()
        assert recorded(mem)[-1].event.event_type == "memory.recalled"
        mem.wait_for(mem.end())
        assert mem.get(seen.memory_id).weight.uses == before.uses == 0


def test_feedback_knows_what_it_is_about(mem):
    seen, decided = mem.observe("x"), mem.decide("y")
    kinds = {
        KNOWN: "memory",
        seen: "event",
        decided: "decision",
        "e-1": "event",
    }
    for target, kind in kinds.items():
        assert the_event(mem, mem.feedback(target, 0)).event.target_kind == kind
    told = mem.feedback("e-1", 0, target_kind="decision")
    assert the_event(mem, told).event.target_kind == "decision"


def test_what_remember_returns_names_the_memory():
    with opened(agent="ops-1") as mem:
        kept = mem.remember("deploys are on Mondays", kind="preference", tags=["deploy"])
        mem.wait_for(kept.token)
        row = mem.get(kept.memory_id).row
        assert (row.text, row.kind, tuple(row.tags)) == (
            "deploys are on Mondays",
            "preference",
            ("deploy",),
        )
        assert memory_id(kept.identity, 0) == kept.memory_id == row.id


def test_one_text_is_no_list_of_reasons():
    with opened(":memory:", projects=False) as mem, pytest.raises(InvalidEvent, match="because"):
        mem.decide("raise the pool", because="mem_abc")
