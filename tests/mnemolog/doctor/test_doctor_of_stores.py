"""Stores, generations, vector cache and what is published: found damaged, mended from the log."""

import json
import shutil
import sqlite3
from contextlib import closing

import pytest

from mnemolog.doctor import cache, examined, generations, leftovers, published, stores
from mnemolog.folder import FORMAT, FORMAT_FILE
from mnemolog.projections.generations import SET_ASIDE, Generations
from mnemolog.projections.kinds import ANALYTICS, CHECKPOINTS, MEMORIES, NAMES, VERSIONS, WEIGHTS
from mnemolog.projections.memories.lance_table import connected
from mnemolog.projections.memories.lance_table import opened as opened_table
from mnemolog.projections.memories.state_schema import INDEX_FOLDER
from mnemolog.schemas.errors import StoreUnavailable
from support.doctoring import (
    looked,
    mended,
    overwritten,
    patient_at,
    serving,
    the_trouble,
    troubles,
)
from support.remembering import opened, texts

FILES = {
    MEMORIES: "state.db",
    ANALYTICS: "analytics.db",
    CHECKPOINTS: "index.db",
    WEIGHTS: "weights.db",
}


def store(data, name):
    (path,) = serving(data, name).glob(f"{FILES[name].split('.')[0]}.*[bk]")
    return path


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def emptied(path):
    path.write_bytes(b"")


def removed(path):
    path.unlink()


def scribbled(path):
    overwritten(path, at=0.25, count=path.stat().st_size // 2)


@pytest.mark.parametrize("spoil", [cut, emptied, removed, scribbled])
@pytest.mark.parametrize("name", NAMES)
def test_a_damaged_store_is_found_and_named(data, name, spoil):
    spoil(store(data, name))
    finding = the_trouble(data, stores)
    assert finding.state == "bad"
    assert finding.detail.startswith(f"{name}: ")
    assert finding.repair.will == f"build {name} anew from the log"


@pytest.mark.parametrize("name", NAMES)
def test_a_damaged_store_is_built_anew_from_the_log(data, name):
    cut(store(data, name))
    told = mended(data, stores)
    assert told[0] == f"will build {name} anew from the log"
    assert told[1].startswith("  done: generation 00000")
    assert not troubles(data, stores)
    mended(data, generations)
    assert not troubles(data, stores, generations)
    with opened(data) as mem:
        assert "lunch is at noon" in texts(mem.recall("lunch", agent="ops-1"))


def test_an_index_that_lost_its_rows_is_found_and_built_anew(data):
    shutil.rmtree(serving(data, MEMORIES) / INDEX_FOLDER)
    assert the_trouble(data, stores).detail.startswith("memories: ")
    mended(data, stores)
    assert not troubles(data, stores)


def test_an_index_that_has_less_than_the_state_tells_is_found(data):
    opened_table(connected(serving(data, MEMORIES))).delete("text = 'lunch is at noon'")
    finding = the_trouble(data, stores)
    assert "rows, the state" in finding.detail
    mended(data, stores)
    assert not troubles(data, stores)


@pytest.mark.parametrize("spoil", [cut, removed, scribbled])
def test_a_damaged_checkpoint_file_is_found(data, spoil):
    (file,) = (serving(data, CHECKPOINTS) / "files").iterdir()
    spoil(file)
    assert file.name in the_trouble(data, stores).detail


def test_a_damaged_checkpoint_file_is_written_anew(data):
    (file,) = (serving(data, CHECKPOINTS) / "files").iterdir()
    cut(file)
    mended(data, stores)
    assert not troubles(data, stores)
    assert (serving(data, CHECKPOINTS) / "files" / file.name).stat().st_size > 0


# Generations


def test_a_generation_that_is_not_described_is_found_and_built_anew(data):
    (serving(data, WEIGHTS) / "generation.json").write_text("{")
    assert "generation.json" in the_trouble(data, generations).detail
    mended(data, generations)
    assert not troubles(data, generations)


@pytest.mark.parametrize("content", ["", "000009", "../../elsewhere"])
def test_where_none_serves_though_there_is_one_it_is_found(data, content):
    (data / "default" / WEIGHTS / "CURRENT").write_text(content)
    assert "names no generation" in the_trouble(data, generations).detail
    mended(data, generations)
    assert not [one for one in troubles(data, generations) if one.state == "bad"]
    mended(data, generations)  # what served before is left over then
    assert not troubles(data, generations)


def test_one_projection_that_can_not_be_read_hides_no_other(data, monkeypatch):
    asked = Generations.serving

    def serving_if_allowed(self):
        if self.folder.name == MEMORIES:
            raise StoreUnavailable(MEMORIES, "Permission denied", hint="chown")
        return asked(self)

    cut(store(data, WEIGHTS))
    (serving(data, CHECKPOINTS) / "generation.json").write_text("{")
    monkeypatch.setattr(Generations, "serving", serving_if_allowed)
    found = troubles(data, generations, stores)
    assert [one.detail.partition(":")[0] for one in found] == [MEMORIES, CHECKPOINTS, WEIGHTS]
    assert found[0].advice == "chown"


def version_changed(data, by, name=WEIGHTS):
    path = serving(data, name) / "generation.json"
    told = json.loads(path.read_text())
    path.write_text(json.dumps({**told, "version": VERSIONS[name] + by}))


def test_folds_of_an_earlier_release_are_built_anew(data):
    for name in NAMES:
        version_changed(data, by=-1, name=name)
    found = troubles(data, generations)
    assert [one.detail for one in found] == [
        f"{name} serves version {VERSIONS[name] - 1}; this release folds {VERSIONS[name]}"
        for name in NAMES
    ]
    mended(data, generations)
    assert not troubles(data, generations, stores)


def test_a_fold_of_a_later_release_is_left_alone(data):
    version_changed(data, by=1)
    finding = the_trouble(data, generations)
    assert (finding.state, finding.repair) == ("bad", None)
    assert "Upgrade mnemolog" in finding.advice


def test_what_was_set_aside_and_what_a_rebuild_left_are_removed(data):
    folder = data / "default" / WEIGHTS
    for name in ("000007", "000008"):
        shutil.copytree(serving(data, WEIGHTS), folder / name)
    (folder / "000007" / SET_ASIDE).write_text("why")
    details = [one.detail for one in troubles(data, generations)]
    assert "000007 was found damaged and set aside" in details[0]
    assert "000008 was begun by a rebuild that did not end" in details[1]
    mended(data, generations)
    assert not troubles(data, generations)
    assert [path.name for path in folder.iterdir() if path.is_dir()] == [
        serving(data, WEIGHTS).name
    ]


# The vector cache


@pytest.mark.parametrize("spoil", [cut, scribbled])
def test_a_damaged_vector_cache_is_begun_anew_and_the_old_one_removed(data, spoil):
    spoil(data / "default" / "vectors.db")
    assert the_trouble(data, cache).state == "bad"
    mended(data, cache)
    assert "was found damaged and set aside" in the_trouble(data, cache).detail
    mended(data, cache)
    assert not troubles(data, cache)


def test_a_vector_cache_of_a_later_release_is_left_alone(data):
    with closing(sqlite3.connect(data / "default" / "vectors.db")) as store:
        store.execute("PRAGMA user_version = 99")
    finding = the_trouble(data, cache)
    assert (finding.state, finding.repair) == ("bad", None)


# What is published


@pytest.mark.parametrize(
    ("file", "spoil"),
    [
        *(("analytics.duckdb", spoil) for spoil in (emptied, removed, scribbled)),
        *(("parquet/events.parquet", spoil) for spoil in (cut, removed, scribbled)),
    ],
)
def test_a_damaged_published_file_is_found(data, file, spoil):
    spoil(data / "default" / "published" / file)
    finding = the_trouble(data, published)
    assert (finding.state, file.split("/")[-1] in finding.detail) == ("bad", True)
    assert finding.repair.will == "publish the tables anew"


@pytest.mark.parametrize("file", ["analytics.duckdb", "parquet/events.parquet"])
def test_what_is_damaged_is_published_anew(data, file):
    scribbled(data / "default" / "published" / file)
    mended(data, published)
    assert not troubles(data, published)
    with opened(data) as mem:
        assert mem.sql("SELECT count(*) FROM events").rows[0][0] == 5


# Leftovers


def test_drafts_of_the_dead_are_removed_and_those_of_the_living_stay(data):
    folder = data / "default"
    (folder / "published" / ".analytics.duckdb.draft").write_bytes(b"x")
    (folder / WEIGHTS / ".CURRENT.140000.999999999.draft").write_bytes(b"x")
    (serving(data, ANALYTICS) / "spilt").mkdir()
    living = folder / WEIGHTS / ".CURRENT.140000.1.draft"  # of the first process of all
    blob = folder / "blobs" / "ab" / f".{'c' * 62}.{'d' * 16}.draft"
    for path in (living, blob):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    assert the_trouble(data, leftovers).detail.startswith("3 drafts")
    mended(data, leftovers)
    assert not troubles(data, leftovers)
    assert living.exists()
    assert blob.exists()


def test_drafts_in_a_folder_of_a_later_release_are_its_own(data):
    (data / "default" / "published" / ".analytics.duckdb.draft").write_bytes(b"x")
    described = json.dumps({"format": FORMAT + 1, "release": "9.9"})
    (data / "default" / FORMAT_FILE).write_text(described)
    assert not troubles(data, leftovers)


@pytest.mark.parametrize("wrong", [{"partitions": "x"}, {"tenant": ""}, {"tenant": "a" * 999}])
def test_where_a_setting_is_wrong_no_draft_of_another_tenant_or_of_the_user_is_touched(data, wrong):
    drafts = [
        data / "other" / "blobs" / "ab" / f".{'c' * 62}.{'d' * 16}.draft",  # being written
        data / "other" / WEIGHTS / ".CURRENT.140000.999999999.draft",
        data / ".thesis.draft2",
        data / "default" / ".thesis.draft",
        data / "default" / ".chapter.7.draft",
    ]
    for path in drafts:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    assert not troubles(data, leftovers, **wrong)
    assert not troubles(data, leftovers)


def test_what_stood_in_the_way_is_named_and_left(data):
    alien = data / "default" / "published" / "analytics.duckdb.in-the-way-1"
    alien.mkdir()
    finding = the_trouble(data, leftovers)
    assert "stood where a file of ours belongs" in finding.detail
    assert finding.repair is None
    assert alien.exists()


def test_a_folder_spoilt_in_many_ways_is_sound_after_one_mending(data):
    for name in NAMES:
        cut(store(data, name))
    overwritten(data / "default" / "vectors.db", at=0.0)
    scribbled(data / "default" / "published" / "analytics.duckdb")
    mended(data, generations, stores, cache, published, leftovers)
    left = troubles(data, generations, stores, cache, published, leftovers)
    assert not [one for one in left if one.state == "bad"]
    mended(data, generations, cache, leftovers)
    with patient_at(data) as patient:
        assert {one.state for one in examined(patient)} == {"ok"}
    assert looked(data, stores)
