"""The page goes from symptom to check to remedy: every check stands there, and no other."""

from mnemolog.doctor.bundle import _parts
from mnemolog.doctor.examining import CHECKS
from support import markdown
from support.doctoring import patient_at
from support.sources import ROOT

PAGE = (ROOT / "docs" / "operating.md").read_text()
SECTION = markdown.sections(PAGE)["When something is wrong"]


def rows():
    lines = [line.strip("|").split("|") for line in SECTION.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line] for line in lines[2:]]


def test_every_check_stands_on_the_page_and_no_other():
    assert {row[1].strip("`") for row in rows()} == {check.NAME for check in CHECKS}


def test_every_row_says_what_is_found_and_what_to_do():
    assert all(len(row) == 4 and row[0] and row[2] for row in rows())
    assert [row[1] for row in rows() if not row[3]] == ["`packages`"]


def test_the_parts_of_a_bundle_stand_on_the_page(tmp_path):
    with patient_at(tmp_path / "none") as patient:
        names = [name for name, _ in _parts(patient, [])]
    assert all(f"`{name}`" in SECTION for name in names)
