"""How things stand: of one key the last event by position counts, of several keys the latest."""

from datetime import timedelta

import pytest

from contracts.projection_contract import place_in
from mnemolog.projections.analytics.projection import AnalyticsProjection
from mnemolog.schemas.events import ModelUse
from mnemolog.schemas.events import experience as ex
from mnemolog.schemas.events import memory as mem
from support.histories import AGENT, START, batches, happened, memory_of, recorded

NOTE = ex.ObservationRecorded(text="The pool has 9 sockets.")
MEMORY = memory_of("e0")


@pytest.fixture
def ask(tmp_path):
    projection = AnalyticsProjection.open(place_in(tmp_path))

    def ask(*events, of: str):
        for batch in batches(recorded(*events), records_max=2):
            projection.apply(batch)
        return projection._connection.execute(of).fetchall()

    yield ask
    projection.close()


def at(minutes, event, agent=AGENT, **names):
    return happened(event, at=START + timedelta(minutes=minutes), agent=agent, **names)


def importance(share):
    return mem.MemoryImportanceChanged(memory=MEMORY, importance=share)


def test_within_a_key_the_last_by_position_counts_whatever_its_time(ask):
    events = [
        NOTE,
        at(50, importance(0.9)),
        at(10, importance(0.2)),
        at(60, mem.MemoryPinned(memory=MEMORY)),
        at(20, mem.MemoryPinned(memory=MEMORY, pinned=False)),
    ]
    of = "SELECT importance, importance_formed, pinned FROM memories"
    assert ask(*events, of=of) == [(200, 500, False)]


def test_of_several_keys_the_one_that_occurred_last_counts_whatever_its_position(ask):
    events = [
        NOTE,
        at(50, importance(0.9), "ops-2"),
        at(10, importance(0.2), "ops-3"),
        at(60, mem.MemoryPinned(memory=MEMORY), "ops-2"),
        at(20, mem.MemoryPinned(memory=MEMORY, pinned=False), "ops-3"),
    ]
    assert ask(*events, of="SELECT importance, pinned FROM memories") == [(900, True)]


def test_a_share_becomes_thousandths_as_it_does_everywhere(ask):
    events = [NOTE, importance(0.0005)]
    assert ask(*events, of="SELECT importance FROM memories") == [(round(0.0005 * 1000),)]


def test_a_memory_is_valid_until_the_earliest_end_that_was_told(ask):
    ends = [START + timedelta(days=days) for days in (9, 3, 5)]
    events = [
        mem.MemoryFormed(text="The gate opens at nine.", valid_until=ends[0]),
        mem.MemorySuperseded(memory=MEMORY, valid_until=ends[1], superseded_by="mem_b"),
        mem.MemorySuperseded(memory=MEMORY, valid_until=ends[2]),
        mem.MemoryArchived(memory=MEMORY),
    ]
    of = "SELECT valid_until, superseded, superseded_by, archived FROM memories"
    assert ask(*events, of=of) == [(ends[1].replace(tzinfo=None), True, "mem_b", True)]


@pytest.mark.parametrize(
    ("events", "status"),
    [
        (["start"], "running"),
        (["start", "good"], "succeeded"),
        (["bad", "start"], "failed"),
        (["good"], "succeeded"),
        (["start", "session over"], "orphaned"),
        (["session over", "start"], "running"),
        (["start", "session over", "session again"], "orphaned"),
        (["session over", "session again", "start"], "running"),
        (["start", "task over"], "orphaned"),
        (["start", "task over", "task again"], "orphaned"),
        (["start", "session over", "good"], "succeeded"),
        (["good", "start", "bad"], "succeeded"),
        (["start", "lost"], "orphaned"),
        (["lost", "start", "good"], "succeeded"),
    ],
)
def test_an_action_runs_until_it_ends_or_what_it_belongs_to_does(ask, events, status):
    told = {
        "start": ex.ActionStarted(action="a", tool="bash"),
        "good": ex.ActionFinished(action="a", success=True),
        "bad": ex.ActionFinished(action="a", success=False),
        "lost": ex.ActionFinished(action="a", success=False, orphaned=True),
        "session over": ex.SessionEnded(),
        "session again": ex.SessionStarted(),
        "task over": ex.TaskCompleted(outcome="done"),
        "task again": ex.TaskResumed(),
    }
    history = [happened(told[name], session="s", task="t") for name in events]
    assert ask(*history, of="SELECT status FROM actions") == [(status,)]


def test_an_id_that_starts_again_is_another_action(ask):
    start, good = (
        ex.ActionStarted(action="a", tool="x"),
        ex.ActionFinished(action="a", success=True),
    )
    of = "SELECT status FROM actions ORDER BY started_at"
    assert ask(start, start, good, of=of) == [("succeeded",), ("running",)]


def test_links_tie_memories_that_are_there_and_what_a_cause_ties(ask):
    events = [
        NOTE,
        happened(NOTE, cause="e0"),
        mem.MemoryLinked(from_memory=MEMORY, to_memory=memory_of("e1"), kind="similar", score=0.5),
        mem.MemoryLinked(from_memory=MEMORY, to_memory="mem_none", kind="similar"),
    ]
    of = "SELECT to_memory, kind, score, event_id FROM links ORDER BY kind"
    caused = memory_of("e1")
    assert ask(*events, of=of) == [
        (caused, "causes", 1000, "e1"),
        (caused, "similar", 500, "e2"),
    ]
    assert ask(of="SELECT count(*) FROM told_links") == [(2,)]


def test_two_agents_may_call_their_actions_alike(ask):
    start, end = ex.ActionStarted(action="a", tool="x"), ex.ActionFinished(action="a", success=True)
    events = [happened(start), happened(end, agent="ops-2"), happened(start, agent="ops-2")]
    found = ask(*events, of="SELECT agent, status FROM actions ORDER BY agent")
    assert found == [("ops-1", "running"), ("ops-2", "succeeded")]


def test_a_task_stands_where_its_last_event_put_it(ask):
    events = [
        ex.TaskStarted(goal="Ship it.", plan="build, ship"),
        ex.TaskPhaseChanged(to_phase="building"),
        ex.TaskProgressed(note="half way", done=0.5),
        ex.PlanChanged(plan="ship, build"),
        ex.TaskBlocked(reason="no keys"),
    ]
    of = "SELECT status, phase, goal, plan, last_note, done, reason, ended_at FROM tasks"
    told = [happened(event, task="t") for event in events]
    expected = ("building", "Ship it.", "ship, build", "half way", 0.5)
    assert ask(*told, of=of) == [("blocked", *expected, "no keys", None)]
    end = at(90, ex.TaskAbandoned(outcome="no budget", lesson="Ask early."), task="t")
    ended = (START + timedelta(minutes=90)).replace(tzinfo=None)
    assert ask(*told, end, of=of) == [("abandoned", *expected, None, ended)]


def test_a_session_that_nobody_started_is_known_by_its_events(ask):
    events = [happened(ex.MessageExchanged(role="user", text="hi"), session="s") for _ in range(2)]
    of = "SELECT session, status, started_at, messages, events, agents FROM sessions"
    assert ask(*events, of=of) == [("s", "open", None, 2, 2, 1)]


def test_an_event_that_names_a_memory_twice_used_it_once(ask):
    events = [
        NOTE,
        at(5, mem.MemoryUsed(memories=[MEMORY, MEMORY])),
        mem.MemoryUsed(memories=[MEMORY]),
    ]
    assert ask(*events, of="SELECT uses FROM memories") == [(2,)]


@pytest.mark.parametrize("of", ["sessions", "tasks"])
def test_a_sum_beyond_the_largest_number_is_the_largest_number_and_stops_no_publishing(ask, of):
    used = ModelUse(model="m1", tokens_in=2**63 - 1, tokens_out=2**63 - 1)
    events = [
        happened(NOTE.model_copy(update={"model_use": used}), session="s1", task="t1")
        for _ in range(2)
    ]
    asked = f"SELECT tokens_in, tokens_out FROM {of}"
    assert ask(*events, of=asked) == [(2**63 - 1, 2**63 - 1)]
