"""Snapshot files: everything survives, and whatever is wrong with one is named."""

import os
import struct
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.projections.checkpoints import file_format
from mnemolog.projections.checkpoints.file_format import SnapshotFiles, checkpoint_in, snapshot
from mnemolog.projections.generations import write_whole
from mnemolog.schemas.checkpoint import Checkpoint
from mnemolog.schemas.errors import Damaged, StoreUnavailable
from mnemolog.schemas.upcasts import Upcasts
from support.checkpoints import checkpoint, checkpoints

STATE = {"task_id": "t1", "working_memory": {"notes": ["好" * 400], "n": 2**70}}


@given(checkpoints())
def test_every_field_survives(saved):
    made = snapshot(saved)
    assert checkpoint_in(made.content, name=made.name).checkpoint == saved


def test_a_checkpoint_with_every_field_filled_fills_every_field():
    filled = checkpoint(
        parent="c0",
        current_sub_goal="sub",
        key_observations=["seen"],
        decision_rationale="because",
        intermediate_results={"x": 1.5},
        self_reflection="hm",
        tags=["a"],
        task_state=STATE,
    )
    unset = Checkpoint.model_fields.keys() - filled.model_fields_set
    assert unset == {"embedding"}
    made = snapshot(filled)
    assert checkpoint_in(made.content, name=made.name).checkpoint == filled


def test_equal_checkpoints_are_equal_files_and_others_are_others():
    assert snapshot(checkpoint(task_state=STATE)) == snapshot(checkpoint(task_state=STATE))
    assert snapshot(checkpoint()).name != snapshot(checkpoint(tags=["a"])).name


def test_the_working_memory_is_packed():
    whole = snapshot(checkpoint(task_state=STATE)).content
    assert "好".encode() * 400 not in whole
    assert len(whole) < len(snapshot(checkpoint()).content) + 800 < 1_600


@given(st.data())
def test_a_cut_file_is_named(data):
    made = snapshot(checkpoint(task_state=STATE))
    length = data.draw(st.integers(0, len(made.content) - 1))
    with pytest.raises(Damaged, match=made.name):
        checkpoint_in(made.content[:length], name=made.name)


@given(st.data())
def test_a_flipped_bit_anywhere_is_found(data):
    made = snapshot(checkpoint(task_state=STATE))
    content = bytearray(made.content)
    content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(Damaged):
        checkpoint_in(bytes(content), name=made.name)


@given(st.binary(max_size=300))
def test_foreign_bytes_are_damaged_and_nothing_else(content):
    with pytest.raises(Damaged):
        checkpoint_in(content, name="0" * 64)


def test_each_fault_says_what_it_is():
    made = snapshot(checkpoint(task_state=STATE))
    reasons = {
        "cut short: 3 bytes": made.content[:3],
        "no snapshot file": b"PK\3\4" + made.content[4:],
        "format version 2": made.content[:8] + b"\0\2" + made.content[10:],
        "its header tells of": made.content + b"!",
        "SHA-256": made.content[:-1] + bytes([made.content[-1] ^ 1]),
    }
    for reason, content in reasons.items():
        with pytest.raises(Damaged, match=reason):
            checkpoint_in(content, name=made.name)
    with pytest.raises(Damaged, match="another checkpoint than its name"):
        checkpoint_in(made.content, name=snapshot(checkpoint()).name)


def test_a_header_that_promises_a_huge_memory_is_refused_before_it_is_unpacked():
    structure, memory = b"{}", b"x"
    header = struct.pack(">8sHQQQ", file_format.MAGIC, 1, len(structure), len(memory), 2**60)
    seal = file_format.hashlib.sha256(header + structure + memory).digest()
    with pytest.raises(Damaged, match="working memory"):
        checkpoint_in(header + seal + structure + memory, name="0" * 64)


def test_a_file_that_this_codes_model_refuses_is_damaged_and_names_the_field(monkeypatch):
    made = snapshot(checkpoint())
    monkeypatch.setattr(file_format.Checkpoint, "model_validate", _refuse)
    with pytest.raises(Damaged, match="plan_summary is not what this code saves"):
        checkpoint_in(made.content, name=made.name)


def _refuse(fields):
    return Checkpoint(**{name: value for name, value in fields.items() if name != "plan_summary"})


@pytest.mark.bad_input(85)
def test_a_file_of_an_older_version_is_lifted_as_its_event_would_be(monkeypatch):
    old = file_format._sealed(
        b'{"checkpoint":{"agent":"a","goal":"go","id":"c1",'
        b'"plan_summary":"p","task_state":null,"timestamp":"2030-01-01T00:00:00Z"},'
        b'"dataref":"blobs?/checkpoint/goal=%s.300000","version":1}' % (b"0" * 64),
        b"",
    )
    name = file_format.hashlib.sha256(old[file_format._BODY_START :]).hexdigest()

    class CheckpointSaved2(file_format.CheckpointSaved):
        event_version = 2

    def goal_is_current_goal(data):
        fields = dict(data["checkpoint"])
        return {"checkpoint": {"current_goal": fields.pop("goal"), **fields}}

    monkeypatch.setattr(file_format, "CheckpointSaved", CheckpointSaved2)
    monkeypatch.setattr(
        file_format,
        "_UPCASTS",
        Upcasts({("checkpoint.saved", 1): goal_is_current_goal}, events=[CheckpointSaved2]),
    )
    kept = checkpoint_in(old, name=name)
    assert kept.checkpoint.current_goal == "go"
    assert kept.dataref == f"blobs?/checkpoint/current_goal={'0' * 64}.300000"


def test_a_file_of_a_newer_version_is_named_as_such(monkeypatch):
    class CheckpointSaved9(file_format.CheckpointSaved):
        event_version = 9

    with monkeypatch.context() as patch:
        patch.setattr(file_format, "CheckpointSaved", CheckpointSaved9)
        made = snapshot(checkpoint())
    with pytest.raises(Damaged, match="version 9 is newer"):
        checkpoint_in(made.content, name=made.name)


# Files


def test_a_file_is_written_once_and_read_back(tmp_path):
    stored, made = SnapshotFiles(tmp_path / "files"), snapshot(checkpoint(task_state=STATE))
    stored.write(made)
    first = (tmp_path / "files" / made.name).stat().st_mtime_ns
    stored.write(made)
    assert (tmp_path / "files" / made.name).stat().st_mtime_ns == first
    assert stored.read(made.name).checkpoint == checkpoint(task_state=STATE)
    assert stored.names() == {made.name}


def test_writing_again_heals_a_damaged_file(tmp_path):
    stored, made = SnapshotFiles(tmp_path), snapshot(checkpoint())
    (tmp_path / made.name).write_bytes(made.content[:-3])
    with pytest.raises(Damaged):
        stored.read(made.name)
    stored.write(made)
    assert stored.read(made.name).checkpoint == checkpoint()


def test_a_sweep_waits_for_a_file_that_is_being_written_and_takes_no_draft_of_it(
    tmp_path, monkeypatch
):
    stored, made = SnapshotFiles(tmp_path), snapshot(checkpoint())
    sync, swept = os.fsync, []

    def sweep():
        for name in stored.names() - {made.name}:
            stored.remove(name)
            swept.append(name)

    def synced(handle):
        sync(handle)
        if not sweeper.ident:
            sweeper.start()
            sweeper.join(0.2)  # one that does not wait has done it by then

    sweeper = threading.Thread(target=sweep)
    monkeypatch.setattr(os, "fsync", synced)
    stored.write(made)
    sweeper.join()
    assert len(swept) == 1  # the draft was seen
    assert stored.names() == {made.name}


def test_several_threads_write_one_file_whole(tmp_path):
    made = snapshot(checkpoint())
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: write_whole(tmp_path / "whole", made.content), range(64)))
    assert (tmp_path / "whole").read_bytes() == made.content
    assert [path.name for path in tmp_path.iterdir()] == ["whole"]


def test_a_missing_file_is_damaged_and_a_folder_that_is_none_is_the_worlds_fault(tmp_path):
    with pytest.raises(Damaged, match="can't be read"):
        SnapshotFiles(tmp_path / "none").read("a" * 64)
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(StoreUnavailable):
        SnapshotFiles(tmp_path / "file").write(snapshot(checkpoint()))


@pytest.mark.bad_input(81)
@pytest.mark.parametrize("name", ["../../tmp/pwn", "/etc/x", "..\\..\\x", "C:\\x", "会议" * 64])
def test_an_id_never_becomes_a_path(tmp_path, name):
    stored = SnapshotFiles(tmp_path / "deep" / "files")
    made = snapshot(checkpoint(name[:80], parent=name[:80]))
    stored.write(made)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [made.name]
    with pytest.raises(AssertionError):
        stored.read(name)
