"""Strict JSON: what comes in can go out, to the same value; what is repaired can be restored."""

import json
import math
from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.limits import DEPTH_MAX, EVENT_BYTES_MAX
from mnemolog.schemas.values import (
    INTEGER_BITS_MAX,
    REPAIRS_MAX,
    REPLACEMENT,
    NotPlain,
    check_depth,
    cleaned,
    json_bytes,
    may_need_cleaning,
    parse_json,
    plain,
    restored,
)

sound = st.text(st.characters(exclude_categories=["Cs"]))
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
)
documents = st.recursive(
    scalars | sound, lambda inner: st.lists(inner) | st.dictionaries(sound, inner), max_leaves=20
)


def nested(depth):
    value = {}
    for _ in range(depth - 1):
        value = {"inner": value}
    return value


@given(documents)
def test_what_is_written_is_read_back_the_same(value):
    assert parse_json(json_bytes(value)) == value
    assert json_bytes(parse_json(json_bytes(value))) == json_bytes(value)


@given(st.dictionaries(sound, scalars))
def test_equal_values_are_equal_bytes_in_any_order(value):
    assert json_bytes(dict(reversed(value.items()))) == json_bytes(value)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_value_or_refused(data):
    try:
        value = parse_json(data)
    except InvalidEvent:
        return
    cleaned(value, field="data", repairs={})


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\xff\xfe", "not UTF-8 at byte 0"),
        (b'{"a": 1', "not JSON"),
        (b"", "not JSON"),
        (b"NaN", "NaN is no number"),
        (b"[Infinity]", "Infinity is no number"),
        (b"-Infinity", "-Infinity is no number"),
        (b"1e400", "beyond a double's range"),
        (b'{"a": 1, "a": 2}', "key 'a' stands twice"),
        (b'[{"b": {"a": 1, "a": 1}}]', "key 'a' stands twice"),
        (b"[" * 65 + b"]" * 65, "nesting depth"),
        (b"[" * 100_000 + b"]" * 100_000, "nesting depth"),
        (b"9" * 5_000, "not JSON"),
        (b"\xef\xbb\xbf{}", "not JSON"),
    ],
)
def test_what_is_not_strict_is_refused_with_a_reason(data, reason):
    with pytest.raises(InvalidEvent, match=reason) as caught:
        parse_json(data, field="here")
    assert caught.value.field == "here"


@pytest.mark.bad_input(11)
def test_large_integers_keep_all_digits():
    data = b'{"n":18446744073709551616,"tweet_id":9223372036854775808}'
    assert json_bytes(parse_json(data)) == data


@pytest.mark.bad_input(17)
def test_keys_that_differ_in_case_are_two_keys():
    assert parse_json(b'{"name": "a", "Name": "b"}') == {"name": "a", "Name": "b"}


# Depth


@pytest.mark.bad_input(15)
def test_depth_is_bounded_by_an_error_that_names_both():
    check_depth(nested(DEPTH_MAX), field="data")
    with pytest.raises(InvalidEvent, match=f"nesting depth 1500 > limit {DEPTH_MAX}"):
        check_depth(nested(1_500), field="data")


def test_lists_and_tuples_nest_too():
    deep = []
    for _ in range(DEPTH_MAX + 5):
        deep = [(deep,)]
    with pytest.raises(InvalidEvent, match="nesting depth"):
        check_depth(deep, field="data")


def test_a_value_that_holds_itself_is_refused():
    loop: dict = {}
    loop["me"] = loop
    with pytest.raises(InvalidEvent, match="nesting depth"):
        check_depth(loop, field="data")


# Cleaning


@pytest.mark.bad_input(1, 5)
@given(st.recursive(st.text() | scalars, lambda i: st.dictionaries(st.text(), i), max_leaves=8))
def test_what_is_cleaned_can_be_written_and_every_text_restored(value):
    repairs: dict = {}
    try:
        clean = cleaned(value, field="data", repairs=repairs)
    except InvalidEvent as error:
        assert error.limit == "a key stands once"  # noqa: PT017 - two keys may become one
        return
    json_bytes(clean)
    assert undone(clean, repairs, "") == value


def undone(value, repairs, pointer):
    """Return *value* with every text as it was, by what *repairs* says."""
    if isinstance(value, str):
        return restored(value, repairs[pointer]) if pointer in repairs else value
    if isinstance(value, dict):
        return {
            restored(key, repairs.get(path + "~", {})): undone(item, repairs, path)
            for key, item in value.items()
            for path in [f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"]
        }
    return value


anything = st.recursive(
    st.text()
    | st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.datetimes()
    | st.datetimes(timezones=st.just(UTC))
    | st.binary(max_size=2)
    | st.just(2**INTEGER_BITS_MAX),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(anything)
def test_what_is_plain_is_what_cleaning_makes_of_it_with_nothing_to_repair(value):
    try:
        copy = plain(value)
    except NotPlain:
        return
    repairs: dict = {}
    clean = cleaned(value, field="data", repairs=repairs)
    assert json_bytes(copy) == json_bytes(clean)
    assert repairs == {}


@given(documents)
def test_json_without_a_nul_is_plain(value):
    if "\\u0000" not in json.dumps(value):
        assert plain(value, levels=20) == value


def test_a_plain_copy_shares_no_container_with_its_source():
    source = {"list": [{"a": 1}]}
    copy = plain(source)
    copy["list"][0]["a"] = 2
    assert source == {"list": [{"a": 1}]}


@pytest.mark.parametrize("value", [nested(DEPTH_MAX), [[]] * 3, {"a": ({},)}])
def test_plain_knows_how_deep_a_value_may_be(value):
    depth = 2 if isinstance(value, list) else 3 if "a" in value else DEPTH_MAX
    assert json_bytes(plain(value, levels=depth)) == json_bytes(value)
    with pytest.raises(NotPlain):
        plain(value, levels=depth - 1)


def test_a_lone_surrogate_and_a_nul_are_replaced_and_kept_apart():
    repairs: dict = {}
    given_ = {"ls": "caf\udce9.txt", "list": ["ok", "a\0b"], "whole": "👩‍👩‍👧‍👦"}
    assert cleaned(given_, field="data", repairs=repairs) == {
        "ls": f"caf{REPLACEMENT}.txt",
        "list": ["ok", f"a{REPLACEMENT}b"],
        "whole": "👩‍👩‍👧‍👦",
    }
    assert repairs == {"/ls": {"3": "dce9"}, "/list/1": {"1": "0"}}
    assert restored(f"caf{REPLACEMENT}.txt", repairs["/ls"]) == "caf\udce9.txt"


def test_a_key_is_repaired_too():
    repairs: dict = {}
    assert cleaned({"a\0": 1}, field="data", repairs=repairs) == {f"a{REPLACEMENT}": 1}
    assert repairs == {f"/a{REPLACEMENT}~": {"1": "0"}}


@pytest.mark.parametrize(
    ("value", "path", "limit"),
    [
        ({"score": math.nan}, "data/score", "numbers are finite"),
        ({"a": [1, math.inf]}, "data/a/1", "numbers are finite"),
        ({"n": 2 ** (INTEGER_BITS_MAX + 1)}, "data/n", "bits"),
        ({1: "a"}, "data", "keys are texts"),
        ({"x": b"bytes"}, "data/x", "bytes is not JSON"),
        ({"x": {1, 2}}, "data/x", "set is not JSON"),
        ({"a\0": 1, f"a{REPLACEMENT}": 2}, "data", "a key stands once"),
    ],
)
def test_what_json_lacks_is_refused_with_its_path(value, path, limit):
    with pytest.raises(InvalidEvent, match=limit) as caught:
        cleaned(value, field="data", repairs={})
    assert caught.value.field == path


def test_what_would_take_more_room_to_repair_than_an_event_has_is_refused():
    many = "\0" * (REPAIRS_MAX // 2)
    assert cleaned([many, many], field="", repairs={}) == [many.replace("\0", REPLACEMENT)] * 2
    with pytest.raises(InvalidEvent, match=f"{REPAIRS_MAX} characters"):
        cleaned([many, many, many], field="", repairs={})
    with pytest.raises(InvalidEvent, match=f"{REPAIRS_MAX} characters"):
        cleaned("\0" * 16_000_000, field="", repairs={})
    assert EVENT_BYTES_MAX / len("\\u0000") < REPAIRS_MAX, "no event on a log is refused for it"


@given(st.text())
def test_bytes_are_looked_at_again_only_if_they_may_hold_something_unsafe(text):
    data = json.dumps(text).encode()  # escapes all but ASCII
    if cleaned(text, field="", repairs={}) != text:
        assert may_need_cleaning(data)
    assert not may_need_cleaning(json_bytes("caf\u00e9"))
