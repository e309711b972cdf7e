"""What a person names becomes files."""

import os
from pathlib import Path

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


@pytest.mark.parametrize("pattern", ["**/*.json", "**", "deep/../**/*.json", "**/**/*.json"])
def test_loops_of_links_end_in_a_pattern_too_and_each_file_comes_once(folder, pattern):
    for name in ("deep/loop", "deep/again", "loop"):  # each alone would be 40 folders deep
        (folder / name).symlink_to(folder, target_is_directory=True)
    (folder / "self").symlink_to(folder / "self")
    found = [name for name in names(folder, f"{folder}/{pattern}") if name.endswith(".json")]
    assert found == ["a.json", "b.json", "deep/d.json"]


def test_a_pattern_is_looked_for_where_one_is(folder, monkeypatch):
    monkeypatch.chdir(folder)
    for pattern in ("**/*.json", "./**/*.json", "*/../**/*.json"):
        found = [os.path.normpath(file.path) for file in named_files([pattern])]
        assert found == ["a.json", "b.json", "deep/d.json"]
    assert [file.path for file in named_files(["**/d.json"])] == ["deep/d.json"]
    assert [file.path for file in named_files(["de*/**"])] == ["deep/d.json"]


def test_a_link_to_a_file_is_followed_and_one_to_nothing_left_alone(folder):
    (folder / "link.json").symlink_to(folder / "a.json")
    (folder / "lost.json").symlink_to(folder / "nothing")
    for way in (folder, f"{folder}/*.json"):
        assert "link.json" in names(folder, way)
        assert "lost.json" not in names(folder, way)
    (found,) = named_files([f"{folder}/los*.json"])
    assert found.reason == "no file matches"


@pytest.fixture
def deep(tmp_path, monkeypatch):
    """A file so deep that no walk that calls itself gets there, pytest's sweeping included."""
    monkeypatch.chdir(tmp_path)
    for _ in range(1_200):  # step by step: mkdir with parents calls itself, too
        os.mkdir("d")  # noqa: PTH102 - where we are
        os.chdir("d")
    Path("x.json").touch()
    yield tmp_path
    Path("x.json").unlink()
    for _ in range(1_200):
        os.chdir("..")
        os.rmdir("d")  # noqa: PTH106 - where we are


def test_folders_may_lie_deeper_than_calls_can_nest(deep):
    for way in (deep, f"{deep}/**/*.json"):
        assert [Path(found.path).name for found in named_files([way])] == ["x.json"]


def test_a_pipe_that_lies_in_a_folder_is_left_alone(folder):
    os.mkfifo(folder / "pipe")
    assert "pipe" not in names(folder, folder)
    assert "pipe" not in names(folder, f"{folder}/*")


def test_a_name_too_long_for_a_file_is_a_file_that_is_not_there():
    name = "a" * 300
    assert [found.path for found in named_files([name])] == [name]
