"""What a person names becomes files."""

import os

import pytest

from mnemolog.importers.base import Problem
from mnemolog.importers.sources import named_files


@pytest.fixture
def folder(tmp_path):
    for name in ("b.json", "a.json", "c.txt", "deep/d.json", ".hidden", ".git/e.json"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    return tmp_path


def names(folder, *paths) -> list[str]:
    return [os.path.relpath(found.path, folder) for found in named_files(paths)]


def test_a_folder_gives_its_files_by_name_and_none_that_hides(folder):
    assert names(folder, folder) == ["a.json", "b.json", "c.txt", "deep/d.json"]


def test_a_pattern_gives_what_matches(folder):
    assert names(folder, f"{folder}/*.json") == ["a.json", "b.json"]
    assert names(folder, f"{folder}/**/d.json") == ["deep/d.json"]


def test_a_pattern_that_matches_a_folder_gives_its_files(folder):
    assert names(folder, f"{folder}/dee*") == ["deep/d.json"]


def test_a_pattern_without_a_match_is_a_problem(folder):
    (found,) = named_files([f"{folder}/*.nothing"])
    assert isinstance(found, Problem)
    assert found.reason == "no file matches"


def test_a_file_whose_name_looks_like_a_pattern_is_a_file(folder):
    (folder / "[x]*.json").write_text("x")
    (found,) = named_files([folder / "[x]*.json"])
    assert found.outright


def test_only_what_is_named_itself_is_named_outright(folder):
    found = [*named_files([folder / "a.json"]), *named_files([folder])]
    assert [file.outright for file in found] == [True, False, False, False, False]


def test_a_loop_of_links_ends(folder):
    (folder / "deep" / "loop").symlink_to(folder, target_is_directory=True)
    assert names(folder, folder)[-1] == "deep/d.json"


def test_a_pipe_that_lies_in_a_folder_is_left_alone(folder):
    os.mkfifo(folder / "pipe")
    assert "pipe" not in names(folder, folder)


def test_a_name_too_long_for_a_file_is_a_file_that_is_not_there():
    name = "a" * 300
    assert [found.path for found in named_files([name])] == [name]
