"""What was foreign on one log is foreign on the next, with its bytes, wherever it stands."""

from dataclasses import replace
from datetime import timedelta

import pytest

from mnemolog.schemas.decoded import Foreign, Ours
from mnemolog.schemas.events.experience import ObservationRecorded
from mnemolog.schemas.foreign import (
    FOREIGN_HEADER,
    REASON_CHARS_MAX,
    ForeignMark,
    foreign_record,
    mark_in,
    mark_of,
    unmarked,
)
from support.events import RECORDED, codec, envelope, logged, record

MARK = ForeignMark("f-1", "in a wrong partition")
SOUND = codec().encode(ObservationRecorded(text="seen"), envelope())


def test_a_sound_event_that_was_foreign_stays_so_with_its_reason_and_bytes():
    assert isinstance(codec().decode(logged(SOUND)), Ours)
    found = codec().decode(logged(foreign_record(SOUND.key, SOUND.value, SOUND.headers, MARK)))
    assert isinstance(found, Foreign)
    assert found.reason == MARK.reason
    assert (found.record.key, found.record.value) == (SOUND.key, SOUND.value)
    assert unmarked(found.record.headers) == SOUND.headers


@pytest.mark.parametrize("value", [None, b"", b"null", b"not json"])
@pytest.mark.parametrize("key", [None, b"", b"\xff"])
def test_what_is_missing_and_what_is_empty_stay_different(key, value):
    new = foreign_record(key, value, (("trace", None), ("trace", b"")), MARK)
    assert (new.key, new.value, new.headers[:2]) == (key, value, (("trace", None), ("trace", b"")))


def test_the_same_record_is_put_there_once_and_alike_ones_of_two_places_are_two():
    first, again = (foreign_record(b"k", b"v", (), MARK) for _ in range(2))
    other = foreign_record(b"k", b"v", (), ForeignMark("f-2", MARK.reason))
    assert (first.identity, first.content) == (again.identity, again.content)
    assert first.identity != other.identity


def test_a_record_has_one_mark_wherever_it_is_brought():
    there = record(b"not json", key=b"k")
    mark = mark_of(there, "no JSON", topic="mnemolog.a.events")
    assert mark == mark_of(there, "no JSON", topic="mnemolog.a.events")
    assert (mark.reason, mark.recorded) == ("no JSON", "2030-01-02T03:04:06.000000Z")
    moved = logged(foreign_record(b"k", b"not json", (), mark))
    later = replace(moved, recorded_at=RECORDED + timedelta(days=9))
    assert mark_of(later, "whatever", topic="mnemolog.b.events") == mark


@pytest.mark.parametrize(
    "change",
    [
        {"topic": "mnemolog.b.events"},
        {"value": b"other"},
        {"key": b"other"},
        {"headers": [("a", None)]},
    ],
)
def test_other_records_have_other_names(change):
    told = {"value": b"x", "key": b"k", "headers": [], "topic": "mnemolog.a.events"}
    names = set()
    for one in (told, {**told, **change}):
        there = record(one["value"], key=one["key"], headers=one["headers"])
        names.add(mark_of(there, "no JSON", topic=one["topic"]).id)
    assert len(names) == 2


@pytest.mark.parametrize("written", [None, b"", b"{", b"[]", b"7"])
def test_whatever_the_header_holds_it_says_that_the_record_is_foreign(written):
    mark = mark_in({FOREIGN_HEADER: written})
    assert mark == ForeignMark("", "it was foreign where it came from")


def test_a_reason_that_quotes_much_is_cut():
    new = foreign_record(b"k", b"v", (), ForeignMark("f-1", "x" * 100_000))
    mark = mark_in(dict(new.headers))
    assert mark == ForeignMark("f-1", "x" * REASON_CHARS_MAX)
