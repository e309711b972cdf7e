"""A saved conversation is a checkpoint, without what must not leave it."""

import pytest

from mnemolog.schemas.events.experience import CheckpointSaved
from support.call_logs import call_logs
from support.import_log import ImportLog, json_file, lines_file

STATE = {
    "id": "3f0d2c1e-0000-4000-8000-5a5a5a5a5a5a",
    "agent": {
        "kind": "Agent",
        "llm": {"model": "small-1", "api_key": "hush-1"},
        "tools": [{"name": "terminal", "params": {}}, {"name": "editor"}],
        "mcp_config": {"token": "hush-2"},
    },
    "workspace": {"working_dir": "/srv/lifts", "kind": "LocalWorkspace"},
    "max_iterations": 500,
    "execution_status": "paused",
    "confirmation_policy": {"kind": "NeverConfirm"},
    "activated_knowledge_skills": ["lifts"],
    "blocked_actions": {},
    "stats": {
        "usage_to_metrics": {
            "agent": {"accumulated_token_usage": {"prompt_tokens": 90, "completion_tokens": 9}},
            "condenser": {"accumulated_token_usage": {"prompt_tokens": 10}},
        }
    },
    "secret_registry": {"secret_sources": {"key": "hush-3"}},
    "agent_state": {"floor": 3},
}


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


def test_a_saved_conversation_is_a_checkpoint_of_its_session(log, tmp_path):
    assert log.take(json_file(tmp_path, STATE)).problems == []
    (saved,) = log.of(CheckpointSaved)
    checkpoint = saved.recorded.event.checkpoint
    assert saved.envelope.session == saved.envelope.task == STATE["id"]
    assert saved.envelope.assumed_utc
    assert checkpoint.current_goal == f"OpenHands conversation {STATE['id']}"
    assert checkpoint.plan_summary == "status: paused, working directory: /srv/lifts"
    state = checkpoint.task_state
    assert state.variables == {
        "execution_status": "paused",
        "max_iterations": 500,
        "activated_knowledge_skills": ["lifts"],
        "model": "small-1",
        "tools": ["terminal", "editor"],
        "working_directory": "/srv/lifts",
    }
    assert (state.working_memory, state.tokens.used) == ({"floor": 3}, 109)


def test_no_key_or_secret_comes_with_it(log, tmp_path):
    log.take(json_file(tmp_path, STATE))
    assert "hush" not in log.events()[0].recorded.event.model_dump_json()


def test_the_same_state_adds_nothing_and_a_later_one_is_another(log, tmp_path):
    log.take(json_file(tmp_path, STATE))
    assert log.take(json_file(tmp_path, STATE, name="again.json")).added == 0
    assert log.take(json_file(tmp_path, {**STATE, "execution_status": "finished"})).added == 1


@pytest.mark.parametrize("odd", [{"id": 7}, {"id": "../x"}, {"id": None}])
def test_a_state_without_a_name_is_named_and_its_neighbours_come(log, tmp_path, odd):
    report = log.take(lines_file(tmp_path, {**STATE, **odd}, call_logs()[0]))
    assert [problem.place for problem in report.problems] == ["line 1"]
    assert report.added == 5


@pytest.mark.parametrize("junk", [None, [], 3, "x", {"llm": 3, "tools": [1, {"name": 2}]}])
def test_odd_parts_are_left_out(log, tmp_path, junk):
    odd = dict.fromkeys(("agent", "workspace", "stats", "agent_state", "tags"), junk)
    assert log.take(json_file(tmp_path, {**STATE, **odd})).problems == []
    assert len(log.of(CheckpointSaved)) == 1
