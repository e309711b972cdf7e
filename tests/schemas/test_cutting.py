"""What is cut out of an event's fields and put back is what was given, whatever was given."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.schemas.blobs import text_of, texts_in, with_texts
from mnemolog.schemas.checkpoint import TaskState
from mnemolog.schemas.codec import build
from mnemolog.schemas.cutting import SIZES, Cutting, Sizes, may_be_large
from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.events.experience import ObservationRecorded
from mnemolog.schemas.limits import (
    BLOB_BYTES_MAX,
    DEPTH_MAX,
    EVENT_BLOBS_BYTES_MAX,
    EVENT_BLOBS_MAX,
)

SMALL = Sizes(text=5_000, data_uri=4_500, event=65_536)
PNG = "data:image/png;base64,"

lengths = st.sampled_from([0, 1, 20, 4_400, 4_600, 5_001, 9_000])
letters = st.sampled_from(["a", "好", "\ud83e", "\0", "👩‍👧", " ", "x y", PNG + "A"])
long_texts = st.builds(lambda letter, length: (letter * length)[:length], letters, lengths)
keys = st.text(st.characters(exclude_characters="\0"), max_size=5) | st.sampled_from(["a/b", "~"])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-1, 1) | long_texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)


def cut(fields, sizes=SMALL):
    return Cutting(fields, event_type="observation.recorded", sizes=sizes)


def put_back(cutting, event):
    whole = {one.pointer: text_of(cutting.blobs[one.sha256]) for one in cutting.references}
    return with_texts(event, whole)


@given(st.dictionaries(keys, values, max_size=4), long_texts, st.sampled_from([0, 1, 30_000]))
def test_cut_and_put_back_is_what_was_given(data, text, excess):
    given_fields = {"text": "t", "data": {**data, "more": text}}
    cutting = cut(given_fields)
    cutting.shrink(excess)
    event, _ = build(ObservationRecorded, cutting.fields)
    was, beside = dict(texts_in(given_fields)), {one.pointer for one in cutting.references}
    told = dict(texts_in({"text": event.text, "data": put_back(cutting, event).data}))
    assert told == {at: was[at] if at in beside else repaired(was[at]) for at in was}


def repaired(text):
    return "".join("\ufffd" if c == "\0" or "\ud800" <= c <= "\udfff" else c for c in text)


@given(st.dictionaries(keys, values, max_size=4))
def test_what_may_not_be_large_has_nothing_to_cut(data):
    if not may_be_large({"data": data}, SMALL):
        assert cut({"data": data}).references == []


def test_an_event_of_short_texts_is_not_looked_at_twice():
    fields = {"text": "x" * 1_000, "data": {"a": [1, "b" * 100, None]}, "tags": ("t",)}
    assert not may_be_large(fields, SIZES)


@pytest.mark.parametrize(
    "fields",
    [
        {"text": "x" * 65_537},
        {"data": {"k" * 65_537: 1}},
        {"data": {"a": ["x" * 100] * 700}},
        {"data": {"a": [0] * 70_000}},
        {"checkpoint": {"task_state": TaskState(task_id="t", variables={"a": "x" * 70_000})}},
    ],
)
def test_whatever_takes_room_is_seen(fields):
    assert may_be_large(fields, SIZES)


def test_the_look_for_large_texts_ends_where_a_value_holds_itself():
    loop = {}
    loop["again"] = loop
    assert may_be_large({"data": loop}, SIZES)
    with pytest.raises(InvalidEvent, match="depth"):
        cut({"data": loop})


def test_a_text_at_the_limit_stays_and_one_byte_more_goes():
    assert cut({"text": "x" * 262_144}, SIZES).references == []
    (named,) = cut({"text": "x" * 262_145}, SIZES).references
    assert (named.pointer, named.bytes) == ("/text", 262_145)
    assert cut({"text": "好" * 87_381}, SIZES).references == []
    (named,) = cut({"text": "好" * 87_382}, SIZES).references
    assert named.bytes == 262_146


def test_a_data_uri_at_the_limit_stays_and_one_byte_more_goes():
    fits = PNG + "A" * (65_536 - len(PNG))
    assert cut({"data": {"url": fits}}, SIZES).references == []
    cutting = cut({"data": {"url": fits + "A"}}, SIZES)
    assert [one.pointer for one in cutting.references] == ["/data/url"]
    assert cutting.fields == {"data": {"url": PNG + "…"}}


def test_a_picture_within_a_text_goes_and_the_words_around_it_stay():
    cutting = cut({"text": f"before ![]({PNG}{'A' * 70_000}) after"}, SIZES)
    assert cutting.fields["text"] == f"before ![]({PNG}…) after"
    assert text_of(*cutting.blobs.values()) == f"before ![]({PNG}{'A' * 70_000}) after"


def test_models_and_tuples_are_cut_as_what_they_are_written_as():
    state = TaskState(task_id="t", working_memory={"notes": "n" * 300_000})
    at = datetime(2030, 1, 1, tzinfo=UTC)
    cutting = cut({"checkpoint": {"timestamp": at, "task_state": state}, "tags": ("a", "b")}, SIZES)
    assert [one.pointer for one in cutting.references] == [
        "/checkpoint/task_state/working_memory/notes"
    ]
    assert cutting.fields["checkpoint"]["timestamp"] is at
    assert cutting.fields["tags"] == ["a", "b"]
    assert len(state.working_memory["notes"]) == 300_000


def test_what_was_given_is_not_changed():
    fields = {"text": "x" * 300_000, "data": {"list": ["y" * 300_000]}}
    cut(fields, SIZES)
    assert fields == {"text": "x" * 300_000, "data": {"list": ["y" * 300_000]}}


def test_a_text_that_stands_twice_is_one_blob():
    cutting = cut({"text": "x" * 300_000, "data": {"again": "x" * 300_000}}, SIZES)
    assert len(cutting.references) == 2
    assert len(cutting.blobs) == 1


def test_the_largest_texts_go_first_where_the_whole_is_too_large():
    sizes = {"a": 20_000, "b": 60_000, "c": 50_000, "d": 3_000}
    cutting = cut({"data": {name: name * size for name, size in sizes.items()}}, SIZES)
    assert cutting.references == []
    assert cutting.shrink(70_000)
    assert {one.pointer for one in cutting.references} == {"/data/b", "/data/c"}
    assert cutting.shrink(10_000)
    assert {one.pointer for one in cutting.references} == {"/data/a", "/data/b", "/data/c"}
    assert not cutting.shrink(1)


def test_heads_that_are_too_many_get_shorter():
    cutting = cut({"data": {str(n): f"{n} " + "x" * 300_000 for n in range(100)}}, SIZES)
    before = sum(len(text) for _, text in texts_in(cutting.fields))
    assert cutting.shrink(600_000)
    after = sum(len(text) for _, text in texts_in(cutting.fields))
    assert before - after > 600_000
    assert len(cutting.references) == 100


@pytest.mark.parametrize(
    ("fields", "sizes"),
    [
        ({"text": "x" * (BLOB_BYTES_MAX + 1)}, (BLOB_BYTES_MAX + 1, BLOB_BYTES_MAX)),
        (
            {"data": {str(n): f"{n}" + "x" * (BLOB_BYTES_MAX - 1) for n in range(5)}},
            (5 * BLOB_BYTES_MAX, EVENT_BLOBS_BYTES_MAX),
        ),
        (
            {"data": {str(n): f"{n:04}" + "x" * 262_141 for n in range(EVENT_BLOBS_MAX + 1)}},
            (256 * 262_145, EVENT_BLOBS_BYTES_MAX),
        ),
    ],
)
def test_what_no_blob_may_hold_is_refused_with_both_sizes(fields, sizes):
    with pytest.raises(InvalidEvent) as raised:
        cut(fields, SIZES)
    told = [int(word) for word in raised.value.limit.replace(";", "").split() if word.isdigit()]
    assert told[0] >= sizes[0] * 0.99
    assert told[-1] == sizes[1]
    assert raised.value.field.startswith(("text", "data."))


def test_texts_beside_the_log_are_so_many_at_most():
    cutting = cut({"data": [f"{n:04}" + "x" * 5_000 for n in range(EVENT_BLOBS_MAX + 1)]}, SIZES)
    with pytest.raises(InvalidEvent, match=f"{EVENT_BLOBS_MAX + 1} large texts.*{EVENT_BLOBS_MAX}"):
        cutting.shrink(10**9)


def test_what_nests_too_deeply_is_refused_before_it_is_walked():
    deep = "x" * 300_000
    for _ in range(1_500):
        deep = {"d": deep}
    with pytest.raises(InvalidEvent, match=f"1500 > limit {DEPTH_MAX}|> limit {DEPTH_MAX}"):
        cut({"data": deep})
