"""Is it behind, and is it moving: two questions, since what is stuck may look healthy."""

import pytest

from mnemolog.health import Bounds, Health, Level, Sample, Verdict, behind, followed, moving

BOUNDS = Bounds(lag_seconds=60, still_seconds=30)


def tracked(*samples):
    """Follow samples of (seconds, next to apply, end) of one partition, and return the track."""
    track = None
    for at, reached, end, *waited in samples:
        track = followed(track, Sample(at, {0: reached}, {0: end}, *waited))
    return track


def is_moving(track, **more):
    return moving("memories", track, bounds=BOUNDS, **more).level


def is_behind(track, now):
    return behind("memories", track, now=now, bounds=BOUNDS).level


def test_what_has_nothing_to_do_is_well_however_long_it_stands():
    track = tracked((0, 5, 5), (1000, 5, 5))
    assert is_moving(track) is Level.OK
    assert is_behind(track, 1000) is Level.OK


def test_a_consumer_that_is_stuck_does_not_look_healthy():
    samples = [(0, 5, 5), (10, 5, 6), (20, 5, 6)]
    assert is_moving(tracked(*samples)) is Level.OK
    assert is_moving(tracked(*samples, (26, 5, 7))) is Level.DEGRADED
    assert is_moving(tracked(*samples, (26, 5, 7), (41, 5, 9))) is Level.FAILING


def test_one_of_which_no_further_sample_comes_is_behind_and_not_said_to_be_stuck():
    track = tracked((0, 5, 6))
    assert is_moving(track) is Level.OK
    assert is_behind(track, 61) is Level.FAILING


def test_one_that_moves_is_no_stuck_one_however_far_it_is_behind():
    samples = [(10 * n, n, 10_000, 500.0) for n in range(50)]
    track = tracked(*samples)
    assert is_moving(track) is Level.OK
    assert is_behind(track, 490) is Level.FAILING


def test_one_that_moves_a_little_begins_to_stand_still_anew():
    samples = [(0, 5, 9), (29, 6, 9), (50, 6, 9)]
    assert tracked(*samples).still_seconds(50) == 21
    assert is_moving(tracked(*samples, (58, 6, 9))) is Level.DEGRADED
    assert is_moving(tracked(*samples, (60, 6, 9))) is Level.FAILING


def test_time_in_which_nothing_waited_does_not_count():
    track = tracked((0, 5, 5), (500, 5, 6))
    assert track.still_seconds(505) == 5


def test_one_that_is_built_anew_goes_back_and_that_is_a_move():
    assert is_moving(tracked((0, 5, 9), (40, 0, 9))) is Level.OK


def test_a_known_trouble_is_degraded_since_a_restart_would_not_mend_it():
    track = tracked((0, 5, 9), (500, 5, 9))
    verdict = moving("memories", track, bounds=BOUNDS, trouble="the disk is full")
    assert verdict.level is Level.DEGRADED
    assert "the disk is full" in verdict.detail
    assert is_behind(track, 500) is Level.FAILING


def test_how_far_it_is_behind_is_told_in_events_and_seconds():
    track = followed(None, Sample(0, {0: 1, 1: 4}, {0: 3, 1: 5}, 20.0))
    verdict = behind("memories", track, now=12, bounds=BOUNDS)
    assert verdict.level is Level.DEGRADED
    assert verdict.detail == "3 events behind, by 32 s"


def test_a_partition_that_was_never_applied_counts_from_its_start():
    assert Sample(0, {}, {0: 3, 1: 2}).lag_events == 5


def test_a_tenant_is_as_well_as_its_worst_verdict_on_what_is_asked():
    def verdict(question, level):
        return Verdict(question, "memories", level, "so it is")

    health = Health("acme", (verdict("moving", Level.OK), verdict("behind", Level.FAILING)))
    assert health.level() is Level.FAILING
    assert health.level("moving") is Level.OK
    assert health.level("open") is Level.OK
    assert health.to_dict()["level"] == "failing"
    assert [told["question"] for told in health.to_dict()["verdicts"]] == ["behind"]


@pytest.mark.parametrize("level", Level)
def test_a_level_has_a_word(level):
    assert level.word in {"ok", "degraded", "failing"}
