"""Agents' runs through the whole stack: recalled, counted, resumed from, and added once.

Memory on the embedded log and LanceDB. The samples stand beside the checkout, or these are skipped.
"""

import pytest

from mnemolog.importers.importing import import_paths
from mnemolog.projections.kinds import NAMES
from support.remembering import PATIENCE_SECONDS, opened, recorded
from support.sources import ROOT

DATA = ROOT.parent / "shared" / "data"
FILES = (
    "openhands/basic.json",
    "openhands/basic_interactions.json",
    "swe-agent/08-networking_1.traj",
    "swe-agent/12-function_calling_simple.traj",
    "mini-swe-agent/local.traj.json",
)


def take(mem, paths):
    named = [str(path) for path in paths]
    report = import_paths(named, publisher=mem.engine.publisher, log=mem.engine.log)
    mem.wait_for(mem.end(), timeout_seconds=250, projections=NAMES, vectors=True)
    return report


@pytest.fixture(scope="module")
def paths():
    logs = sorted((DATA / "openhands-llm-logs").glob("*.json"), reverse=True)  # the newest first
    found = [DATA / name for name in FILES] + logs
    if not all(path.exists() for path in found) or not logs:
        pytest.skip(f"no runs in {DATA}: the samples are not beside this checkout")
    return found


@pytest.fixture(scope="module")
def runs(paths, tmp_path_factory):
    with opened(tmp_path_factory.mktemp("runs") / "data") as mem:
        yield mem, take(mem, paths)


def test_what_was_said_decided_shown_and_come_to_is_recalled_with_its_event(runs):
    mem, report = runs
    assert (report.problems, report.added) == ([], len(recorded(mem)))
    asked = {
        "Goldbach's conjecture": "message.exchanged",
        "preinstalled tshark statistics of pcap protocols": "decision.made",
        "simple implementation of the 2048 game with arrow keys": "task.completed",
        "hello world output": "action.finished",
    }
    for question, event_type in asked.items():
        found = mem.recall(question, hits_max=10, timeout_seconds=PATIENCE_SECONDS)
        sources = {mem.get(memory.provenance.event_id).event.event_type for memory in found}
        assert event_type in sources, question


def test_calls_ends_and_costs_can_be_counted(runs):
    mem, _ = runs
    # One call for 2048, four for the network, five for the colon, two of mini-swe-agent; five of
    # the logs, two of which have no answer yet.
    assert mem.sql("SELECT count(*) FROM actions").rows == [(1 + 4 + 5 + 2 + 5,)]
    finished = "SELECT count(*) FROM events WHERE type = 'action.finished'"
    assert mem.sql(finished).rows == [(1 + 4 + 5 + 2 + 3,)]
    ((cost,),) = mem.sql("SELECT sum(cost_usd) FROM events").rows
    assert cost == pytest.approx(0.016626 + 0.016431 + 0.020169 + 0.00062647 + 0.00090112)


def test_where_a_run_stood_can_be_resumed_from(runs):
    mem, _ = runs
    (saved,) = mem.checkpoints(agent="swe-agent")
    resumed = mem.resume(saved.task)
    assert resumed.checkpoint.checkpoint.task_state.variables["open_file"] == "n/a"
    assert "task.completed" in resumed.text


def test_the_runs_imported_again_in_another_order_add_nothing_anywhere(runs, paths):
    mem, first = runs
    before = mem.digests()
    again = take(mem, reversed(paths))
    assert (again.added, len(recorded(mem))) == (0, first.added)
    assert mem.digests() == before
    # Nor does any repeat say something else than the first.
    assert mem.engine.log.ends() == {0: first.added}
