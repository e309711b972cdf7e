"""Times are UTC and microseconds; what is naive is flagged, what is absurd is refused."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.limits import TIME_MAX, TIME_MIN
from mnemolog.schemas.times import instant, microseconds, written

offsets = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
first = (TIME_MIN + timedelta(days=1)).replace(tzinfo=None)
last = (TIME_MAX - timedelta(days=1)).replace(tzinfo=None)
moments = st.datetimes(first, last, timezones=offsets)


@pytest.mark.bad_input(37)
@given(moments)
def test_any_zone_becomes_utc_and_is_the_same_moment(moment):
    found, assumed = instant(moment, field="time")
    assert found == moment
    assert found.tzinfo is UTC
    assert not assumed
    assert instant(written(found), field="time") == (found, False)


@given(st.lists(st.sampled_from([TIME_MIN, TIME_MAX, datetime(2030, 5, 1, 7, 8, 9, 10, UTC)])))
def test_a_moment_is_written_the_same_whatever_was_written_before(several):
    for moment in several:
        assert written(moment) == f"{moment:%Y-%m-%dT%H:%M:%S.%f}Z"


def test_times_of_three_kinds_have_one_order_and_only_the_naive_one_is_flagged():
    texts = (
        "2025-04-30T16:32:54.707474",
        "2025-05-12T20:27:38-04:00",
        "2025-08-22T09:38:56Z",
    )
    found = [instant(text, field="time") for text in texts]
    assert [assumed for _, assumed in found] == [True, False, False]
    assert found == sorted(found)
    assert found[1][0] == datetime(2025, 5, 13, 0, 27, 38, tzinfo=UTC)


def test_a_day_is_its_midnight_in_utc_and_flagged():
    assert instant(date(2030, 1, 2), field="time") == (datetime(2030, 1, 2, tzinfo=UTC), True)


@pytest.mark.bad_input(43)
@pytest.mark.parametrize("value", [1757015076651, 1757015076.651, 1757015076651000, True, None, []])
def test_a_number_is_refused_since_its_unit_would_be_a_guess(value):
    with pytest.raises(InvalidEvent, match="unit would be a guess") as caught:
        instant(value, field="occurred_at")
    assert (caught.value.field, caught.value.value) == ("occurred_at", value)


@pytest.mark.parametrize("text", ["", "yesterday", "1757015076", "2030-13-01", "2030-01-01T25:00Z"])
def test_a_text_that_is_no_time_is_refused(text):
    with pytest.raises(InvalidEvent):
        instant(text, field="time")


def test_the_years_1900_to_2199_are_taken_and_no_other():
    assert instant(TIME_MIN, field="time")[0] == TIME_MIN
    latest = TIME_MAX - timedelta(microseconds=1)
    assert instant(latest, field="time")[0] == latest
    before = TIME_MIN - timedelta(microseconds=1)
    ends_of_time = ("0001-01-01T00:00:00", "9999-12-31T23:59:59", "9999-12-31T23:59:59-09:00")
    for outside in (before, TIME_MAX, *ends_of_time, "0001-01-01T00:00:00+09:00"):
        with pytest.raises(InvalidEvent, match="between 1900 and 2200"):
            instant(outside, field="time")


@given(moments)
def test_microseconds_are_exact(moment):
    found, _ = instant(moment, field="time")
    assert datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds(found)) == found
