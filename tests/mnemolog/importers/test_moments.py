"""Times are read in the unit that a format has; what can't be one is refused."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from mnemolog.importers.base import Seconds, Unreadable
from mnemolog.importers.moments import Times, moment_of_seconds, moment_of_text

MOMENT = datetime(2025, 9, 4, 19, 44, 36, 651_000, tzinfo=UTC)


def test_seconds_are_read_with_their_fraction():
    assert moment_of_seconds(1_757_015_076.651) == MOMENT
    assert moment_of_seconds(1_757_015_076) == MOMENT.replace(microsecond=0)
    assert moment_of_seconds(-1) == datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)


@pytest.mark.parametrize(
    "written",
    [
        *(1_757_015_076_651, 1_757_015_076_651_000, 10**30, -(10**12), 1e308),
        *("1757015076", None, True, [1], {}),
    ],
)
def test_what_is_no_time_in_seconds_is_refused_and_never_guessed(written):
    with pytest.raises(Unreadable, match="seconds since 1970"):
        moment_of_seconds(written)


def test_a_text_keeps_its_zone_or_has_none():
    assert moment_of_text("2025-04-30T16:32:54.707474").tzinfo is None
    zone = timezone(timedelta(hours=-4))
    written = moment_of_text("2025-05-12T20:27:38-04:00")
    assert written == datetime(2025, 5, 12, 20, 27, 38, tzinfo=zone)


@pytest.mark.parametrize(
    "written", ["", "soon", "2025-13-01", "0001-01-01T00:00:00", "2025-01-01T00:00:60", 7, None]
)
def test_what_is_no_text_of_a_time_is_refused(written):
    with pytest.raises(Unreadable):
        moment_of_text(written)


def test_an_item_without_a_time_has_that_of_the_one_before_it():
    times = Times(Seconds("2024-01-01T00:00:00"), moment_of_seconds)
    written = [None, None, 60, None, "odd", 90, None]
    told = [times.of(value) for value in written]
    assert [moment.timestamp() for moment, _ in told[2:]] == [60, 60, 60, 90, 90]
    assert [moment.second for moment, _ in told[:2]] == [0, 1]  # nothing was known yet
    assert [reason is not None for _, reason in told].index(True) == 4


def test_a_start_that_is_known_holds_until_another_time_is():
    times = Times(Seconds("2024-01-01T00:00:00"), moment_of_seconds, started=MOMENT)
    assert [times.of(value)[0] for value in (None, None)] == [MOMENT, MOMENT]
