"""What every log does with what is appended. Part of `LogContract`."""

import itertools
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.limits import EVENT_BYTES_MAX
from mnemolog.schemas.positions import Position
from mnemolog.streams.admission import ASIDE_BYTES_MAX
from mnemolog.streams.log import APPEND_RECORDS_MAX, READ_BYTES_MAX, Knowing
from support.log_records import (
    HEADERS,
    everything,
    numbered,
    places,
    values,
)

# Where Kafka's Java client puts these keys when there are four partitions.
JAVA_PARTITIONS = {
    b"21": 0,
    b"foobar": 2,
    b"a-little-bit-long-string": 0,
    b"a-little-bit-longer-string": 3,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": 1,
    b"abc": 3,
}


class AppendingContract:
    """Places, order, duplicates, sizes."""

    # An empty log

    def test_an_empty_log_starts_and_ends_at_0(self, engine):
        log = engine.open(partitions=3)
        assert log.starts() == log.ends() == {0: 0, 1: 0, 2: 0}
        assert log.partitions == 3

    def test_an_empty_log_gives_nothing_and_is_caught_up(self, engine):
        log = engine.open()
        reader = log.reader({0: 0})
        assert list(reader.poll(records_max=10, wait_seconds=0)) == []
        assert reader.positions() == log.ends()
        assert log.at(Position(0, 0)) is None
        assert log.position_at(datetime(2020, 1, 1, tzinfo=UTC)) == {0: 0}

    def test_a_log_is_called_after_its_tenant(self, engine):
        assert engine.open().topic == f"mnemolog.{engine.tenant}.events"

    def test_an_append_of_nothing_is_nothing(self, engine):
        log = engine.open()
        assert log.append([]) == []
        assert log.ends() == {0: 0}

    # Appending

    def test_a_record_comes_back_as_it_was_given(self, engine):
        log = engine.open()
        headers = (*HEADERS, ("empty", b""), ("none", None), ("名", "值".encode()))
        given = numbered(1, key="代理-1".encode(), value=b'{"a": "\xc3\xa9\x00"}')
        given = type(given)(given.key, given.value, headers, given.identity, given.content)
        before = datetime.now(UTC) - timedelta(seconds=2)
        (position,) = log.append([given])

        (found,) = everything(log)

        assert found.position == position == Position(0, 0)
        assert (found.key, found.value, found.headers) == (given.key, given.value, headers)
        assert before < found.recorded_at < before + timedelta(minutes=10)
        assert found.recorded_at.tzinfo is UTC
        assert log.at(position) == found

    def test_records_stand_in_the_order_of_the_call(self, engine):
        log = engine.open()
        positions = log.append([numbered(n) for n in range(200)])
        assert positions == [Position(0, n) for n in range(200)]
        assert values(everything(log)) == [b"%d" % n for n in range(200)]

    @pytest.mark.bad_input(55)
    def test_the_events_of_a_key_keep_their_order_over_appends_small_and_large(self, engine):
        log = engine.open(partitions=4)
        keys = [b"agent-%d" % n for n in range(10)]
        numbers = itertools.count()
        for size in (1, 300, 1, 3, 80, 1, 1, 200):
            some = itertools.product(itertools.islice(numbers, size), keys)
            log.append([numbered((n, k), key=k, value=b"%d" % n) for n, k in some])
        by_key = {key: [int(r.value) for r in everything(log) if r.key == key] for key in keys}
        assert by_key == {key: list(range(587)) for key in keys}

    def test_a_key_goes_where_kafkas_java_client_puts_it(self, engine):
        log = engine.open(partitions=4)
        positions = places(log, (numbered(key, key=key) for key in JAVA_PARTITIONS))
        assert {k: p.partition for k, p in zip(JAVA_PARTITIONS, positions, strict=True)} == (
            JAVA_PARTITIONS
        )
        assert {r.key: r.partition for r in everything(log)} == JAVA_PARTITIONS

    def test_many_threads_at_once_lose_nothing_and_keep_their_order(self, engine):
        log = engine.open(partitions=2)

        def agent(name: int) -> list[Position]:
            key = b"agent-%d" % name
            return places(log, (numbered((name, n), key=key, value=b"%d" % n) for n in range(25)))

        with ThreadPoolExecutor(16) as threads:
            acknowledged = [p for part in threads.map(agent, range(16)) for p in part]

        found = everything(log)
        assert sorted(acknowledged) == [record.position for record in found]
        for name in range(16):
            key = b"agent-%d" % name
            assert [int(r.value) for r in found if r.key == key] == list(range(25))

    # Duplicates

    def test_a_repeat_has_no_effect_for_who_takes_the_first_of_each_identity(self, engine):
        log = engine.open()
        again = numbered("twice", value=b"said twice")
        first, _ = places(log, [again, numbered(2)])

        (repeated,) = log.append([again])

        said = [record for record in everything(log) if record.value == b"said twice"]
        assert said[0].position == first
        assert repeated in {record.position for record in said}
        assert len({(record.key, record.value) for record in said}) == 1

    def test_a_repeat_within_a_call_stands_once(self, engine):
        log = engine.open()
        positions = log.append([numbered(1), numbered(2), numbered(1), numbered(3), numbered(1)])
        assert [p.offset for p in positions] == [0, 1, 0, 2, 0]
        assert log.ends() == {0: 3}

    def test_a_log_that_can_tell_says_where_a_record_stands_and_takes_none(self, engine):
        log = engine.open(partitions=3)
        if not isinstance(log, Knowing):
            pytest.skip("this log gives every record a new place, and can't be asked")
        there = [numbered(n, key=b"agent-%d" % n) for n in range(600)]
        positions = log.append(there)
        ends = log.ends()
        others = [numbered("new"), numbered(0, key=b"agent-0", value=b"other")]
        assert log.known([others[0], *there, others[1]]) == [None, *positions, None]
        assert log.known([]) == []
        assert log.ends() == ends

    def test_an_identity_with_another_content_is_kept(self, engine):
        log = engine.open()
        places(log, [numbered("id", value=b"this"), numbered("id", value=b"that")])
        log.append([numbered("id", value=b"a third"), numbered("id", value=b"a fourth")])
        assert values(everything(log)) == [b"this", b"that", b"a third", b"a fourth"]

    # Sizes

    @pytest.mark.parametrize("records", [1, 70])
    def test_an_event_at_the_size_limit_is_kept_whole(self, engine, records):
        log = engine.open()
        large = bytes(range(256)) * (EVENT_BYTES_MAX // 256)
        small = [numbered(n) for n in range(1, records)]
        (position, *_) = log.append([numbered("large", value=large), *small])
        found = log.at(position)
        assert found is not None
        assert found.value == large
        assert len(everything(log)) == records

    @pytest.mark.bad_input(47)
    def test_one_byte_more_is_refused_with_both_sizes_and_nothing_is_kept(self, engine):
        log = engine.open()
        with pytest.raises(InvalidEvent, match=f"{EVENT_BYTES_MAX + 1} bytes.*{EVENT_BYTES_MAX}$"):
            log.append([numbered(1), numbered(2, value=b"x" * (EVENT_BYTES_MAX + 1))])
        assert log.ends() == {0: 0}

    def test_key_and_headers_at_their_limit_are_kept_and_beyond_it_refused(self, engine):
        log = engine.open()
        large = numbered(1, key=b"k" * 1_024, value=b"x" * EVENT_BYTES_MAX)
        room = ASIDE_BYTES_MAX - 1_024 - 16 - len("h")

        def with_header(size):
            headers = (("h", b"x" * size),)
            return type(large)(large.key, large.value, headers, large.identity, large.content)

        log.append([with_header(room)])
        assert len(log.at(Position(0, 0)).headers[0][1]) == room
        with pytest.raises(InvalidEvent, match=str(ASIDE_BYTES_MAX)):
            log.append([with_header(room + 1)])

    def test_more_records_than_a_call_takes_are_refused(self, engine):
        with pytest.raises(InvalidEvent, match=str(APPEND_RECORDS_MAX)):
            engine.open().append([numbered(1)] * (APPEND_RECORDS_MAX + 1))

    def test_a_poll_of_large_records_ends_before_it_holds_too_much(self, engine):
        log = engine.open()
        count = 2 * READ_BYTES_MAX // EVENT_BYTES_MAX
        for n in range(count):
            log.append([numbered(n, value=b"%d" % n + b" " * (EVENT_BYTES_MAX - 3))])
        reader = log.reader({0: 0})
        sizes, seen = [], 0
        while seen < count:
            polled = reader.poll(records_max=5000, wait_seconds=5)
            sizes.append(sum(len(record.value) for record in polled))
            seen += len(polled)
        assert seen == count
        assert max(sizes) <= READ_BYTES_MAX + 2 * EVENT_BYTES_MAX
        assert len(sizes) > 1
