"""What is well is called well: no check finds anything in a sound folder, and none is silent."""

import pytest

from mnemolog.doctor import examine, examined
from mnemolog.doctor.examining import CHECKS
from support.doctoring import patient_at
from support.remembering import opened

# What is told of a single partition, of sets that are empty, or of leftovers, would be noise.
SILENT_WHERE_ALL_IS_WELL = {
    *("governance", "generations", "leftovers", "parked", "foreign records", "repeats"),
    "processors",
}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.NAME)
def test_no_check_finds_anything_in_a_sound_folder(sound, check):
    with patient_at(sound) as patient:
        found = list(check.check(patient))
    assert {finding.state for finding in found} <= {"ok"}
    assert {finding.check for finding in found} <= {check.NAME}
    assert bool(found) != (check.NAME in SILENT_WHERE_ALL_IS_WELL)
    assert not any(finding.repair for finding in found)


def test_to_look_changes_nothing(data):
    def content():
        return {path: path.read_bytes() for path in data.rglob("*") if path.is_file()}

    before = content()
    with patient_at(data) as patient:
        examined(patient)
    after = {p: c for p, c in content().items() if p.suffix not in {".db-wal", ".db-shm"}}
    # SQLite's readers leave the files beside a store as they find them, or make empty ones.
    assert {p for p in after if not p.name.endswith(("-wal", "-shm"))} == {
        p for p in before if not p.name.endswith(("-wal", "-shm"))
    }
    assert all(after[path] == before[path] for path in after if path in before)


def test_where_nothing_is_yet_nothing_is_wrong_and_nothing_is_made(tmp_path):
    with patient_at(tmp_path / "none") as patient:
        found = examined(patient)
    assert {finding.state for finding in found} == {"ok"}
    assert not (tmp_path / "none").exists()


def test_a_memory_without_a_folder_can_be_examined():
    with opened(agent="ops-1") as mem:
        mem.wait_for(mem.observe("x").token)
        assert not [one for one in examine(mem.engine) if one.state == "bad"]


def test_each_check_has_a_name_of_its_own():
    assert len({check.NAME for check in CHECKS}) == len(CHECKS)
