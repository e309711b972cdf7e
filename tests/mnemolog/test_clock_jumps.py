"""A machine's clock that jumps, back or forward: nothing is lost, stalled or out of order."""

import ast
from datetime import UTC, datetime, timedelta

import pytest

from mnemolog.doctor import clock
from support.doctoring import the_trouble, troubles
from support.remembering import opened, texts
from support.sources import ROOT

START = datetime(2030, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
# Where the machine's time is asked: everything that waits has a clock that only goes on.
ASKED = {"streams/clock.py", "src/mnemolog/engine.py"}
FOLDERS = ("schemas", "projections", "streams", "replay", "src/mnemolog")


def told(data, *moments):
    """Append an observation at each of *moments*, as the log's machine tells the time."""
    with opened(data, agent="ops-1") as mem:
        for number, moment in enumerate(moments):
            mem.engine.log._now = lambda at=moment: at
            said = mem.observe(f"step {number}", occurred_at=moment)
        mem.wait_for(said.token)


def test_a_clock_that_goes_on_is_well(tmp_path, monkeypatch):
    monkeypatch.setattr(clock, "present", lambda: START + 2 * HOUR)
    told(tmp_path, START, START, START + HOUR, START + timedelta(minutes=56))
    assert not troubles(tmp_path, clock)


def test_a_clock_that_went_back_is_found_with_its_place_and_step(tmp_path, monkeypatch):
    monkeypatch.setattr(clock, "present", lambda: START + 99 * HOUR)
    told(tmp_path, START, START + 3 * HOUR, START + HOUR, START)
    finding = the_trouble(tmp_path, clock)
    assert finding.state == "look"
    assert finding.detail.startswith("2 records from 0@2 on were recorded up to 3:00:00 before")
    assert "nothing is lost or out of order" in finding.advice


def test_a_clock_that_ran_ahead_is_found_until_that_time_has_come(tmp_path, monkeypatch):
    told(tmp_path, START, START + 10_000 * HOUR)
    monkeypatch.setattr(clock, "present", lambda: START + HOUR)
    ahead = the_trouble(tmp_path, clock).detail
    assert "0@1 on were recorded in the future, up to 2031-02-21" in ahead
    monkeypatch.setattr(clock, "present", lambda: START + 10_001 * HOUR)
    assert not troubles(tmp_path, clock)


@pytest.mark.parametrize("hours", [(0, 9_000, 1, -9_000), (0, -1, -2, -3), (0, 1, 0, 1)])
def test_order_is_by_place_whatever_the_clock_says(tmp_path, hours):
    moments = [START + number * HOUR for number in hours]
    told(tmp_path, *moments)
    steps = [f"step {number}" for number in range(len(hours))]
    with opened(tmp_path) as mem:
        assert sorted(texts(mem.recall("step", agent="ops-1"))) == steps
        shown = [entry.text for entry in mem.timeline(agent="ops-1")]
        assert shown in (steps, steps[::-1])
        assert [one.is_equal for one in mem.verify()] == [True] * 4


@pytest.mark.parametrize("at", [START - 9_000 * HOUR, START + 9_000 * HOUR])
def test_weights_stay_within_their_bounds_whatever_time_is_asked_at(tmp_path, at):
    told(tmp_path, START, START + 9_000 * HOUR, START - 9_000 * HOUR)
    with opened(tmp_path) as mem:
        found = mem.recall("step", agent="ops-1", at=at)
        assert len(found) == 3
        assert all(0.01 <= one.weight <= 10 for one in found)


def test_who_keeps_the_projections_is_known_whatever_the_clock_says(tmp_path):
    told(tmp_path, START + 9_000 * HOUR)
    with opened(tmp_path) as first:
        assert first.engine.is_owner
        with opened(tmp_path) as second:
            assert not second.engine.is_owner
    with opened(tmp_path) as third:
        assert third.engine.is_owner


def test_the_machine_is_asked_for_its_time_in_two_places():
    paths = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    assert len(paths) > 200
    asking = {str(path.relative_to(ROOT)) for path in paths if _asks_for_the_time(path.read_text())}
    assert asking == ASKED


def _asks_for_the_time(source):
    if "time" not in source:
        return False
    calls = [node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    names = {
        (ast.unparse(call.value), call.attr) for call in calls if isinstance(call, ast.Attribute)
    }
    return bool(names & {("datetime", "now"), ("datetime", "utcnow"), ("time", "time")})
