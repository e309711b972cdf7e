"""Events: parked, foreign, repeated, half written, without their vector or their blob."""

from datetime import UTC, datetime, timedelta

import pytest

from mnemolog.doctor import (
    blobs,
    examining,
    foreign,
    governance,
    parked,
    projections,
    repeats,
    vectors,
)
from mnemolog.projections.kinds import NAMES
from mnemolog.schemas.events.governance import TeamChanged
from mnemolog.schemas.partitioning import COPY_OF
from support.doctoring import looked, mended, patient_at, the_trouble, troubles
from support.large import OUTPUT, blob_file
from support.raw_records import put, put_changed
from support.remembering import decoded, opened

PARTITIONS = 4


def test_foreign_records_repeats_and_parked_events_are_named_each_once(data):
    with opened(data, agent="ops-1") as mem:
        put(mem, b"no event at all")
        put_changed(mem, {"text": "first"}, lambda _: None, event_id="e-1")
        put_changed(mem, {"text": "other"}, lambda _: None, event_id="e-1")
        put_changed(mem, {"text": "x"}, lambda document: document["data"].pop("text"))
        mem.wait_for(mem.observe("of another", agent="ops-2").token, projections=NAMES)
    said = the_trouble(data, foreign)
    assert (said.state, "0@5 is no event of this log" in said.detail) == ("look", True)
    said = the_trouble(data, repeats)
    assert (said.state, "0@7 repeats an id" in said.detail) == ("look", True)
    found = troubles(data, parked)
    assert [one.detail.split()[0] for one in found] == list(NAMES)
    assert {one.state for one in found} == {"bad"}
    assert all("at 0@8, identity " in one.detail for one in found)
    assert all("event.skipped" in one.advice for one in found)


def test_what_is_not_projected_yet_is_told_with_its_number(data):
    with opened(data, projects=False, agent="ops-1") as mem:
        mem.observe("one more")
    found = troubles(data, projections)
    assert [one.detail.partition(", ")[2] for one in found] == ["1 records behind"] * 4
    with opened(data) as mem:
        mem.wait_for(mem.end(), projections=NAMES)
    assert not troubles(data, projections)


def test_memories_that_wait_for_their_vector_are_counted(data, monkeypatch):
    monkeypatch.setattr(vectors, "vectors_outstanding", lambda _: 3)
    assert the_trouble(data, vectors).detail == "3 memories wait for their vector"


def test_memories_that_can_have_no_vector_are_counted_by_reason(data, monkeypatch):
    monkeypatch.setattr(vectors, "without_vector", lambda _: {"not finite": 2, "blank": 9})
    finding = the_trouble(data, vectors)
    assert finding.detail == "memories that can have no vector (not finite): 2"


def test_a_missing_blob_is_named_and_one_that_nobody_names_is_removed(data, monkeypatch):
    with opened(data, agent="ops-1") as mem:
        mem.observe(OUTPUT)
        named = next(mem.engine.blobs.stored()).sha256
        mem.engine.blobs.put(b"nobody's")
        file = blob_file(mem, named)
    later = examining.blobs.accounts
    monkeypatch.setattr(
        blobs,
        "accounts",
        lambda engine: later(engine, at=datetime.now(UTC) + timedelta(hours=2)),
    )
    finding = the_trouble(data, blobs)
    assert finding.detail.startswith("1 that no event names")
    mended(data, blobs)
    assert not troubles(data, blobs)
    file.unlink()
    finding = the_trouble(data, blobs)
    assert (finding.state, finding.repair) == ("bad", None)
    assert finding.detail.startswith("missing: ")


# A governance event of which only some copies were appended


@pytest.fixture(params=["applied", "not yet applied"])
def torn(request, tmp_path):
    """A folder with two policies, of one of which a crash kept half of the copies."""
    with opened(tmp_path, partitions=PARTITIONS, projects=False, agent="ops-1") as mem:
        mem.append("policy.changed", {"revision": 1, "policy": {}}, agent=None)
        _append_half(mem)
        mem.observe("after it")
    if request.param == "applied":
        with opened(tmp_path) as mem:
            mem.wait_for(mem.end())
    return tmp_path


def _append_half(mem):
    """Append a set whole in memory, and of that the first two copies here."""
    with opened(partitions=PARTITIONS, projects=False) as other:
        other.append(TeamChanged, {"revision": 1, "team": "a", "members": ["ops-1"]}, agent=None)
        copies = decoded(other)
    records = [mem.engine.publisher.record(one.recorded.event, one.envelope) for one in copies]
    assert len(records) == PARTITIONS
    mem.engine.log.append(records[:2])


def test_a_half_written_set_is_named(torn):
    finding = the_trouble(torn, governance)
    assert finding.state == "bad"
    assert finding.detail.startswith("team.changed at ")
    assert finding.detail.endswith("has no copy in the partitions [2, 3]")


def test_a_half_written_set_is_completed_once(torn):
    with patient_at(torn) as patient:
        first = [one for one in governance.check(patient) if one.repair]
    assert "2 copies were appended" in mended(torn, governance)[-1]
    assert not troubles(torn, governance)
    assert first[0].repair.run() == "0 copies were appended"
    with opened(torn, read_only=True) as mem:
        found = [one for one in decoded(mem) if one.event_type == "team.changed"]
    assert sorted(one.record.partition for one in found) == [0, 1, 2, 3]
    assert len({one.envelope.extensions[COPY_OF] for one in found}) == 1
    assert len({one.envelope.id for one in found}) == PARTITIONS


def test_whole_sets_are_well(tmp_path):
    with opened(tmp_path, partitions=PARTITIONS, projects=False) as mem:
        mem.append("policy.changed", {"revision": 1, "policy": {}}, agent=None)
    (finding,) = looked(tmp_path, governance)
    assert finding.state == "ok"
