"""One process at a time writes a folder's projections."""

import os
import subprocess
import sys

import pytest

from mnemolog.projections.lease import Lease
from mnemolog.schemas.errors import LeaseHeld
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
