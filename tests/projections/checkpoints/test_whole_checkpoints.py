"""A checkpoint whose texts stand beside the log is given whole or not at all, never with a head."""

from dataclasses import replace

import pytest

from contracts.projecting import place_in
from mnemolog.projections.checkpoints.file_format import checkpoint_in, snapshot
from mnemolog.projections.checkpoints.loading import Sources
from mnemolog.projections.checkpoints.projection import CheckpointsProjection
from mnemolog.projections.checkpoints.reading import CheckpointReader
from mnemolog.projections.checkpoints.stored import with_vector
from mnemolog.projections.digests import ContentDigest
from mnemolog.schemas.blobs import BlobReference, digest_of, written
from mnemolog.schemas.checkpoint import embedding_text
from mnemolog.schemas.errors import BlobDamaged, BlobMissing
from mnemolog.streams.blobs import InMemoryBlobs
from support.checkpoints import checkpoint, fold, saved

PLAN, NOTES = "the whole plan " * 30_000, "n" * 300_000
DATAREF = written(
    [
        BlobReference("/checkpoint/plan_summary", digest_of(PLAN.encode()), len(PLAN)),
        BlobReference(
            "/checkpoint/task_state/working_memory/notes", digest_of(NOTES.encode()), len(NOTES)
        ),
    ]
)
STATE = {"task_id": "t1", "working_memory": {"notes": "nnn…", "n": 1}}


def cut(dataref=DATAREF):
    one = saved("c2", plan_summary="the whole plan…", task_state=STATE)
    return replace(one, names={**one.names, "dataref": dataref})


@pytest.fixture
def blobs():
    store = InMemoryBlobs()
    store.put(PLAN.encode())
    store.put(NOTES.encode())
    return store


def reader_of(tmp_path, blobs, *events):
    return CheckpointReader.open(fold(tmp_path, *events), sources=Sources(blob=blobs.get))


def test_a_checkpoint_is_given_whole(tmp_path, blobs):
    asked = reader_of(tmp_path, blobs, saved(), cut())
    found = asked.get("c2")
    assert found.checkpoint.plan_summary == PLAN
    assert found.checkpoint.task_state.working_memory == {"notes": NOTES, "n": 1}
    assert found.heads.plan_summary == "the whole plan…"
    assert asked.newest(task="t1").found == found
    assert asked.load(asked.list(task="t1")[0]) == found


def test_it_is_found_by_the_words_of_its_heads(tmp_path, blobs):
    found = with_vector(reader_of(tmp_path, blobs, cut()).get("c2"), vector_of=lambda _: [1.0])
    assert found.text == embedding_text(checkpoint("c2", plan_summary="the whole plan…"))
    assert found.checkpoint.plan_summary == PLAN


@pytest.mark.parametrize("gone", [PLAN, NOTES])
def test_one_whose_blob_is_missing_is_named_and_the_one_before_it_is_used(tmp_path, blobs, gone):
    sha256 = digest_of(gone.encode())
    lacking = InMemoryBlobs()
    lacking.put({PLAN: NOTES, NOTES: PLAN}[gone].encode())
    asked = reader_of(tmp_path, lacking, saved(), cut())
    with pytest.raises(BlobMissing, match=rf"{sha256}.*/checkpoint/.* of checkpoint c2"):
        asked.get("c2")
    newest = asked.newest(task="t1")
    assert newest.found.saved.id == "c1"
    (error,) = newest.damaged
    assert isinstance(error, BlobMissing)
    assert sha256 in str(error)


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"x", "1 bytes, its event tells of 300000"), (b"\xff" * 300_000, "UTF-8")],
)
def test_a_blob_that_is_not_the_text_is_named(tmp_path, content, reason):
    held = {digest_of(PLAN.encode()): PLAN.encode(), digest_of(NOTES.encode()): content}
    asked = CheckpointReader.open(fold(tmp_path, cut()), sources=Sources(blob=held.__getitem__))
    with pytest.raises(BlobDamaged, match=f"{digest_of(NOTES.encode())} is damaged.*{reason}"):
        asked.get("c2")


def test_a_reader_without_a_store_names_what_it_lacks(tmp_path):
    asked = CheckpointReader.open(fold(tmp_path, saved(), cut()))
    with pytest.raises(BlobMissing, match="no store"):
        asked.get("c2")
    assert asked.get("c1").checkpoint == asked.get("c1").heads


def test_a_checkpoints_file_keeps_what_its_event_named_and_no_other_changes():
    heads = checkpoint(plan_summary="the whole plan…")
    plain, named = snapshot(heads), snapshot(heads, dataref=DATAREF)
    assert plain.name != named.name
    assert plain == snapshot(heads, dataref=None)
    kept = checkpoint_in(named.content, name=named.name)
    assert (kept.checkpoint, kept.dataref) == (heads, DATAREF)
    assert checkpoint_in(plain.content, name=plain.name).dataref is None


def test_two_checkpoints_that_share_their_heads_are_two_in_the_digest(tmp_path):
    other = cut(DATAREF.replace(digest_of(PLAN.encode()), "0" * 64))
    digests = [content_of(tmp_path / name, event) for name, event in (("a", cut()), ("b", other))]
    assert digests[0] == content_of(tmp_path / "c", cut())
    assert digests[0] != digests[1]


def content_of(folder, event):
    fold(folder, event)
    projection = CheckpointsProjection.open(place_in(folder))
    rows = list(projection.content())
    projection.close()
    return ContentDigest.of(rows).hex
