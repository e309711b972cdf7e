"""Releases that meet in one folder: a changed fold is rebuilt, a later release's left alone."""

import json

import pytest

from mnemolog.doctor import parked
from mnemolog.doctor.patient import Patient
from mnemolog.engine import LEASE_FILE
from mnemolog.folder import FORMAT, FORMAT_FILE
from mnemolog.ledgers import first_parked_in
from mnemolog.memory import Memory
from mnemolog.parked import REBUILD
from mnemolog.projections import kinds
from mnemolog.projections.choosing import LATE
from mnemolog.projections.generations import DESCRIPTION
from mnemolog.projections.kinds import NAMES, VERSIONS
from mnemolog.projections.weights.projection import WeightsProjection
from mnemolog.schemas.codec import Codec
from mnemolog.schemas.errors import InvalidSetting, NeedsRebuild, NewerRelease
from mnemolog.schemas.policy import Policy, WritePolicy
from support.earlier_code import EarlierCodec
from support.remembering import opened, recorded, texts


@pytest.fixture
def folder(tmp_path):
    with opened(tmp_path, agent="ops-1") as mem:
        mem.wait_for(mem.observe("the pool of auth").token, projections=NAMES)
    return tmp_path


@pytest.fixture
def changed_fold(folder, monkeypatch):
    version = VERSIONS["weights"] + 1
    monkeypatch.setattr(WeightsProjection, "version", version)
    monkeypatch.setattr(kinds, "VERSIONS", {**VERSIONS, "weights": version})
    monkeypatch.setattr("mnemolog.readers.VERSIONS", {**VERSIONS, "weights": version})
    return folder


def everything_below(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


# A fold that changed


def test_appending_goes_on_and_who_waits_hears_what_to_do(changed_fold):
    with opened(changed_fold, agent="ops-1") as mem:
        assert not mem.engine.is_owner
        token = mem.observe("the pool of order").token
        with pytest.raises(NeedsRebuild, match="mnemolog rebuild weights"):
            mem.wait_for(token)


def test_a_rebuild_brings_back_what_was_appended_meanwhile(changed_fold):
    with opened(changed_fold, agent="ops-1") as mem:
        mem.observe("the pool of order")
    with opened(changed_fold, rebuilding=["weights"]) as mem:
        mem.rebuild("weights")
    with opened(changed_fold) as mem:
        mem.wait_for(mem.end())
        assert set(texts(mem.recall("pool"))) == {"the pool of auth", "the pool of order"}


def test_nothing_is_opened_before_all_generations_are_found_to_be_ours(changed_fold):
    before = everything_below(changed_fold / "default" / "memories")
    with opened(changed_fold) as mem:
        assert not mem.engine.is_owner
    assert everything_below(changed_fold / "default" / "memories") == before


# A policy that the release before could not read


def test_a_policy_that_was_read_too_late_is_listed_until_a_rebuild_applies_it(folder, monkeypatch):
    policy = Policy(write=WritePolicy(importance=0.1))
    monkeypatch.setattr("mnemolog.engine.Codec", EarlierCodec)
    with opened(folder, agent="ops-1") as mem:
        changed = mem.append("policy.changed", {"revision": 1, "policy": policy})
        last = mem.observe("the pool of order")
        mem.wait_for(last.token)
        assert {row.newer for row in first_parked_in(mem.engine, "weights", events_max=9)} == {True}
    monkeypatch.setattr("mnemolog.engine.Codec", Codec)
    with opened(folder, agent="ops-1") as mem:
        (late,) = first_parked_in(mem.engine, "weights", events_max=9)
        assert (late.position, late.reason) == (changed.position, LATE)
        said = [one for one in parked.check(Patient.of(mem.engine)) if "weights" in one.detail]
        assert [one.advice for one in said] == [REBUILD]
        looked = mem.parked_event(changed.position, projections=["weights"])
        assert [one.advice for one in looked] == [REBUILD]
        with pytest.raises(InvalidSetting, match="neither a retry nor a skip"):
            mem.skip(changed.position)
        before_it = mem.digests()
        mem.rebuild()
        assert not first_parked_in(mem.engine, "weights", events_max=9)
        assert mem.digests() != before_it
        assert all(comparison.is_equal for comparison in mem.verify())
        assert mem.recall("order")[0].importance == 0.1


# A later release


def describe(folder, name, **more):
    (path,) = (folder / "default" / name).glob(f"*/{DESCRIPTION}")
    path.write_text(json.dumps({**json.loads(path.read_text()), **more}))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("more", "said"), [({"version": 99}, "version 99"), ({"layout": "columns"}, "it has layout")]
)
def test_its_generation_is_refused_by_name_and_appends_go_on(folder, name, more, said):
    describe(folder, name, **more)
    before = everything_below(folder / "default" / name)
    with opened(folder, agent="ops-1") as mem:
        appended = mem.observe("the pool of order")
        with pytest.raises(NewerRelease, match=rf"{name}.* later release: .*{said}") as raised:
            mem.wait_for(appended.token)
        assert "Upgrade mnemolog" in raised.value.hint
        assert len(recorded(mem)) == 2
    with pytest.raises(NewerRelease), opened(folder, rebuilding=[name]) as mem:
        mem.rebuild(name)
    assert everything_below(folder / "default" / name) == before


@pytest.mark.parametrize("name", ["memories", "checkpoints"])
def test_its_generation_is_not_read_either(folder, name):
    describe(folder, name, version=99)
    asked = {"memories": lambda m: m.recall("pool"), "checkpoints": lambda m: m.timeline()}
    with opened(folder, read_only=True) as mem, pytest.raises(NewerRelease, match=name):
        asked[name](mem)


@pytest.mark.parametrize("options", [{}, {"projects": False}, {"read_only": True}])
def test_its_folder_is_refused_by_name_before_anything_is_touched(folder, options):
    marker = folder / "default" / FORMAT_FILE
    marker.write_text(json.dumps({"format": FORMAT + 1, "release": "9.9.9"}))
    before = everything_below(folder)
    with pytest.raises(NewerRelease, match=r"mnemolog 9\.9\.9 made format 2; this one reads 1"):
        Memory(folder, embedder="hashing", **options)
    assert everything_below(folder) == before


# This one


def test_who_keeps_a_folder_says_its_format_once(folder):
    marker = folder / "default" / FORMAT_FILE
    told = json.loads(marker.read_text())
    assert (told["format"], sorted(told)) == (FORMAT, ["format", "release"])
    before = marker.stat().st_mtime_ns
    opened(folder).close()
    assert marker.stat().st_mtime_ns == before


@pytest.mark.parametrize("content", [b"", b"[1]", b"{", b"\xff", b'{"format": "two"}'])
def test_a_marker_that_can_not_be_read_is_written_anew(folder, content):
    marker = folder / "default" / FORMAT_FILE
    marker.write_bytes(content)
    opened(folder).close()
    assert json.loads(marker.read_text())["format"] == FORMAT


def test_who_only_appends_or_reads_leaves_no_marker(folder):
    marker = folder / "default" / FORMAT_FILE
    marker.unlink()
    for options in ({"projects": False}, {"read_only": True}):
        opened(folder, **options).close()
    assert not marker.exists()
    assert (folder / "default" / LEASE_FILE).exists()
