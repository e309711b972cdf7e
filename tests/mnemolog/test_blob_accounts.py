"""Blobs that are missing, damaged or nobody's are found; what may be somebody's stays."""

import os
from contextlib import contextmanager
from datetime import timedelta

import pytest

from mnemolog.blob_accounts import accounts
from mnemolog.doctor import examine
from mnemolog.schemas.blobs import BlobReference, digest_of, written
from mnemolog.schemas.values import json_bytes, parse_json
from mnemolog.streams.clock import system_clock
from support.large import LOGS, OUTPUT, blob_file, lose, memory_on
from support.raw_records import put
from support.remembering import opened

LATER = timedelta(hours=2)  # by then nobody is about to append it


@pytest.fixture(params=LOGS)
def mem(request, tmp_path):
    with memory_on(request, tmp_path) as memory:
        yield memory


@contextmanager
def later(mem):
    with accounts(mem.engine, at=system_clock() + LATER) as found:
        yield found


def digests(found):
    return [named.reference.sha256 for named in found]


def test_where_all_is_well_nothing_is_found(mem):
    mem.observe(OUTPUT, data={"again": OUTPUT, "other": OUTPUT + "!"})
    mem.observe("short")
    with later(mem) as found:
        assert found.stored() == (2, 2 * len(OUTPUT) + 1)
        assert list(found.missing()) == list(found.damaged()) == []
        assert (found.orphans(), found.leftovers()) == ((0, 0), 0)
        assert found.remove() == (0, 0)


def test_what_is_missing_is_told_with_its_event(mem):
    said = mem.observe(OUTPUT)
    mem.observe(OUTPUT + "!")
    lose(mem, digest_of(OUTPUT.encode()))
    with later(mem) as found:
        (missing,) = found.missing()
    assert missing.reference == BlobReference("/text", digest_of(OUTPUT.encode()), len(OUTPUT))
    assert (missing.event_id, missing.position) == (said.id, said.position)


def test_what_no_event_names_is_nobodys_once_it_is_old(mem):
    mem.observe(OUTPUT)
    orphan = mem.engine.blobs.put(b"nobody's")
    with accounts(mem.engine) as found:
        assert found.orphans() == (0, 0)
        assert found.remove() == (0, 0)
    with later(mem) as found:
        assert found.orphans() == (1, 8)
        assert found.remove() == (1, 8)
    assert [blob.sha256 for blob in mem.engine.blobs.stored()] == [digest_of(OUTPUT.encode())]
    assert orphan != digest_of(OUTPUT.encode())


def test_what_is_put_while_the_log_is_read_is_somebodys(mem, monkeypatch):
    blobs, known = mem.engine.blobs, mem.engine.log.ends

    def ends_and_then_an_append():
        found = known()
        monkeypatch.undo()
        mem.observe(OUTPUT)
        return found

    monkeypatch.setattr(mem.engine.log, "ends", ends_and_then_an_append)
    with accounts(mem.engine) as found:
        assert found.stored() == (1, len(OUTPUT))
        assert found.remove() == (0, 0)
    assert blobs.get(digest_of(OUTPUT.encode())) == OUTPUT.encode()


def test_what_events_name_that_can_not_be_applied_is_named_all_the_same(tmp_path):
    with opened(tmp_path, agent="a") as mem:
        blobs = [mem.engine.blobs.put(b"%d" % n) for n in range(4)]
        said = mem.observe("x", id="e-1")
        document = parse_json(mem.engine.log.at(said.position).value)
        changes = (
            {"dataschema": "urn:mnemolog:schema:observation.recorded:9"},  # newer than this code
            {"data": {"unknown": 1}},  # broken
            {"type": "org.example.made"},  # a guest's
            {"tenant": "another"},  # foreign here
        )
        for sha256, change in zip(blobs, changes, strict=True):
            dataref = written([BlobReference("/text", sha256, 1)])
            other = {**document, **change, "id": sha256, "dataref": dataref}
            put(mem, json_bytes(other), key=b"a")
        with later(mem) as found:
            assert found.orphans() == (0, 0)
            assert found.remove() == (0, 0)
        assert len(list(mem.engine.blobs.stored())) == 4
        for sha256 in blobs:
            lose(mem, sha256)
        with later(mem) as found:
            assert len(list(found.missing())) == 3, "a guest's dataref promises us nothing"


def test_a_damaged_blob_is_told_with_its_event_and_reading_has_a_bound(tmp_path):
    with opened(tmp_path, agent="a") as mem:
        mem.observe(OUTPUT)
        mem.observe(OUTPUT + "!")
        path = blob_file(mem, digest_of(OUTPUT.encode()))
        path.write_bytes(b"x" + OUTPUT[1:].encode())
        with later(mem) as found:
            ((named, reason),) = found.damaged()
            assert named.reference.sha256 == digest_of(OUTPUT.encode())
            assert "SHA-256" in reason
            assert list(found.damaged(bytes_max=len(OUTPUT) - 1)) == []


def test_nothing_is_removed_where_the_logs_start_is_gone(tmp_path, monkeypatch):
    with opened(tmp_path, agent="a") as mem:
        mem.observe(OUTPUT)
        mem.engine.blobs.put(b"nobody's")
        monkeypatch.setattr(mem.engine.log, "starts", lambda: {0: 1})
        with later(mem) as found:
            assert found.orphans()[0] == 2
            assert found.remove() == (0, 0)


@pytest.mark.kafka
def test_nothing_is_removed_where_another_log_stands_in_the_folder(kafka, tmp_path):
    tenant = f"large {tmp_path.name}"
    with opened(tmp_path, agent="a", tenant=tenant) as mem:
        mem.observe(OUTPUT)
    log = f"kafka://{kafka.bootstrap}"
    with opened(tmp_path, agent="a", tenant=tenant, log=log, projects=False) as mem:
        mem.observe("x")
        with later(mem) as found:
            assert found.orphans() == (1, len(OUTPUT))
            assert found.remove() == (0, 0)
        assert len(list(mem.engine.blobs.stored())) == 1


# doctor


def found_of(engine):
    return [finding for finding in examine(engine) if finding.check == "blobs"]


def test_doctor_says_how_much_stands_beside_the_log(tmp_path):
    with opened(tmp_path, agent="a") as mem:
        mem.observe(OUTPUT)
        (finding,) = found_of(mem.engine)
    assert finding.state == "ok"
    assert finding.detail == f"1 texts beside the log, {len(OUTPUT) / 2**20:.1f} MiB"


def test_doctor_names_what_is_missing_and_damaged(tmp_path):
    with opened(tmp_path, agent="a") as mem:
        mem.observe(OUTPUT)
        mem.observe(OUTPUT + "!")
        lose(mem, digest_of(OUTPUT.encode()))
        blob_file(mem, digest_of((OUTPUT + "!").encode())).write_bytes(b"x")
        missing, damaged, _ = found_of(mem.engine)
    assert missing.state == damaged.state == "bad"
    assert digest_of(OUTPUT.encode()) in missing.detail
    assert digest_of((OUTPUT + "!").encode()) in damaged.detail
    assert missing.repair is damaged.repair is None
    assert missing.advice
    assert damaged.advice


def test_doctor_finds_what_is_nobodys_and_mends_it(tmp_path):
    with opened(tmp_path, agent="a") as mem:
        kept = digest_of(OUTPUT.encode())
        mem.observe(OUTPUT)
        orphan = mem.engine.blobs.put(b"nobody's")
        assert len(found_of(mem.engine)) == 1
        then = (system_clock() - LATER).timestamp()
        for sha256 in (kept, orphan):
            os.utime(blob_file(mem, sha256), (then, then))
        draft = blob_file(mem, orphan).with_name(f".{orphan[2:]}.{'0' * 16}.draft")
        draft.write_bytes(b"half")
        os.utime(draft, (then, then))
        finding, _ = found_of(mem.engine)
        assert finding.state == "look"
        assert "1 that no event names" in finding.detail
        assert finding.repair.run().startswith("2 removed")
        assert [blob.sha256 for blob in mem.engine.blobs.stored()] == [kept]
        assert len(found_of(mem.engine)) == 1
        assert finding.repair.run().startswith("0 removed")
