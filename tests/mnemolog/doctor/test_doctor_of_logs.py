"""The log: damaged records, lost commits, another log in its place. Nothing is ever dropped."""

import shutil
import sqlite3
from contextlib import closing

import pytest

from mnemolog.doctor import continuity, log, mend, opening, stores
from mnemolog.projections.kinds import CHECKPOINTS, MEMORIES, WEIGHTS
from support.doctoring import (
    looked,
    mended,
    overwritten,
    patient_at,
    serving,
    the_trouble,
    troubles,
)
from support.remembering import opened

PAGE_BYTES = 4_096


def log_file(data):
    return data / "default" / "log" / "log.db"


def change(data, statement):
    with closing(sqlite3.connect(log_file(data))) as file, file:
        assert file.execute(statement).rowcount > 0


def test_a_changed_record_is_named_and_no_repair_is_offered(data):
    change(data, "UPDATE records SET value = x'00' WHERE place = 2")
    finding = the_trouble(data, log)
    assert finding.state == "bad"
    assert finding.detail.startswith(
        "1 records are missing or not what was appended, the first: 0@2"
    )
    assert "Restore log.db" in finding.advice
    assert finding.repair is None


def test_a_missing_record_is_named(data):
    change(data, "DELETE FROM records WHERE place = 2")
    assert "the first: 0@2" in the_trouble(data, log).detail


def test_a_log_without_its_start_is_named(data):
    change(data, "DELETE FROM records WHERE place < 2")
    finding = the_trouble(data, log)
    assert "{0: 2}" in finding.detail
    assert finding.repair is None


def test_a_damaged_index_of_identities_is_written_anew(data):
    with closing(sqlite3.connect(log_file(data))) as file:
        (page,) = file.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'once'").fetchone()
    before = records_of(data)
    content = bytearray(log_file(data).read_bytes())
    content[(page - 1) * PAGE_BYTES : page * PAGE_BYTES] = b"\xa5" * PAGE_BYTES
    log_file(data).write_bytes(content)
    finding = the_trouble(data, log)
    assert "all records are sound, but not the index of identities" in finding.detail
    mended(data, log)
    assert not troubles(data, log)
    assert records_of(data) == before
    with opened(data, agent="ops-1") as mem:
        again = mem.observe("once", id="e-1")
        assert mem.observe("once", id="e-1").position == again.position


def records_of(data):
    with closing(sqlite3.connect(log_file(data))) as file:
        return file.execute("SELECT * FROM records NOT INDEXED ORDER BY place").fetchall()


@pytest.fixture
def killed(data, tmp_path):
    """A folder whose last appends stand in the write-ahead log alone: nobody closed it."""
    with opened(data, projects=False, agent="ops-1") as mem:
        for number in range(40):
            mem.observe(f"{number} " + "x" * 300)
        return shutil.copytree(data, tmp_path / "killed")


def test_what_a_killed_writer_left_is_sound(killed):
    assert not troubles(killed, opening, log)


def test_commits_that_can_not_be_read_are_told_and_stay(killed):
    wal = log_file(killed).with_name("log.db-wal")
    overwritten(wal, at=0.3)
    before = wal.read_bytes()
    finding = the_trouble(killed, opening, log)
    assert "commits behind 0@" in finding.detail
    assert "in log.db-wal" in finding.detail
    assert "Nothing was changed and nothing is dropped" in finding.advice
    assert finding.repair is None
    assert wal.read_bytes() == before


@pytest.mark.parametrize("spoil", ["cut", "emptied", "scribbled", "removed", "a folder"])
def test_a_log_that_can_not_be_opened_is_told_and_nothing_is_built_from_it(data, spoil):
    path = log_file(data)
    content = path.read_bytes()
    path.unlink()
    if spoil == "a folder":
        path.mkdir()
    elif spoil != "removed":
        half = content[: len(content) // 2]
        written = {"cut": half, "emptied": b"", "scribbled": b"\xa5" * len(content)}
        path.write_bytes(written[spoil])
    (serving(data, WEIGHTS) / "weights.db").write_bytes(b"no store")
    found = troubles(data, opening, log, continuity, stores)
    assert {finding.state for finding in found} == {"bad"}
    assert {finding.check for finding in found} >= {"stores"}
    assert len(found) > 1
    with patient_at(data) as patient:
        findings = [one for check in (opening, log, stores) for one in check.check(patient)]
        mend(findings, tell=lambda _: None)
    if spoil == "removed":
        assert not path.exists()
    assert (serving(data, WEIGHTS) / "weights.db").read_bytes() == b"no store"


def test_a_log_that_went_while_doctor_looked_is_not_built_from(data):
    (serving(data, WEIGHTS) / "weights.db").write_bytes(b"no store")
    with patient_at(data) as patient:
        findings = list(stores.check(patient))
        shutil.rmtree(log_file(data).parent)
        told = []
        assert mend(findings, tell=told.append) == 1
    assert "log.db is gone" in told[-1]
    assert (serving(data, WEIGHTS) / "weights.db").read_bytes() == b"no store"


def test_what_a_damaged_log_still_has_comes_into_another_folder(data, tmp_path):
    change(data, "UPDATE records SET value = x'00' WHERE place = 2")
    with closing(sqlite3.connect(log_file(data))) as file:
        values = [value for (value,) in file.execute("SELECT value FROM readable")]
    (tmp_path / "rest.jsonl").write_text("".join(f"{value}\n" for value in values))
    with opened(tmp_path / "rescued", projects=False) as mem:
        report = mem.import_histories(tmp_path / "rest.jsonl")
        assert mem.engine.log.ends() == {0: 4}
    assert (report.added, report.problems_total) == (4, 1)


# Whether it is the log that was applied


def test_an_older_copy_of_the_log_is_told_by_each_projection(data, tmp_path):
    older = tmp_path / "older"
    shutil.copytree(log_file(data).parent, older)
    with opened(data, agent="ops-1") as mem:
        mem.wait_for(mem.observe("acknowledged after the backup").token)
    shutil.rmtree(log_file(data).parent)
    shutil.copytree(older, log_file(data).parent)
    found = troubles(data, continuity)
    assert [one.detail.split(":")[0] for one in found] == [MEMORIES, CHECKPOINTS, WEIGHTS]
    assert {(one.state, one.repair) for one in found} == {("bad", None)}
    assert "restore it from a backup" in found[0].advice


def test_another_log_in_its_place_is_told(data):
    shutil.rmtree(log_file(data).parent)
    with opened(data, projects=False, rebuilding=["all"], agent="ops-1") as mem:
        for number in range(9):
            mem.observe(f"another history {number}")
    found = troubles(data, continuity)
    assert {one.check for one in found} == {"continuity"}
    assert "another one" in found[0].detail
    assert found[0].bundled == "memories: LogReplaced"


def test_a_sound_log_holds_what_was_applied(data):
    assert [one.state for one in looked(data, continuity)] == ["ok"]
