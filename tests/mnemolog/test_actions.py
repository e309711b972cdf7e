"""A tool call is two events: that it started, and what became of it, whatever became of it."""

import asyncio
from datetime import UTC, datetime

import pytest

from mnemolog.acting import ERROR_CHARACTERS_MAX
from mnemolog.schemas.errors import InvalidEvent, LogUnavailable
from support.remembering import opened, recorded, the_event


@pytest.fixture(scope="module")
def mem():
    with opened(projects=False, agent="ops-1") as memory:
        yield memory


def fail(action, error, **found):
    for name, value in found.items():
        setattr(action, name, value)
    raise error


def failed(mem, error):
    """Return the end of an action whose block raised *error*, which went on."""
    with pytest.raises(type(error)) as raised, mem.act("psql") as action:
        fail(action, error)
    assert raised.value is error
    return the_event(mem, action.finished).event


def test_a_call_that_ends_well_says_so(mem):
    with mem.act("psql", arguments={"max": 50}, costly=True, task="t-1", tags=["db"]) as action:
        action.result = "pool is 50"
        action.data = {"rows": 1}
        action.cost_usd = 0.5
    started, finished = the_event(mem, action.started), the_event(mem, action.finished)
    assert started.event.event_type == "action.started"
    assert (started.event.tool, started.event.arguments) == ("psql", {"max": 50})
    assert (started.event.costly, action.id) == (True, started.id)
    assert finished.event.event_type == "action.finished"
    assert (finished.event.success, finished.event.error) == (True, None)
    assert (finished.event.result, finished.event.data) == ("pool is 50", {"rows": 1})
    assert (finished.event.cost_usd, finished.event.tool) == (0.5, "psql")
    assert finished.event.duration_ms >= 0
    assert started.event.action == finished.event.action == action.action


def test_the_cause_of_the_end_is_the_start_and_its_scope_is_the_starts(mem):
    asked = mem.message("how big is the pool?")
    with mem.act("psql", caused_by=asked, task="t-1", session="s-1") as action:
        pass
    started, finished = the_event(mem, action.started), the_event(mem, action.finished)
    assert started.envelope.cause == asked.id
    assert finished.envelope.cause == started.id
    assert (finished.envelope.task, finished.envelope.session) == ("t-1", "s-1")
    assert finished.occurred_at >= started.occurred_at


@pytest.mark.parametrize(
    "error",
    [
        ValueError("no such table"),
        KeyboardInterrupt(),
        SystemExit(3),
        GeneratorExit(),
        asyncio.CancelledError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_failure_is_recorded_and_goes_on(mem, error):
    event = failed(mem, error)
    assert event.success is False
    assert event.error == f"{type(error).__name__}: {error}"
    assert event.result is None


def test_what_a_failed_call_had_found_is_kept_and_its_result_is_not(mem):
    with pytest.raises(OSError, match="gone"), mem.act("psql") as action:
        fail(action, OSError("gone"), result="half", data={"rows": 3})
    event = the_event(mem, action.finished).event
    assert (event.result, event.data) == (None, {"rows": 3})


def test_a_failure_of_many_words_is_cut_and_not_replaced_by_its_refusal(mem):
    event = failed(mem, ValueError("x" * 2_000_000))
    assert len(event.error) == ERROR_CHARACTERS_MAX
    assert event.error.startswith("ValueError: xxx")


def test_a_failure_with_odd_characters_is_kept_readable(mem):
    assert failed(mem, ValueError("half of \ud83e and \x00")).error == "ValueError: half of � and �"


def test_a_failure_goes_on_with_a_note_when_the_log_can_not_be_told():
    mem = opened(projects=False, agent="ops-1")
    with pytest.raises(ZeroDivisionError) as raised, mem.act("divide") as action:
        fail(action, ZeroDivisionError(mem.close()))
    assert any("handle was closed" in note for note in raised.value.__notes__)
    assert action.finished is None


def test_a_good_end_that_can_not_be_recorded_is_an_error():
    mem = opened(projects=False, agent="ops-1")
    with pytest.raises(LogUnavailable), mem.act("divide"):
        mem.close()


def test_a_result_that_is_no_text_is_refused_by_its_name(mem):
    with pytest.raises(InvalidEvent, match="result"), mem.act("psql") as action:
        action.result = {"rows": 1}


def test_an_unknown_keyword_starts_nothing(mem):
    before = mem.end()
    with pytest.raises(TypeError, match="'sesion'"), mem.act("psql", sesion="s"):
        pytest.fail("the block ran")
    assert mem.end() == before


def test_a_retried_call_with_its_id_is_one_call():
    with opened(projects=False, agent="ops-1") as mem:
        for _ in range(2):
            with mem.act("pay", id="pay-7", occurred_at="2030-01-01") as action:
                assert action.id == action.action == "pay-7"
        started = [e for e in recorded(mem) if e.event.event_type == "action.started"]
        ended = {e.id for e in recorded(mem) if e.event.event_type == "action.finished"}
        assert len(started) == len(ended) == 1


def test_an_imported_call_ends_in_its_own_time_and_not_today(mem):
    with mem.act("psql", occurred_at="2030-01-01T00:00:00Z") as action:
        pass
    finished = the_event(mem, action.finished)
    began = datetime(2030, 1, 1, tzinfo=UTC)
    passed = finished.occurred_at - began
    assert 0 <= passed.total_seconds() < 300
    assert passed.total_seconds() * 1000 == pytest.approx(finished.event.duration_ms, abs=1)


def test_an_action_may_have_a_name_of_its_own(mem):
    with mem.act("psql", action="call_7") as action:
        pass
    assert the_event(mem, action.finished).event.action == action.action == "call_7"
