"""aiokafka's repeated messages pass once in a while, with how many were held back."""

import logging

from mnemolog.streams.kafka_noise import MESSAGES_MAX, QUIET_SECONDS, Hush, hush


def logged(message, *arguments):
    return logging.LogRecord("aiokafka.conn", logging.ERROR, "", 0, message, arguments, None)


def test_a_message_passes_once_whatever_its_arguments():
    filter_ = Hush()
    assert filter_.filter(logged("no connection to %s", "a"))
    assert not filter_.filter(logged("no connection to %s", "b"))
    assert filter_.filter(logged("something else"))


def test_a_message_passes_again_later_and_counts_what_was_held_back():
    now = [1000.0]
    filter_ = Hush(seconds=lambda: now[0])
    assert [filter_.filter(logged("down")) for _ in range(4)] == [True, False, False, False]
    now[0] += QUIET_SECONDS
    again = logged("down")
    assert filter_.filter(again)
    assert again.getMessage() == "down (and 3 more like it)"


def test_what_is_remembered_is_bounded():
    filter_ = Hush()
    for n in range(3 * MESSAGES_MAX):
        filter_.filter(logged(f"message {n}"))
    assert len(filter_._seen) <= MESSAGES_MAX


def test_hushing_twice_filters_once():
    hush()
    hush()
    filters = logging.getLogger("aiokafka.conn").filters
    assert len([one for one in filters if isinstance(one, Hush)]) == 1
