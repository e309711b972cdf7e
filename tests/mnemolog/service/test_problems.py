"""Errors go out as problem documents and come back as the errors that they were."""

import json

import pytest

from mnemolog import http_errors
from mnemolog.http_problems import STATUS, error_of, problem_of, status_of
from mnemolog.schemas import errors
from mnemolog.schemas.errors import MnemologError


def kinds(module):
    return [
        one
        for one in vars(module).values()
        if isinstance(one, type)
        and issubclass(one, MnemologError)
        and one.__module__ == module.__name__
    ]


EXAMPLES = {
    "InvalidEvent": ("score", 7.5, "at most 1"),
    "InvalidSetting": ("rows_max", -1, "at least 0"),
    "NeedsRebuild": ("memories", "fold 2", "fold 3 is wanted"),
    "NewerRelease": ("the folder", "format 9"),
    "NotFound": ("memory", "mem_x"),
    "ReadOnly": ("append",),
    "LeaseHeld": ("/data/lock", "process 7"),
    "Circular": ("checkpoint", ["a", "b", "a"]),
    "BlobMissing": ("0" * 64, "/data/blobs"),
    "BlobDamaged": ("0" * 64, "cut short"),
    "BodyTooLarge": (7,),
    "NotServed": ("sql",),
}
NAMED = {
    "EventTooLarge": (("task.started", "e-1"), {"size": 9, "size_max": 8}),
    "TimedOut": (("applying 0@7",), {"waited_seconds": 0.5, "because": "it hangs"}),
    "Parked": (("memories",), {"partition": 0, "offset": 7, "reason": "no text"}),
    "LogReplaced": (("t",), {"partition": 0, "offset": 7, "reason": "another event"}),
    "HistoryLost": (("t",), {"partition": 0, "wanted": 1, "start": 7}),
}
PAIRS = {"StoreUnavailable", "LogUnavailable", "NoRoom", "Busy", "Damaged", "LogDamaged"}
KINDS = [*kinds(errors), *kinds(http_errors)]


def example(kind):
    if kind.__name__ in PAIRS:
        return kind("the store", "it is away")
    arguments, named = NAMED.get(kind.__name__, (EXAMPLES.get(kind.__name__, ("why",)), {}))
    return kind(*arguments, **named)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_error_comes_back_as_what_it_was(kind):
    error = example(kind)
    back = error_of(json.loads(json.dumps(problem_of(error))))
    assert type(back) is kind
    assert (str(back), back.hint, vars(back).keys() - {"hint"}) == (
        str(error),
        error.hint,
        vars(error).keys() - {"hint"},
    )
    assert all(getattr(back, name) == value for name, value in vars(error).items())


def test_codes_are_told_apart_and_each_class_has_a_status_of_a_failure():
    codes = [kind.code for kind in KINDS]
    assert len(codes) == len(set(codes))
    assert all(400 <= status_of(example(kind)) < 600 for kind in KINDS)
    assert STATUS.keys() <= set(KINDS)


def test_every_error_of_the_service_stands_in_the_tree_at_the_top():
    assert all(f" {kind.__name__} " in http_errors.__doc__ for kind in kinds(http_errors))
    assert all(kind.hint.endswith(".") for kind in kinds(http_errors))


def test_a_code_of_a_later_release_is_an_error_all_the_same():
    back = error_of({"code": "dreamt", "detail": "it was a dream", "hint": "Wake up.", "about": 7})
    assert (type(back), str(back), back.hint) == (MnemologError, "it was a dream", "Wake up.")


@pytest.mark.parametrize("value", ["caf\udce9", "x" * 100_000, 10**400, {"deep": object()}, b"\0"])
def test_any_value_that_was_refused_can_be_told(value):
    told = problem_of(errors.InvalidEvent("field", value, "limit"))
    assert len(json.dumps(told).encode()) < 20_000
    assert told["field"] == "field"
