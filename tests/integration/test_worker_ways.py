"""Other ways to run a worker: as a replica, by Faust's own program; and to see who has what."""

import json
import os
import signal
import subprocess
import sys
import uuid

import pytest

from mnemolog import Memory
from support.polling import eventually
from support.processes import command
from support.workers import WorkerProcess, worker

pytestmark = pytest.mark.kafka


@pytest.fixture
def log(kafka):
    return f"kafka://{kafka.bootstrap}"


@pytest.fixture
def mark():
    return uuid.uuid4().hex[:8]


def said(log, folder, tenant, text):
    with Memory(folder / "writer", log=log, tenant=tenant, projects=False) as memory:
        return memory.observe(text, agent="ops-1").token


def recalled(data, log, tenant, question, *, after):
    with Memory(data, log=log, tenant=tenant, embedder="hashing", projects=False) as memory:
        return [one.text for one in memory.recall(question, after=after)]


def test_a_replica_keeps_what_others_own_and_is_ready_when_it_becomes_the_owner(
    tmp_path, log, mark
):
    tenant = f"t-{mark}"
    asked = ("--tenant", tenant, "--group", f"workers-{mark}")
    said(log, tmp_path, tenant, "the first word")
    with (
        worker(tmp_path / "owner", log, *asked) as owner,
        worker(tmp_path / "replica", log, *asked, "--replica") as replica,
    ):
        eventually(lambda: owner.owned + replica.owned == [tenant], what="one owner")
        replica.tells("tenant ready", tenant=tenant)
        token = said(log, tmp_path, tenant, "the second word")
        assert set(recalled(tmp_path / "replica", log, tenant, "word", after=token)) == {
            "the first word",
            "the second word",
        }
        owner.stop()
        replica.owns(tenant)
        assert len(replica.told("tenant taken", tenant=tenant)) == 1  # it was open all along


def test_faust_s_own_program_runs_the_same_application(tmp_path, log, mark):
    tenant = f"t-{mark}"
    said(log, tmp_path, tenant, "the first word")
    program = [sys.executable, "-m", "faust", "-A", "mnemolog.streams.app", "worker"]
    environment = {
        "MNEMOLOG_LOG": log,
        "MNEMOLOG_DATA": str(tmp_path / "data"),
        "MNEMOLOG_TENANT": tenant,
        "MNEMOLOG_EMBEDDER": "hashing",
        "MNEMOLOG_WORKER_GROUP": f"workers-{mark}",
    }
    process = subprocess.Popen(
        [*program, "--without-web"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
        cwd=tmp_path,
    )
    faust = WorkerProcess(process)
    try:
        token = said(log, tmp_path, tenant, "the second word")
        found = recalled(tmp_path / "data", log, tenant, "word", after=token)
        assert set(found) == {"the first word", "the second word"}
        assert faust.stop() == 0
    finally:
        faust.kill()
        print(*faust.lines, sep="\n")


def test_status_says_which_worker_owns_the_tenant(tmp_path, log, mark):
    tenant, group = f"t-{mark}", f"workers-{mark}"
    said(log, tmp_path, tenant, "the first word")
    asked = ("--log", log, "--tenant", tenant, "--json")
    with worker(tmp_path / "data", log, "--tenant", tenant, "--group", group) as one:
        one.owns(tenant)
        done = command("status", *asked, "--group", group, data=tmp_path / "elsewhere")
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert found["owner"].endswith(f"-{one.process.pid} at 127.0.0.1")
        one.stop()
    done = command("status", *asked, "--group", group, data=tmp_path / "elsewhere")
    assert json.loads(done.stdout)["owner"] is None


def test_a_stalled_worker_is_ended_by_who_owns_its_tenant_in_the_same_folder(tmp_path, log, mark):
    tenant = f"t-{mark}"
    said(log, tmp_path, tenant, "the first word")
    asked = ("--tenant", tenant, "--group", f"workers-{mark}")
    with worker(tmp_path / "data", log, *asked) as stalled:
        stalled.tells("tenant ready", tenant=tenant)
        stalled.process.send_signal(signal.SIGSTOP)
        with worker(tmp_path / "data", log, *asked) as successor:
            told = successor.tells("stalled owner ended", tenant=tenant)
            assert f"process {stalled.process.pid} " in told["holder"]
            successor.tells("tenant ready", tenant=tenant)
        assert stalled.process.wait(60) == -signal.SIGKILL
