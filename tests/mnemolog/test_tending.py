"""A worker ends who is in its way only where that is a worker that stands still."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mnemolog.projections.lease import Holding
from mnemolog.tending import is_stalled_worker
from support.polling import eventually

HERE = {"is_held": True, "host": "here", "lives": True}


@pytest.fixture
def stopped():
    """Return a function that starts a process with the given words, and stops it."""
    running = []

    def start(*words):
        process = subprocess.Popen([sys.executable, "-c", "input()", *words], stdin=subprocess.PIPE)
        running.append(process)
        os.kill(process.pid, signal.SIGSTOP)
        state = Path(f"/proc/{process.pid}/stat")
        eventually(lambda: b" T " in state.read_bytes(), what="it stops")
        return process.pid

    yield start
    for process in running:
        process.kill()
        process.communicate()


def test_a_stopped_worker_is_stalled(stopped):
    assert is_stalled_worker(Holding(**HERE, pid=stopped("mnemolog", "worker"), is_stopped=True))


def test_another_process_that_is_stopped_is_left_alone(stopped):
    assert not is_stalled_worker(
        Holding(**HERE, pid=stopped("mnemolog", "import"), is_stopped=True)
    )


@pytest.mark.parametrize("but", [{"is_stopped": False}, {"lives": None}, {"is_held": False}])
def test_a_worker_that_runs_is_elsewhere_or_holds_nothing_is_left_alone(stopped, but):
    found = {**HERE, "pid": stopped("mnemolog", "worker"), "is_stopped": True, **but}
    assert not is_stalled_worker(Holding(**found))
