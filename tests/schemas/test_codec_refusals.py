"""What the codec refuses to write, naming field, value and limit; and what just fits."""

import math

import pytest

from mnemolog.schemas.codec import build
from mnemolog.schemas.decoded import Ours
from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.events.experience import (
    ActionStarted,
    CheckpointSaved,
    DecisionMade,
    FeedbackGiven,
    MessageExchanged,
    ObservationRecorded,
    TaskStarted,
)
from mnemolog.schemas.events.governance import EventSkipped
from mnemolog.schemas.events.memory import MemoryForgotten
from support.events import (
    codec,
    envelope,
    logged,
    record,
)

SEEN = ObservationRecorded(text="seen")


@pytest.mark.parametrize(
    ("model", "fields", "field", "limit"),
    [
        (TaskStarted, {"goal": "\u3000\u200b\n"}, "goal", "blank"),
        (TaskStarted, {}, "goal", "required"),
        (TaskStarted, {"goal": "g", "colour": 1}, "colour", "not permitted"),
        (TaskStarted, {"goal": 7}, "goal", "string"),
        (FeedbackGiven, {"target": "e1", "score": math.nan}, "/score", "finite"),
        (FeedbackGiven, {"target": "e1", "score": 1.5}, "score", "less than or equal to 1"),
        (FeedbackGiven, {"target": "a\nb", "score": 0.5}, "target", "control characters"),
        (DecisionMade, {"what": "x", "because_events": ["", "e1"]}, "because_events.0", "0 bytes"),
        (DecisionMade, {"what": "x", "because_events": ["e"] * 4_097}, "because_events", "4096"),
        (
            ActionStarted,
            {"action": "a", "tool": "t", "arguments": {1: 2}},
            "/arguments",
            "keys are texts",
        ),
        (ActionStarted, {"action": "a", "tool": "t", "arguments": "{}"}, "arguments", "dictionary"),
        (ObservationRecorded, {"text": "x" * 1_000_001}, "text", "1000000 characters"),
        (ObservationRecorded, {"text": "x", "tags": ["../x"]}, "tags.0", "no path"),
        (ObservationRecorded, {"text": "x", "tags": ["t"] * 65}, "tags", "64"),
        (MemoryForgotten, {}, "memory.forgotten", "names no memory"),
        (MemoryForgotten, {"events": ["0" * 32, "e-1"]}, "events.1", "identity, not its id"),
        (MemoryForgotten, {"events": ["A" * 32]}, "events.0", "in lower case"),
        (EventSkipped, {"revision": 1, "skipped": "e-1"}, "skipped", "32 hexadecimal digits"),
        (
            CheckpointSaved,
            {"checkpoint": {"id": "c", "timestamp": 5}},
            "checkpoint.timestamp",
            "guess",
        ),
    ],
)
def test_a_refusal_names_field_and_limit(model, fields, field, limit):
    with pytest.raises(InvalidEvent, match=limit) as caught:
        build(model, fields)
    assert caught.value.field == field
    assert caught.value.limit
    str(caught.value).encode()


def test_a_value_that_is_too_deep_is_refused_by_an_ordinary_error():
    deep: dict = {}
    for _ in range(1_499):
        deep = {"inner": deep}
    with pytest.raises(InvalidEvent, match="nesting depth 1501 > limit 64"):
        build(ObservationRecorded, {"text": "x", "data": deep})


def test_an_event_over_the_limit_is_refused_with_both_sizes():
    with pytest.raises(
        InvalidEvent, match=r"2999969 bytes encoded; the limit is 1048576"
    ) as caught:
        codec().encode(
            MessageExchanged(
                role="tool",
                text="x" * 1_000_000,
                parts=tuple({"kind": "t", "reference": "x" * 999_800} for _ in range(2)),
            ),
            envelope(),
        )
    assert caught.value.field == "message.exchanged"


def test_the_limit_counts_bytes_and_what_just_fits_is_taken():
    def size(characters):
        return codec().encode(ObservationRecorded(text="好" * characters), envelope()).value

    room = 1_048_576 - len(size(0))
    assert len(size(room // 3)) <= 1_048_576
    with pytest.raises(InvalidEvent, match="bytes encoded"):
        size(room // 3 + 1)
    assert isinstance(codec().decode(record(size(room // 3))), Ours)


@pytest.mark.parametrize("name", ["agent", "user", "project", "session", "task", "phase"])
def test_a_name_in_the_envelope_is_checked_before_anything_is_written(name):
    with pytest.raises(InvalidEvent, match="no path") as caught:
        codec().encode(SEEN, envelope(**{name: "..\\..\\x"}))
    assert caught.value.field == name


def test_large_integers_come_back_with_all_digits():
    event = ObservationRecorded(text="x", data={"tweet_id": 2**63, "n": 2**64})
    found = codec().decode(logged(codec().encode(event, envelope())))
    assert isinstance(found, Ours)
    assert found.recorded.event.data == {"tweet_id": 9223372036854775808, "n": 18446744073709551616}
    assert b"18446744073709551616" in found.canonical


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("agent", "x"),
        ("data", "x"),
        ("type", "x"),
        ("Trace", "x"),
        ("trace_id", "x"),
        ("trace", 1.5),
        ("trace", None),
        ("trace", "half \ud83e"),
        ("trace", "a\x00b"),
    ],
)
def test_an_extension_that_no_reader_would_take_is_refused(name, value):
    with pytest.raises(InvalidEvent, match=name):
        codec().encode(SEEN, envelope(extensions={name: value}))


def test_an_extension_comes_back_as_it_went():
    new = codec().encode(SEEN, envelope(extensions={"traceparent": "00-ab", "hop": 3}))
    found = codec().decode(logged(new))
    assert found.envelope.extensions == {"traceparent": "00-ab", "hop": 3}


def test_a_text_that_is_too_long_is_refused_with_both_lengths():
    with pytest.raises(InvalidEvent, match="at most 1000000 characters, not 3000000"):
        build(ObservationRecorded, {"text": "x" * 3_000_000})
