"""What failed is tried again later, and later still, up to a bound; success begins anew."""

from mnemolog.schemas.errors import StoreUnavailable
from mnemolog.streams.backing_off import BACKOFF_SECONDS_MAX, BACKOFF_SECONDS_MIN, BackOff

ERROR = StoreUnavailable("store", "away")


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def test_it_waits_longer_with_each_failure_up_to_a_bound():
    off = BackOff(now=Clock())
    waits = []
    for _ in range(10):
        off.failed(ERROR)
        waits.append(off.seconds)
    assert waits[:3] == [BACKOFF_SECONDS_MIN, 2 * BACKOFF_SECONDS_MIN, 4 * BACKOFF_SECONDS_MIN]
    assert waits[-1] == BACKOFF_SECONDS_MAX


def test_it_is_due_when_the_time_has_come_and_after_success():
    clock = Clock()
    off = BackOff(now=clock)
    assert off.is_due
    off.failed(ERROR)
    assert (off.is_due, off.error) == (False, ERROR)
    clock.now += BACKOFF_SECONDS_MIN
    assert off.is_due
    off.failed(ERROR)
    off.succeeded()
    assert (off.is_due, off.error) == (True, None)
    off.failed(ERROR)
    assert off.seconds == BACKOFF_SECONDS_MIN
