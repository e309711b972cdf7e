"""Calls that hang or fail are named in time; the others answer."""

import threading

import pytest

from mnemolog.projections.recall.deadlines import CALLS_PER_SIGNAL_MAX, Call, Deadline
from support.polling import eventually


@pytest.fixture
def gate():
    opened = threading.Event()
    yield opened
    opened.set()


def test_what_is_ready_in_time_is_given():
    assert Call("quick", lambda: 7).outcome(seconds=30) == (7, None)


def test_what_hangs_is_named():
    assert Call("test one", threading.Event().wait).outcome(seconds=0) == (
        None,
        "test one: timed out",
    )


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (ValueError("no such model"), "no such model"),
        (SystemExit(3), "SystemExit(3)"),
        (KeyboardInterrupt(), "KeyboardInterrupt()"),
    ],
)
def test_what_fails_is_named_with_its_reason(error, why):
    def fail():
        raise error

    assert Call("broken", fail).outcome(seconds=30) == (None, f"broken: {why}")


def test_a_time_out_inside_the_call_is_not_taken_for_its_lateness():
    def fail():
        raise TimeoutError("the store's own")

    _, why = Call("inner", fail).outcome(seconds=30)
    assert why is not None
    assert "the store's own" in why


def test_calls_that_hang_use_up_their_own_signal_only(gate):
    hanging = [Call("stuck", gate.wait) for _ in range(CALLS_PER_SIGNAL_MAX)]
    _, why = Call("stuck", lambda: 7).outcome(seconds=30)
    assert why == "stuck: too many calls are under way"
    assert Call("free", lambda: 7).outcome(seconds=30) == (7, None)
    gate.set()
    assert all(call.outcome(seconds=30) == (True, None) for call in hanging)
    eventually(
        lambda: Call("stuck", lambda: 7).outcome(seconds=30) == (7, None),
        what="the signal answers again",
    )


def test_a_share_of_a_deadline_is_over_before_the_whole():
    deadline = Deadline(1_000)
    assert 0 < deadline.seconds_left(0.5) < 500 < deadline.seconds_left() <= 1_000


def test_a_deadline_of_nothing_is_over():
    assert Deadline(0).seconds_left() == 0
