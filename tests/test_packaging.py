"""The four folders are one importable distribution, and nothing else."""

import doctest
import importlib
import pkgutil
import re
import sys
import tomllib
from importlib.metadata import packages_distributions

import pytest

from support import tidy
from support.sources import ROOT, SOURCE_FOLDERS, STAGES, name_of, python_files

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
SETTINGS = PYPROJECT["tool"]["setuptools"]
DISTRIBUTIONS = packages_distributions()  # the packages that bring each importable name


def folders_with_code() -> set[str]:
    """Name the packages that the folders hold; links are not followed."""
    found = set()
    for source in SOURCE_FOLDERS:
        package = "mnemolog" if source == "src/mnemolog" else f"mnemolog.{source}"
        for path in (ROOT / source).rglob("__init__.py"):
            if not any(parent.is_symlink() for parent in path.parents):
                below = path.parent.relative_to(ROOT / source).parts
                found.add(".".join((package, *below)))
    return found


def modules() -> list[str]:
    """Name every module: the root package does not always show the stages, so each is walked."""
    names = ("mnemolog", *(f"mnemolog.{stage}" for stage in STAGES))
    walks = (pkgutil.walk_packages(importlib.import_module(n).__path__, f"{n}.") for n in names)
    return sorted({module.name for walk in walks for module in walk})


def test_every_folder_with_code_is_listed_as_a_package_and_no_other():
    assert folders_with_code() == set(SETTINGS["packages"])


def required(requirements: list[str]) -> set[str]:
    """Return the names of *requirements*, spelled as installers compare them."""
    names = (re.match(r"[\w.-]+", requirement)[0] for requirement in requirements)
    return {re.sub(r"[-_.]+", "-", name).lower() for name in names}


def undeclared(source: str) -> set[str]:
    """Return what *source* imports of packages that our users would not get with ours."""
    ours = required(PROJECT["dependencies"])
    theirs = {"mnemolog", "", "_typeshed"}  # the last is for type checkers, and brought by them
    foreign = tidy.roots(source) - theirs - sys.stdlib_module_names
    return {root for root in foreign if not ours & required(DISTRIBUTIONS.get(root, []))}


def test_an_import_of_an_undeclared_package_is_found():
    source = "import json\nimport pydantic\nimport pytest\nimport no_such_package"
    assert undeclared(source) == {"pytest", "no_such_package"}


@pytest.mark.parametrize("path", list(python_files(*SOURCE_FOLDERS)), ids=name_of)
def test_what_a_module_imports_is_declared(path):
    assert not undeclared(path.read_text())


def test_every_stage_is_mapped_to_its_folder():
    mapped = {f"mnemolog.{stage}": stage for stage in STAGES}
    assert SETTINGS["package-dir"] == {"mnemolog": "src/mnemolog", **mapped}


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_has_one_copy(stage):
    link = ROOT / "src" / "mnemolog" / stage
    assert link.is_symlink() or link.is_file()  # a checkout without links has a small file there


@pytest.mark.parametrize("name", modules())
def test_docstring_examples_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_no_stage_is_imported_under_its_bare_name():
    assert not set(STAGES) & set(sys.modules)


@pytest.mark.parametrize("folder", [ROOT, ROOT / "tests"])
def test_a_folder_that_would_hide_the_package_is_not_on_the_path(folder):
    hides = (folder / "mnemolog").exists()
    assert not hides or str(folder) not in sys.path
