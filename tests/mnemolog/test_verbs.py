"""Each verb appends the event that its docstring promises, with every keyword that all share."""

from datetime import UTC, datetime

import pytest

from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.events import experience, memory
from mnemolog.schemas.events.base import ModelUse
from mnemolog.schemas.positions import Position
from mnemolog.streams.publishing import Appended
from support.remembering import opened, the_event

WHEN = datetime(2030, 5, 6, 7, 8, 9, 10, tzinfo=UTC)
KNOWN = "mem_" + "0" * 32
SAID = Appended("e-1", "0" * 32, "observation.recorded", Position(0, 0))

# How each verb is called, and what has to be in its event.
VERBS = {
    "observe": (
        lambda m, **scope: m.observe(
            "pool exhausted", data={"max": 50}, success=False, stated_by="tool", **scope
        ),
        experience.ObservationRecorded,
        {
            "text": "pool exhausted",
            "data": {"max": 50},
            "success": False,
            "stated_by": "tool",
        },
    ),
    "message": (
        lambda m, **scope: m.message("where is it?", role="assistant", speaker="Ana", **scope),
        experience.MessageExchanged,
        {"text": "where is it?", "role": "assistant", "speaker": "Ana"},
    ),
    "plan": (
        lambda m, **scope: m.plan("raise it", steps=["raise", "watch"], reason="load", **scope),
        experience.PlanChanged,
        {"plan": "raise it", "steps": ("raise", "watch"), "reason": "load"},
    ),
    "decide": (
        lambda m, **scope: m.decide(
            "roll back", why="OOM", alternatives=["wait"], confidence=0.75, **scope
        ),
        experience.DecisionMade,
        {"what": "roll back", "why": "OOM", "alternatives": ("wait",), "confidence": 0.75},
    ),
    "feedback": (
        lambda m, **scope: m.feedback(
            KNOWN, 1, label="good", comment="it held", given_by="Ana", **scope
        ),
        experience.FeedbackGiven,
        {
            "target": KNOWN,
            "target_kind": "memory",
            "score": 1.0,
            "label": "good",
            "comment": "it held",
            "given_by": "Ana",
        },
    ),
    "remember": (
        lambda m, **scope: m.remember(
            "deploys are on Mondays",
            kind="preference",
            importance=1,
            confidence=0.5,
            valid_from=WHEN,
            valid_until="2030-12-31",
            stated_by="tool",
            entities=["Monday"],
            **scope,
        ),
        memory.MemoryFormed,
        {
            "text": "deploys are on Mondays",
            "kind": "preference",
            "importance": 1.0,
            "confidence": 0.5,
            "valid_from": WHEN,
            "valid_until": datetime(2030, 12, 31, tzinfo=UTC),
            "stated_by": "tool",
            "entities": ("Monday",),
        },
    ),
    "used": (
        lambda m, **scope: m.used(KNOWN, purpose="the report", **scope),
        memory.MemoryUsed,
        {"memories": (KNOWN,), "purpose": "the report"},
    ),
    "pin": (
        lambda m, **scope: m.pin(KNOWN, pinned=False, **scope),
        memory.MemoryPinned,
        {"memory": KNOWN, "pinned": False},
    ),
    "forget": (
        lambda m, **scope: m.forget(SAID, text="the PIN", reason="asked to", **scope),
        memory.MemoryForgotten,
        {"events": (SAID.identity,), "memories": (), "texts": ("the PIN",), "reason": "asked to"},
    ),
}
SCOPE = {
    "agent": "ops-1",
    "user": "小李",
    "project": "shop",
    "session": "s-1",
    "task": "t-1",
    "phase": "testing",
    "occurred_at": WHEN,
    "caused_by": "e-0",
    "correlation": "c-0",
    "tags": ["auth", "数据库"],
    "model_use": {"model": "m", "tokens_in": 3, "tokens_out": 5, "cost_usd": 0.25},
    "source": "/tests",
}


@pytest.fixture(scope="module")
def mem():
    with opened(projects=False) as memory:
        yield memory


@pytest.fixture(params=VERBS)
def verb(request):
    return (request.param, *VERBS[request.param])


def test_a_verb_appends_its_event_with_all_that_was_said(mem, verb):
    _, call, model, expected = verb
    event = the_event(mem, call(mem)).event
    assert type(event) is model
    assert {name: getattr(event, name) for name in expected} == expected
    assert (event.tags, event.model_use) == ((), None)


def test_a_verb_takes_every_shared_keyword(mem, verb):
    name, call, _, _ = verb
    appended = call(mem, **SCOPE, id=f"given-{name}")
    found = the_event(mem, appended)
    around = found.envelope
    assert (appended.id, around.id, around.source) == (f"given-{name}", f"given-{name}", "/tests")
    for word in ("agent", "user", "project", "session", "task", "phase", "correlation"):
        assert getattr(around, word) == SCOPE[word]
    assert (around.occurred_at, around.assumed_utc) == (WHEN, False)
    assert (around.key, around.cause, around.tenant) == ("ops-1", "e-0", "default")
    assert found.event.tags == ("auth", "数据库")
    assert found.event.model_use == ModelUse(**SCOPE["model_use"])


def test_the_same_id_again_counts_once(mem, verb):
    name, call, _, _ = verb
    first = call(mem, id=f"retried-{name}", occurred_at=WHEN)
    assert call(mem, id=f"retried-{name}", occurred_at=WHEN) == first


def test_an_unknown_keyword_is_refused_and_named(mem, verb):
    _, call, _, _ = verb
    before = mem.end()
    with pytest.raises(TypeError, match="'sesion'"):
        call(mem, sesion="s-1")
    assert mem.end() == before


def test_a_checkpoint_is_saved_under_the_events_id_and_time(mem):
    saved = mem.checkpoint(
        "keep auth up",
        plan_summary="raise the pool",
        current_sub_goal="raise",
        key_observations=["pool is 50"],
        decision_rationale="load",
        intermediate_results={"pool": 50},
        self_reflection="slow",
        parent="c-0",
        task_state={"task_id": "t-1"},
        **SCOPE,
    )
    found = the_event(mem, saved)
    kept = found.event.checkpoint
    assert (kept.id, kept.timestamp, kept.agent) == (saved.id, WHEN, "ops-1")
    assert (kept.current_goal, kept.plan_summary, kept.current_sub_goal) == (
        "keep auth up",
        "raise the pool",
        "raise",
    )
    assert (kept.key_observations, kept.intermediate_results) == (("pool is 50",), {"pool": 50})
    assert (kept.decision_rationale, kept.self_reflection, kept.parent) == ("load", "slow", "c-0")
    assert kept.task_state.task_id == "t-1"
    assert kept.tags == found.event.tags == ("auth", "数据库")
    assert (found.envelope.task, found.envelope.cause) == ("t-1", "e-0")


def test_a_checkpoint_of_no_agent_is_refused(mem):
    with pytest.raises(InvalidEvent, match="agent"):
        mem.checkpoint("go on", plan_summary="somehow")


def test_a_cause_may_be_what_an_append_returned(mem):
    first = mem.observe("it began")
    assert the_event(mem, mem.observe("it went on", caused_by=first)).envelope.cause == first.id


def test_a_naive_time_is_read_as_utc_and_flagged(mem):
    appended = mem.observe("then", occurred_at="2030-05-06T07:08:09.000010")
    around = the_event(mem, appended).envelope
    assert (around.occurred_at, around.assumed_utc) == (WHEN, True)


def test_the_handles_defaults_hold_where_a_verb_is_silent():
    names = {word: SCOPE[word] for word in ("agent", "user", "project", "session", "task")}
    with opened(projects=False, **names) as mem:
        silent, told = mem.observe("a"), mem.observe("b", user="Bo", task=None)
        around = the_event(mem, silent).envelope
        assert {word: getattr(around, word) for word in names} == names
        around = the_event(mem, told).envelope
        assert (around.user, around.task, around.project) == ("Bo", None, "shop")
        saved = mem.checkpoint("go", plan_summary="on")
        assert the_event(mem, saved).event.checkpoint.agent == "ops-1"


def test_a_default_that_is_no_name_is_refused_before_anything_is_opened(tmp_path):
    with pytest.raises(TypeError, match="'agnt' is no keyword of Memory"):
        opened(tmp_path / "data", agnt="ops-1")
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("field", "call"),
    [
        ("plan", lambda m: m.plan("  \u3000")),
        ("score", lambda m: m.feedback("e", 2)),
        ("score", lambda m: m.feedback("e", float("nan"))),
        ("importance", lambda m: m.remember("x", importance=1.5)),
        ("confidence", lambda m: m.decide("x", confidence=-0.1)),
        ("memories", lambda m: m.used()),
        ("occurred_at", lambda m: m.observe("x", occurred_at=1_700_000_000)),
        ("agent", lambda m: m.observe("x", agent="../x")),
        ("id", lambda m: m.observe("x", id="")),
        ("role", lambda m: m.message("x", role="boss")),
        ("data", lambda m: m.observe("x", data={"a": {1, 2}})),
        ("tags", lambda m: m.observe("x", tags=["t"] * 65)),
    ],
)
def test_a_value_out_of_bounds_is_refused_by_its_name_and_nothing_is_appended(mem, field, call):
    before = mem.end()
    with pytest.raises(InvalidEvent, match=field):
        call(mem)
    assert mem.end() == before
