"""A full disk: what was acknowledged is there, what can go on goes on, the rest says what to do."""

import json
import shutil
import subprocess
import sys

import pytest

from mnemolog.projections.kinds import NAMES
from mnemolog.schemas.errors import NoRoom, StoreUnavailable, TimedOut
from support.remembering import opened, texts
from support.small_disk import small_disk
from support.trouble import EVENTS, LARGE, asked, bad, findings, left, made, refused, say

ROOM = "Make room"


@pytest.fixture(scope="module")
def lived(tmp_path_factory):
    folder = tmp_path_factory.mktemp("full") / "data"
    return folder, made(folder)


@pytest.fixture
def data(lived, tmp_path):
    shutil.copytree(lived[0], tmp_path / "data")
    return tmp_path / "data"


def line(number):
    return json.dumps(
        {
            "specversion": "1.0",
            "id": f"i-{number}",
            "source": "elsewhere",
            "type": "mnemolog.observation.recorded",
            "partitionkey": "ops-1",
            "agent": "ops-1",
            "time": "2030-01-01T00:00:00Z",
            "data": {"text": f"row {number} {'q' * 2_000}"},
        }
    )


HISTORY = "\n".join(map(line, range(60))).encode()


def records(data):
    with opened(data, projects=False) as mem:
        return sum(mem.engine.log.ends().values())


def fill_the_log(mem):
    for number in range(1_000):
        mem.observe(f"{number} {'x' * 4_000}")


def test_on_a_disk_without_a_byte_reading_goes_on_and_the_rest_says_what_to_do(lived, data):
    with small_disk(data / "default") as disk:
        disk.fill()
        refused(say(data, "lamp 13 is on"), 4, "log.db", ROOM)
        refused(asked(data, "import", "-", stdin=HISTORY), 4, "log.db", ROOM)
        refused(asked(data, "rebuild", "weights"), 4, ROOM)
        told = asked(data, "status", "--json")
        assert told.code == 0
        assert "100% of the disk is used" in json.loads(told.out)["warnings"][0]
        answer = asked(data, "recall", "lamp 3", "--json")
        assert answer.code == 0
        assert "lamp 3 is on" in [one["text"] for one in json.loads(answer.out)["memories"]]
        assert "goal 11" in asked(data, "resume", "t").out
        found = bad(data, "--fix")
        assert [one.split(":")[0] for one in found] == ["disk"]
        disk.empty()
        assert findings(data) == []
        assert left(data) == lived[1]


def test_the_log_takes_what_it_can_hold_and_no_acknowledged_event_is_lost(data):
    with small_disk(data / "default" / "log") as disk:
        disk.fill(leave=300 * 1024)
        with opened(data, agent="ops-1") as mem:
            with pytest.raises(StoreUnavailable, match="log") as raised:
                fill_the_log(mem)
            assert ROOM in raised.value.hint
            end = mem.engine.log.ends()[0]
            assert end > EVENTS
            mem.wait_for(mem.end())  # what the log took is folded
            assert mem.recall("lamp 3").memories
            with pytest.raises(StoreUnavailable):
                mem.observe(LARGE + "once more")
            disk.empty()
            assert mem.observe("lamp 13 is on").position.offset == end
        assert bad(data) == []


# A limit on the size of files refuses in the same way, and needs no right to mount.
LIMITED = """
import json, resource, sys
from mnemolog import Memory
from mnemolog.schemas.errors import StoreUnavailable
with Memory(sys.argv[1], agent="ops-1", projects=False) as memory:
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
    acknowledged = 0
    try:
        while acknowledged < 1_000:
            memory.observe(f"{acknowledged} {'x' * 4_000}")
            acknowledged += 1
    except StoreUnavailable as error:
        print(json.dumps([acknowledged, str(error), error.hint]))
"""


def test_a_limit_on_files_refuses_as_a_full_disk_does(data):
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(data)], capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    acknowledged, error, hint = json.loads(done.stdout)
    assert acknowledged
    assert "log.db" in error
    assert ROOM in hint
    assert left(data).records == EVENTS + acknowledged
    assert bad(data) == []


STORES = ["memories", "analytics", "checkpoints", "weights"]


@pytest.mark.parametrize("name", STORES)
def test_a_store_without_room_keeps_neither_appends_nor_other_stores(data, name):
    with small_disk(data / "default" / name) as disk, opened(data, agent="ops-1") as mem:
        disk.fill()
        others = [one for one in NAMES if one != name]
        for number in range(20):
            token = mem.observe(f"lamp {number} glows {'y' * 3_000}", task="t").token
            mem.checkpoint(f"goal {number} {'z' * 3_000}", plan_summary="on", task="t")
        mem.wait_for(token, projections=[one for one in others if one != "analytics"])
        with pytest.raises((TimedOut, StoreUnavailable), match=name):
            mem.wait_for(mem.end(), projections=[name], timeout_seconds=0.5)
        disk.empty()
        mem.wait_for(mem.end(), projections=NAMES, vectors=True)
        assert all(one.is_equal for one in mem.verify(name))
        assert "lamp 19 glows" in " ".join(texts(mem.recall("lamp 19 glows")))


@pytest.mark.parametrize("name", ["memories", "weights"])
def test_who_comes_to_a_store_without_room_appends_all_the_same(data, name):
    with small_disk(data / "default" / name) as disk:
        disk.fill()
        done = say(data, "lamp 13 is on")
        refused(done, 4, name)
        assert done.out.strip()  # its id: it is in the log
        assert records(data) == EVENTS + 1
        told = json.loads(asked(data, "status", "--json").out)
        assert told["ends"] == {"0": EVENTS + 1}
        assert any(one["behind"] for one in told["projections"])
        disk.empty()
        assert bad(data, "--fix") == []
        assert left(data).records == EVENTS + 1
        assert all(one["equal"] for one in json.loads(asked(data, "verify", "--json").out))


def test_a_text_beside_the_log_without_room_is_refused_whole(data):
    with small_disk(data / "default" / "blobs", mebibytes=2) as disk:
        disk.fill(leave=100 * 1024)
        refused(say(data, LARGE + "another"), 4, "blobs", ROOM)
        assert say(data, "lamp 13 is on").code == 0
        assert records(data) == EVENTS + 1
        disk.empty()
        assert bad(data) == []
        assert say(data, LARGE + "another").code == 0


def test_published_tables_without_room_are_the_former_ones(data, monkeypatch):
    monkeypatch.setattr("mnemolog.cli.writing.TROUBLE_SECONDS_MAX", 0.2)
    with small_disk(data / "default" / "published") as disk:
        disk.fill()
        refused(say(data, "lamp 13 is on"), 4)
        assert "24" in asked(data, "sql", "--stale", "SELECT 24").out
        disk.empty()
        assert asked(data, "sql", "SELECT count(*) FROM observations").code == 0
        assert bad(data) == []


def test_a_temporary_folder_without_room_is_needed_for_nothing(data, tmp_path, monkeypatch):
    with small_disk(tmp_path / "tmp", mebibytes=1) as disk:
        monkeypatch.setenv("TMPDIR", str(disk.path))
        monkeypatch.setattr("tempfile.tempdir", str(disk.path))
        disk.fill()
        assert say(data, "lamp 13 is on").code == 0
        assert asked(data, "rebuild", "analytics").code == 0
        assert asked(data, "sql", "SELECT count(*) FROM observations").code == 0
        assert bad(data) == []


def test_an_export_to_a_full_disk_leaves_no_half_of_it(data, tmp_path):
    with small_disk(tmp_path / "out", mebibytes=1) as disk:
        disk.fill(leave=8_192)
        refused(asked(data, "export", "--to", str(disk.path / "all.jsonl")), 4, ROOM)
        assert [path.name for path in disk.path.iterdir()] == [".ballast"]


def test_water_marks_warn_and_refuse_what_can_wait_while_appends_go_on(data):
    with small_disk(data / "default", mebibytes=64) as disk:
        disk.fill_to(0.85)
        assert say(data, "lamp 13 is on").code == 0
        (warning,) = json.loads(asked(data, "status", "--json").out)["warnings"]
        assert "make room before 95%" in warning
        (found,) = [one for one in findings(data) if one["check"] == "disk"]
        assert found["state"] == "look"
        assert asked(data, "rebuild", "weights").code == 0

        disk.fill_to(0.96)
        with opened(data, agent="ops-1") as mem:
            mem.wait_for(mem.observe("lamp 14 is on").token)
            assert "lamp 14 is on" in texts(mem.recall("lamp 14"))
            for work in (mem.rebuild, mem.verify):
                with pytest.raises(NoRoom, match=r"9\d% of the disk is used") as raised:
                    work("weights")
                assert ROOM in raised.value.hint
        refused(asked(data, "rebuild", "weights"), 4, "% of the disk is used", ROOM)
        (warning,) = json.loads(asked(data, "status", "--json").out)["warnings"]
        assert "rebuilds, compaction and publishing wait for room; appends go on" in warning
        assert "disk" in [one.split(":")[0] for one in bad(data)]
        disk.empty()
        assert asked(data, "rebuild", "weights").code == 0
        assert "disk" not in [one.split(":")[0] for one in bad(data)]
