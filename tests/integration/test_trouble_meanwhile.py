"""Deaths while doctor mends, a second process beside it, another release's folder, odd clocks."""

import json
import os
import shutil
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from mnemolog.engine import present
from mnemolog.folder import FORMAT, FORMAT_FILE
from mnemolog.projections.kinds import NAMES
from mnemolog.schemas.errors import NewerRelease
from mnemolog.streams.sqlite_log import SQLiteLog
from support.processes import other
from support.remembering import opened, texts
from support.trouble import (
    ENVIRONMENT,
    EVENTS,
    asked,
    bad,
    findings,
    left,
    made,
    refused,
    say,
)


@pytest.fixture(scope="module")
def lived(tmp_path_factory):
    folder = tmp_path_factory.mktemp("meanwhile") / "data"
    return folder, made(folder)


@pytest.fixture
def data(lived, tmp_path):
    shutil.copytree(lived[0], tmp_path / "data")
    return tmp_path / "data"


# Deaths

# Mends until a named point is reached, and is killed there.
MENDS = """
import os, signal, sys
from mnemolog.cli.main import main
from mnemolog.projections.fault_points import listening
point = sys.argv[1]
def die(reached):
    if reached == point:
        os.kill(os.getpid(), signal.SIGKILL)
sys.argv = ["mnemolog", "doctor", "--fix"]
with listening(die):
    main()
"""
POINTS = (
    "memories.rows-upserted",
    "rebuild.swapped",
)


def killed_while_mending(data, point):
    done = subprocess.run(
        [sys.executable, "-c", MENDS, point],
        env={**os.environ, **ENVIRONMENT, "MNEMOLOG_DATA": str(data)},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, (point, done.returncode, done.stderr.decode())


def test_a_mending_that_is_killed_again_and_again_is_ended_by_the_next(lived, data):
    for point in POINTS:
        for path in data.rglob("generation.json"):
            path.write_bytes(b"{")
        (data / "default" / "vectors.db").write_bytes(b"no database")
        killed_while_mending(data, point)
    assert bad(data, "--fix") == []
    assert findings(data, "--fix") == []
    assert left(data) == lived[1]


# A second process


def test_beside_a_process_that_keeps_the_folder_doctor_looks_and_mends_nothing_of_its(lived, data):
    with other(data, agent="ops-1") as keeper:
        assert keeper.ask("memory.engine.is_owner")
        assert say(data, "lamp 13 is on").code == 0  # the keeper folds it
        assert findings(data) == []
        refused(asked(data, "rebuild", "weights"), 4, "projector.lock", str(keeper.pid))
        (path,) = (data / "default" / "checkpoints").glob("*/generation.json")
        sound = path.read_bytes()
        path.write_bytes(b"{")
        found = bad(data, "--fix")
        assert any("checkpoints" in one for one in found), found
        assert keeper.ask("memory.recall('lamp 13 is on').memories[0].text") == "lamp 13 is on"
        path.write_bytes(sound)
        assert bad(data) == []
        keeper.kill()
    assert left(data).records == EVENTS + 1
    assert bad(data, "--fix") == []


def test_a_keeper_that_stands_still_is_named_with_what_to_do(data):
    with other(data) as keeper:
        os.kill(keeper.pid, signal.SIGSTOP)
        try:
            (found,) = [one for one in findings(data) if one["check"] == "keeper"]
            assert found["state"] == "bad"
            assert str(keeper.pid) in found["detail"]
            assert "kill -CONT" in found["advice"]
            assert say(data, "lamp 13 is on", "--no-wait").code == 0
        finally:
            os.kill(keeper.pid, signal.SIGCONT)
        assert "lamp 13" in keeper.ask("memory.recall('lamp 13', after=memory.end())[0].text")


# Another release


def everything_below(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def later_format(data):
    told = {"format": FORMAT + 1, "release": "99.0"}
    (data / "default" / FORMAT_FILE).write_text(json.dumps(told))


def later_log(data):
    (path,) = data.rglob("log.db")
    log = SQLiteLog.open(path, tenant="default")
    log._writing.execute("PRAGMA user_version = 99")
    log.close()


def later_fold(data):
    (path,) = (data / "default" / "weights").glob("*/generation.json")
    path.write_text(json.dumps({**json.loads(path.read_bytes()), "version": 99}))


@pytest.mark.parametrize("make_later", [later_format, later_log])
def test_a_folder_of_a_later_release_is_left_alone_by_every_command(data, make_later):
    make_later(data)
    before = everything_below(data)
    for command in (["status"], ["recall", "lamp"], ["rebuild"], ["export"], ["verify"]):
        refused(asked(data, *command), 2, "later release", "Upgrade mnemolog")
    refused(say(data, "lamp 13"), 2, "later release")
    refused(asked(data, "import", "-", stdin=b"{}"), 2, "later release")
    (found,) = [one for one in findings(data, "--fix") if one["check"] == "opening"]
    assert "later release" in found["detail"]
    assert "Upgrade" in found["advice"]
    assert before.items() <= everything_below(data).items()  # looking may leave files of its own


def test_a_later_fold_is_left_alone_and_appends_go_on(lived, data):
    later_fold(data)
    assert say(data, "lamp 13", "--no-wait").code == 0
    done = say(data, "lamp 14")
    refused(done, 2, "weights", "Upgrade")
    assert done.out.strip()  # it was appended
    assert any("weights" in one and "version 99" in one for one in bad(data, "--fix"))
    with opened(data) as mem, pytest.raises(NewerRelease):
        mem.rebuild("weights")
    (path,) = (data / "default" / "weights").glob("*/generation.json")
    assert json.loads(path.read_bytes())["version"] == 99
    path.write_bytes(
        next((lived[0] / "default" / "weights").glob("*/generation.json")).read_bytes()
    )
    assert left(data).records == EVENTS + 2
    assert bad(data) == []


# Clocks


def said_at(data, text, moment):
    with opened(data, agent="ops-1") as mem:
        mem.engine.log._now = lambda: moment
        said = mem.observe(text)
        mem.wait_for(said.token, projections=NAMES)
    return said.position.offset


def test_a_clock_that_jumps_far_ahead_and_back_loses_and_reorders_nothing(data):
    moments = [present() + timedelta(days=4_000), datetime(1971, 1, 1, tzinfo=UTC), present()]
    offsets = [said_at(data, f"jump {n}", moment) for n, moment in enumerate(moments)]
    assert offsets == [EVENTS, EVENTS + 1, EVENTS + 2]
    with opened(data) as mem:
        assert {"jump 0", "jump 1", "jump 2"} <= set(texts(mem.recall("jump")))
        assert all(one.is_equal for one in mem.verify())
    found = [one for one in findings(data, "--fix") if one["check"] == "clock"]
    assert {one["state"] for one in found} == {"look"}
    assert any("in the future" in one["detail"] for one in found), found
    assert all("nothing is lost" in one["advice"] for one in found)
    assert bad(data) == []
