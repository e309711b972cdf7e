"""SWE-agent: which runs are the same, which have grown, and what is wrong in a file."""

import json

import pytest

from mnemolog.importers.swe_agent import SWEAgent
from mnemolog.schemas.events.experience import (
    ActionFinished,
    DecisionMade,
    SessionEnded,
    SessionStarted,
)
from support.import_log import ImportLog, json_file, lines_file
from support.swe_agent import HISTORY, STEPS, SYSTEM, step, traj


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


def told(log: ImportLog, model) -> list:
    return [found.recorded.event for found in log.of(model)]


# Identity


def test_the_same_again_adds_nothing_and_a_run_that_has_grown_its_tail(log, tmp_path):
    growing = {"info": {}}
    first = log.take(json_file(tmp_path, traj(STEPS[:1], **growing)))
    second = log.take(json_file(tmp_path, traj(STEPS[:2], **growing), name="2.traj"))
    third = log.take(json_file(tmp_path, traj(), name="3.traj"))
    assert second.already_there == first.added
    assert third.already_there == first.added + second.added
    assert log.take(json_file(tmp_path, traj(), name="4.traj")).added == 0


def test_a_command_without_its_answer_stays_open_until_it_comes(log, tmp_path):
    log.take(json_file(tmp_path, traj([step("make", None)], info={})))
    assert log.of(ActionFinished) == []
    log.take(json_file(tmp_path, traj([step("make", "made")], info={})))
    assert [e.result for e in told(log, ActionFinished)] == ["made"]


def test_a_command_that_the_agent_passed_is_orphaned(log, tmp_path):
    log.take(json_file(tmp_path, traj([step("make", None), step("ls", "x")])))
    assert [e.orphaned for e in told(log, ActionFinished)] == [True, False]


def test_runs_that_part_ways_share_their_start_and_lose_nothing(log, tmp_path):
    other = [*STEPS[:1], step("rm doors.py", "gone", thought="Away with it.")]
    log.take(lines_file(tmp_path, traj(), traj(other)))
    assert [made.what for made in told(log, DecisionMade)] == [
        "Look first.",
        "Open it.",
        "Away with it.",
    ]
    assert len(log.of(SessionStarted)) == 1
    assert len(log.of(SessionEnded)) == 2


def test_a_run_has_one_content_wherever_in_a_file_it_stands(tmp_path):
    alone, behind = ImportLog(), ImportLog()
    alone.take(json_file(tmp_path, traj()))
    behind.take(lines_file(tmp_path, {"history": HISTORY}, traj()))
    contents = {f.recorded.content for f in behind.events()}
    assert {f.recorded.content for f in alone.events()} <= contents


# What is wrong


@pytest.mark.parametrize("odd", [{}, {"trajectory": [], "history": None}, [1], 3, None])
def test_what_is_no_run_is_named_and_its_neighbours_come(log, tmp_path, odd):
    report = log.take(lines_file(tmp_path, traj(), [odd], {"history": HISTORY}), format="swe-agent")
    assert [problem.place for problem in report.problems] == ["line 2"]
    assert len(log.of(SessionStarted)) == 2


@pytest.mark.parametrize("named", ["../x", 7, "\x01", ["a"]])
def test_a_name_that_is_none_is_named(log, tmp_path, named):
    replay = {"problem_statement": {"id": named}}
    report = log.take(lines_file(tmp_path, traj(replay_config=replay), traj()))
    assert [problem.place for problem in report.problems] == ["line 1"]
    assert len(log.of(SessionStarted)) == 1


def test_steps_and_messages_that_can_not_be_read_are_named_and_their_neighbours_come(log, tmp_path):
    report = log.take(json_file(tmp_path, traj([STEPS[0], 7, STEPS[1]])))
    assert [problem.place for problem in report.problems] == ["line 1, step 2"]
    assert len(log.of(ActionFinished)) == 2
    odd = {"history": [SYSTEM, {"role": "robot"}, *HISTORY[1:], {"role": "robot"}, 7]}
    report = log.take(json_file(tmp_path, odd))
    assert [p.place for p in report.problems] == [
        f"line 1, message {number}" for number in (2, 10, 11)
    ]


# Recognition


@pytest.mark.parametrize("written", [traj(), [traj()], {"history": HISTORY}, {"trajectory": STEPS}])
def test_runs_are_recognised(written):
    assert SWEAgent().recognises("x", json.dumps(written).encode())


@pytest.mark.parametrize(
    "other",
    [
        {"history": [{"id": 0, "action": "message", "source": "user"}]},
        {"trajectory": [[0.0, 1.5], [2.0, 3.0]]},
        [{"role": "user", "content": "hi"}],
    ],
)
def test_other_files_are_not_taken_for_runs(other):
    assert not SWEAgent().recognises("x", json.dumps(other).encode())
