"""Each kind of input that has broken such systems has a test that says so by its mark."""

import ast
import re
from collections.abc import Iterator

import pytest

from support.sources import ROOT, python_files

CASES = ROOT.parent / "shared" / "cases" / "bad-inputs.md"
_HEADING = re.compile(r"^### (\d+)\. ", re.MULTILINE)


def marked() -> set[int]:
    """Return the cases that tests are marked with, wherever the tests stand."""
    return {
        case
        for path in python_files("tests")
        for case in cases_marked_in(ast.parse(path.read_text(encoding="utf-8")))
    }


def cases_marked_in(tree: ast.AST) -> Iterator[int]:
    """Yield the numbers of each `pytest.mark.bad_input(...)`."""
    for node in ast.walk(tree):
        is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if is_call and node.func.attr == "bad_input":
            yield from (ast.literal_eval(argument) for argument in node.args)


def handed() -> set[int]:
    """Return the cases that there are, or skip where they are absent."""
    if not CASES.exists():
        pytest.skip(f"{CASES} is not beside this checkout")
    return {int(number) for number in _HEADING.findall(CASES.read_text(encoding="utf-8"))}


def test_a_mark_is_found_wherever_it_stands():
    source = """
pytestmark = [pytest.mark.bad_input(1)]
@pytest.mark.bad_input(2, 3)
def test(): pass
x = pytest.param(0, marks=pytest.mark.bad_input(4))
"""
    assert sorted(cases_marked_in(ast.parse(source))) == [1, 2, 3, 4]


def test_each_case_has_a_test():
    assert sorted(handed() - marked()) == []


def test_no_test_is_marked_with_a_case_that_there_is_not():
    assert sorted(marked() - handed()) == []
