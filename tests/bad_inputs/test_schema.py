"""Snapshots of another version, or of a structure that this code does not save: caches, no more."""

import hashlib
import shutil
import struct
import zlib

import pytest

from mnemolog.projections.checkpoints.file_format import FORMAT_VERSION, MAGIC
from mnemolog.projections.generations import described
from mnemolog.projections.kinds import NAMES
from mnemolog.schemas.errors import NeedsRebuild, NotFound
from mnemolog.schemas.values import json_bytes, parse_json
from support.remembering import opened

STATE = {"task_id": "t", "variables": {"n": 2**64}, "working_memory": {"seen": ["12A"]}}
HEADER = struct.Struct(">8sHQQQ")


@pytest.fixture
def data(tmp_path):
    """Return a folder with three checkpoints of a task."""
    with opened(tmp_path / "data", agent="ops-1") as mem:
        for number in range(3):
            mem.checkpoint(
                f"goal {number}", plan_summary="on", task="t", id=f"c{number}", task_state=STATE
            )
        mem.wait_for(mem.end(), projections=NAMES)
    return tmp_path / "data"


def snapshots(data):
    return sorted((data / "default" / "checkpoints").glob("*/files/*"))


def opened_file(content):
    """Return the structure and the working memory of a snapshot."""
    _, _, structure, _, _ = HEADER.unpack_from(content)
    start = HEADER.size + 32
    return parse_json(content[start : start + structure]), content[start + structure :]


def sealed(written, packed, *, version=FORMAT_VERSION):
    """Return a snapshot with a sound seal that holds *written*."""
    structure = json_bytes(written)
    memory = len(zlib.decompress(packed)) if packed else 0
    header = HEADER.pack(MAGIC, version, len(structure), len(packed), memory)
    body = structure + packed
    return header + hashlib.sha256(header + body).digest() + body


def renamed(written):
    checkpoint = written["checkpoint"]
    checkpoint["goal"] = checkpoint.pop("current_goal")


def without_a_field(written):
    del written["checkpoint"]["plan_summary"]


def of_another_type(written):
    written["checkpoint"]["task_state"]["iterations"] = "many"


def with_a_field_of_the_future(written):
    written["checkpoint"]["mood"] = "good"


def of_version_0(written):
    written["version"] = 0


def of_a_newer_version(written):
    written["version"] = 99


CHANGES = {
    "a renamed field": renamed,
    "a missing field": without_a_field,
    "another type": of_another_type,
    "a field of the future": with_a_field_of_the_future,
    "an event of version 0": of_version_0,
    "an event of a newer version": of_a_newer_version,
}
SPOILT = {
    **{
        name: lambda content, change=change: rewritten(content, change)
        for name, change in CHANGES.items()
    },
    "an older format": lambda content: sealed(*opened_file(content), version=0),
    "a newer format": lambda content: sealed(*opened_file(content), version=FORMAT_VERSION + 1),
    "another file": lambda _: b"SQLite format 3\0",
    "a cut one": lambda content: content[:-7],
    "nothing": lambda _: b"",
}


def rewritten(content, change):
    written, packed = opened_file(content)
    change(written)
    return sealed(written, packed)


@pytest.mark.bad_input(85)
@pytest.mark.parametrize("how", SPOILT)
def test_a_snapshot_that_does_not_fit_is_discarded_and_the_log_gives_the_state(data, how):
    sound = {path: path.read_bytes() for path in snapshots(data)}
    assert len(sound) == 3
    for path, content in sound.items():
        path.write_bytes(SPOILT[how](content))
    with opened(data, read_only=True) as beside:  # one that writes nothing reads it all the same
        assert beside.saved("c1").checkpoint.current_goal == "goal 1"
        assert {path: path.read_bytes() for path in snapshots(data)} != sound
    with opened(data, agent="ops-1") as mem:
        resumed = mem.resume("t")
        assert (resumed.checkpoint.checkpoint.current_goal, resumed.damaged) == ("goal 2", ())
        assert resumed.checkpoint.checkpoint.task_state.variables == STATE["variables"]
        assert resumed.checkpoint.checkpoint.task_state.working_memory == STATE["working_memory"]
        for number in range(3):
            assert mem.saved(f"c{number}").checkpoint.current_goal == f"goal {number}"


@pytest.mark.bad_input(85)
@pytest.mark.parametrize("how", SPOILT)
def test_a_snapshot_that_does_not_fit_is_written_anew_by_who_keeps_the_projections(data, how):
    sound = {path: path.read_bytes() for path in snapshots(data)}
    for path, content in sound.items():
        path.write_bytes(SPOILT[how](content))
    with opened(data, agent="ops-1") as mem:
        for number in range(3):
            assert mem.saved(f"c{number}").checkpoint.current_goal == f"goal {number}"
    assert {path: path.read_bytes() for path in snapshots(data)} == sound


@pytest.mark.bad_input(85)
def test_snapshots_that_are_gone_come_back_too(data):
    sound = {path: path.read_bytes() for path in snapshots(data)}
    for path in sound:
        path.unlink()
    with opened(data, agent="ops-1") as mem:
        assert mem.saved("c0").checkpoint.current_goal == "goal 0"
        assert mem.resume("t").checkpoint.saved.id == "c2"
        mem.rebuild("checkpoints")
        assert mem.saved("c1").checkpoint.current_goal == "goal 1"
    assert len(snapshots(data)) >= 3


@pytest.mark.bad_input(85)
def test_a_forgotten_checkpoint_does_not_come_back_from_the_log(data):
    with opened(data, agent="ops-1") as mem:
        mem.wait_for(mem.forget("c2").token)
        for path in snapshots(data):
            path.unlink()
        with pytest.raises(NotFound):
            mem.saved("c2")
        assert mem.resume("t").checkpoint.saved.id == "c1"


@pytest.mark.bad_input(85)
@pytest.mark.parametrize("name", NAMES)
def test_a_generation_of_an_older_fold_is_built_anew_from_the_log(data, name, tmp_path):
    (description,) = (data / "default" / name).glob("*/generation.json")
    assert described(description.parent).version >= 1
    written = parse_json(description.read_bytes())
    description.write_bytes(json_bytes({**written, "version": 0}))
    with opened(data, agent="ops-1") as mem:
        appended = mem.observe("appends go on")
        with pytest.raises(NeedsRebuild, match="rebuild"):
            mem.wait_for(appended.token, projections=NAMES)
    with opened(data, agent="ops-1", rebuilding=[name]) as mem:
        mem.rebuild(name)
        mem.wait_for(appended.token, projections=NAMES)
        assert mem.resume("t").checkpoint.checkpoint.current_goal == "goal 2"
        assert mem.sql("SELECT count(*) FROM events").rows == [(4,)]
    shutil.rmtree(data)
