"""The example, as a reader runs it: it dies in the middle of its work; a second run finishes."""

import subprocess
import sys

import pytest

from mnemolog import Memory
from support.sources import ROOT

EXAMPLE = ROOT / "examples" / "agent_loop.py"
SERVICES = ["auth", "order", "payment", "inventory", "notification"]
TASK = "upgrade-services"
KILLED = 137
SECONDS_MAX = 120


def run(data, *options):
    return subprocess.run(
        [sys.executable, str(EXAMPLE), "--data", str(data), "--embedder", "hashing", *options],
        check=False,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
    )


def identities(data):
    """Return the ids of all that the log holds, in order."""
    with Memory(str(data), record_recalls=False) as memory:
        return [
            row[0] for row in memory.sql("SELECT event_id FROM events ORDER BY log_offset").rows
        ]


@pytest.mark.parametrize("upgraded", [0, 2])
def test_a_run_that_dies_is_resumed_by_the_next_and_nothing_is_lost(tmp_path, upgraded):
    died = run(tmp_path, "--die-after", str(upgraded))
    assert died.returncode == KILLED, died.stderr
    cut_off = SERVICES[upgraded]
    before = identities(tmp_path)

    finished = run(tmp_path)
    assert finished.returncode == 0, finished.stderr
    assert "a new task" not in finished.stdout
    assert f'cut off: upgrade {{"service":"{cut_off}"}}' in finished.stdout
    assert f"finished: {', '.join(SERVICES)}" in finished.stdout
    for service in SERVICES[:upgraded]:
        assert f"upgraded {service};" in died.stdout
        assert f"upgraded {service};" not in finished.stdout

    assert identities(tmp_path)[: len(before)] == before
    with Memory(str(tmp_path), record_recalls=False) as memory:
        calls = memory.sql(
            "SELECT arguments->>'service', status FROM actions ORDER BY started_at"
        ).rows
        assert [service for service, status in calls if status == "succeeded"] == SERVICES
        assert [service for service, status in calls if status != "succeeded"] == [cut_off]
        resumed = memory.resume(TASK)
        assert resumed.checkpoint.checkpoint.intermediate_results == {"done": SERVICES}
        assert resumed.pending == ()
        kinds = {one.kind for one in memory.recall("one at a time", hits_max=20)}
        assert {"constraint", "decision"} <= kinds


def test_a_finished_task_is_not_done_again(tmp_path):
    assert run(tmp_path).returncode == 0
    before = identities(tmp_path)
    again = run(tmp_path)
    assert again.returncode == 0
    assert "upgraded " not in again.stdout
    assert identities(tmp_path) == before
