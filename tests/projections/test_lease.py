"""One process at a time writes a folder's projections."""

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager

import pytest

from mnemolog.projections.lease import Holding, Lease, look
from mnemolog.schemas.errors import LeaseHeld, StoreUnavailable
from support.polling import eventually

HOLD = """
import signal, sys
from pathlib import Path
from mnemolog.projections.lease import Lease
lease = Lease.take(Path(sys.argv[1]))
print("held", flush=True)
signal.pause()
"""


def test_a_second_taker_is_told_who_holds_it(tmp_path):
    lease = Lease.take(tmp_path / "lock")
    with pytest.raises(LeaseHeld, match=str(os.getpid())):
        Lease.take(tmp_path / "lock")
    lease.release()


def test_the_epoch_grows_with_each_holder(tmp_path):
    epochs = []
    for _ in range(3):
        lease = Lease.take(tmp_path / "folder" / "lock")
        epochs.append(lease.epoch)
        lease.release()
        lease.release()
    assert epochs == [1, 2, 3]


def test_a_killed_holder_lets_go(tmp_path):
    command = [sys.executable, "-c", HOLD, str(tmp_path / "lock")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"held\n"
        with pytest.raises(LeaseHeld, match=str(process.pid)):
            Lease.take(tmp_path / "lock")
        process.kill()

    lease = eventually(lambda: _taken(tmp_path / "lock"), what="the lease is free")
    assert lease.epoch == 2
    lease.release()


def _taken(path):
    try:
        return Lease.take(path)
    except LeaseHeld:
        return None


def test_a_torn_file_starts_over(tmp_path):
    (tmp_path / "lock").write_bytes(b'{"epo')
    assert Lease.take(tmp_path / "lock").epoch == 1


# Who holds it


@contextmanager
def held(path, code=HOLD):
    command = [sys.executable, "-c", code, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout.readline() == b"held\n"
            yield process
        finally:
            process.kill()


def test_nobody_has_held_what_is_not_there(tmp_path):
    assert look(tmp_path / "lock") == Holding(is_held=False)
    assert str(look(tmp_path / "lock")) == "nobody yet"


def test_a_holder_that_lives_is_named_with_its_process(tmp_path):
    with held(tmp_path / "lock") as process:
        found = look(tmp_path / "lock")
        assert found == Holding(
            is_held=True, pid=process.pid, host=socket.gethostname(), lives=True
        )
        assert str(found) == f"process {process.pid} on {socket.gethostname()}"


def test_a_holder_that_is_stopped_is_told(tmp_path):
    with held(tmp_path / "lock") as process:
        process.send_signal(signal.SIGSTOP)
        stopped = eventually(lambda: look(tmp_path / "lock").is_stopped, what="it is stopped")
        assert stopped
        assert str(look(tmp_path / "lock")).endswith("which is stopped")


def test_a_holder_that_has_ended_holds_no_more(tmp_path):
    with held(tmp_path / "lock") as process:
        pid = process.pid
    eventually(lambda: not look(tmp_path / "lock").is_held, what="the lease is free")
    found = look(tmp_path / "lock")
    assert (found.pid, found.is_held, found.lives) == (pid, False, False)
    assert str(found) == f"nobody; last by process {pid} on {socket.gethostname()}"


CHILD_HOLDS = """
import os, signal, sys
from pathlib import Path
from mnemolog.projections.lease import Lease
lease = Lease.take(Path(sys.argv[1]))
if os.fork():
    os._exit(0)
print(os.getpid(), flush=True)
signal.pause()
"""


def test_a_child_that_a_dead_holder_left_behind_is_told(tmp_path):
    command = [sys.executable, "-c", CHILD_HOLDS, str(tmp_path / "lock")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        child = int(process.stdout.readline())
        try:
            process.wait(30)
            found = look(tmp_path / "lock")
            assert (found.is_held, found.pid, found.lives) == (True, process.pid, False)
            assert str(found).startswith("a process that was begun by process ")
        finally:
            os.kill(child, signal.SIGKILL)


def test_of_another_host_it_is_not_known_whether_the_holder_lives(tmp_path):
    (tmp_path / "lock").write_text(json.dumps({"epoch": 3, "pid": 1, "host": "elsewhere"}))
    assert look(tmp_path / "lock") == Holding(is_held=False, pid=1, host="elsewhere", lives=None)


def test_looking_takes_nothing_from_who_wants_it(tmp_path):
    for _ in range(50):
        look(tmp_path / "lock")
        Lease.take(tmp_path / "lock").release()


def test_whether_the_last_holder_let_go_is_known(tmp_path):
    first = Lease.take(tmp_path / "lock")
    assert not first.is_after_a_death
    first.release()
    assert not Lease.take(tmp_path / "lock").is_after_a_death  # and is collected without release
    with held(tmp_path / "lock"):
        pass
    taken = eventually(lambda: _taken(tmp_path / "lock"), what="the lease is free")
    assert taken.is_after_a_death
    taken.release()
    assert not Lease.take(tmp_path / "lock").is_after_a_death


def test_what_stands_in_its_place_is_told(tmp_path):
    with pytest.raises(StoreUnavailable, match="directory"):
        Lease.take(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreUnavailable, match="file") as raised:
        Lease.take(tmp_path / "file" / "lock")
    assert "Move away" in raised.value.hint


def test_a_process_that_got_the_number_of_one_that_ended_is_not_the_holder(tmp_path):
    path = tmp_path / "lease"
    Lease.take(path).release()
    content = json.loads(path.read_bytes())
    assert look(path).lives
    path.write_text(json.dumps({**content, "started": content["started"] + 1}))
    assert not look(path).lives
