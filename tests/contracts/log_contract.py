"""What every log does. A subclass gives the fixture `engine` (`support.log_engines.LogEngine`)."""

import itertools
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mnemolog.schemas.errors import HistoryLost, InvalidEvent, LogReplaced, LogUnavailable
from mnemolog.schemas.limits import EVENT_BYTES_MAX
from mnemolog.schemas.positions import Position
from mnemolog.schemas.records import fingerprint
from mnemolog.streams.admission import ASIDE_BYTES_MAX
from mnemolog.streams.continuity import check_continuity
from mnemolog.streams.log import APPEND_RECORDS_MAX, READ_BYTES_MAX
from support.log_records import (
    HEADERS,
    everything,
    numbered,
    places,
    read_up_to,
    values,
)
from support.polling import eventually

# Where Kafka's Java client puts these keys when there are four partitions.
JAVA_PARTITIONS = {
    b"21": 0,
    b"foobar": 2,
    b"a-little-bit-long-string": 0,
    b"a-little-bit-longer-string": 3,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": 1,
    b"abc": 3,
}
LOG_PROCESS = Path(__file__).parents[1] / "support" / "log_process.py"


def last_applied(log, partition=0):
    """Return what a projection that has applied all of a partition keeps of it."""
    position = Position(partition, log.ends()[partition] - 1)
    return {partition: (position.offset, fingerprint(log.at(position)))}


class LogContract:
    """Of one handle in one process."""

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

    def test_one_byte_more_is_refused_with_both_sizes_and_nothing_is_kept(self, engine):
        log = engine.open()
        with pytest.raises(InvalidEvent, match=f"{EVENT_BYTES_MAX + 1} bytes.*{EVENT_BYTES_MAX}$"):
            log.append([numbered(1), numbered(2, value=b"x" * (EVENT_BYTES_MAX + 1))])
        assert log.ends() == {0: 0}

    def test_key_and_headers_at_their_limit_are_kept_and_beyond_it_refused(self, engine):
        log = engine.open()
        large = numbered(1, key=b"k" * 256, value=b"x" * EVENT_BYTES_MAX)
        room = ASIDE_BYTES_MAX - 256 - 16 - len("h")

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

    # Reading

    def test_reading_begins_where_it_is_asked_to(self, engine):
        log = engine.open(partitions=2)
        log.append([numbered(n, key=b"agent-%d" % (n % 7)) for n in range(100)])
        ends = log.ends()
        start = {p: end // 2 for p, end in ends.items()}
        found = everything(log, start=start)
        assert {p: [r.offset for r in found if r.partition == p] for p in ends} == {
            p: list(range(start[p], end)) for p, end in ends.items()
        }

    def test_reading_keeps_to_the_partitions_that_it_names(self, engine):
        log = engine.open(partitions=2)
        log.append([numbered(n, key=b"agent-%d" % n) for n in range(40)])
        reader = log.reader({1: 0})
        found = read_up_to(reader, log.ends())
        assert {record.partition for record in found} == {1}
        assert reader.positions() == {1: log.ends()[1]}

    def test_a_poll_returns_no_more_than_it_is_asked_for_and_none_is_left_out(self, engine):
        log = engine.open(partitions=2)
        log.append([numbered(n, key=b"agent-%d" % n) for n in range(50)])
        reader, found = log.reader({0: 0, 1: 0}), []
        while len(found) < 50:
            polled = reader.poll(records_max=7, wait_seconds=5)
            assert 0 < len(polled) <= 7
            found += polled
        assert Counter(values(found)) == Counter(b"%d" % n for n in range(50))
        assert reader.positions() == log.ends()

    def test_no_partition_starves_another(self, engine):
        log = engine.open(partitions=2)
        log.append([numbered(n, key=b"agent-%d" % n) for n in range(200)])
        reader = log.reader({0: 0, 1: 0})
        polled = [reader.poll(records_max=5, wait_seconds=5) for _ in range(24)]
        assert {record.partition for part in polled for record in part} == {0, 1}

    def test_two_readers_do_not_disturb_each_other(self, engine):
        log = engine.open()
        log.append([numbered(n) for n in range(10)])
        one, other = log.reader({0: 0}), log.reader({0: 5})
        assert len(read_up_to(one, log.ends())) == 10
        assert len(read_up_to(other, log.ends())) == 5

    def test_a_closed_reader_may_be_closed_again_and_so_may_a_log(self, engine):
        log = engine.open()
        reader = log.reader({0: 0})
        reader.poll(records_max=1, wait_seconds=0)
        reader.close()
        reader.close()
        log.close()
        log.close()

    def test_a_closed_log_refuses_to_append(self, engine):
        log = engine.open()
        log.close()
        with pytest.raises(LogUnavailable, match="closed"):
            log.append([numbered(1)])

    # Times

    def test_the_position_at_a_time_is_the_first_record_of_then_or_later(self, engine):
        log = engine.open()
        log.append([numbered(1), numbered(2)])
        first = everything(log)
        apart = first[-1].recorded_at + timedelta(milliseconds=3)
        eventually(lambda: datetime.now(UTC) > apart, what="the clock goes on")
        log.append([numbered(3)])
        (third,) = everything(log, start={0: 2})

        assert log.position_at(datetime(2020, 1, 1, tzinfo=UTC)) == {0: 0}
        assert log.position_at(first[0].recorded_at) == {0: 0}
        assert log.position_at(first[-1].recorded_at + timedelta(milliseconds=1)) == {0: 2}
        assert log.position_at(third.recorded_at) == {0: 2}
        assert log.position_at(third.recorded_at + timedelta(milliseconds=1)) == {0: 3}

    # Waiting

    def test_waiting_ends_at_once_when_there_is_something(self, engine):
        log = engine.open(partitions=2)
        log.append([numbered(1)])
        assert log.wait({0: 0, 1: 0}, timeout_seconds=0)

    def test_waiting_for_what_does_not_come_says_so(self, engine):
        log = engine.open()
        log.append([numbered(1)])
        assert not log.wait({0: 1}, timeout_seconds=0.05)

    def test_an_append_of_another_thread_wakes_who_waits(self, engine):
        log = engine.open()
        with ThreadPoolExecutor(1) as threads:
            woken = threads.submit(log.wait, {0: 0}, timeout_seconds=60)
            log.append([numbered(1)])
            assert woken.result(60)

    def test_a_poll_waits_for_the_first_record(self, engine):
        log = engine.open()
        reader = log.reader({0: 0})
        with ThreadPoolExecutor(1) as threads:
            polled = threads.submit(reader.poll, records_max=5, wait_seconds=60)
            log.append([numbered(1)])
            assert values(polled.result(60)) == [b"1"]

    # What others put there

    def test_null_empty_and_the_text_null_stay_three_things(self, engine):
        log = engine.open()
        log.append([numbered(1)])
        for value in (None, b"", b"null"):
            engine.put_raw(log, 0, key=b"m1", value=value)
        log.append([numbered(2)])
        assert values(everything(log)) == [b"1", None, b"", b"null", b"2"]

    def test_a_record_of_no_key_with_any_bytes_and_headers_can_be_read(self, engine):
        log = engine.open()
        odd = (("ce_id", b"\xff\x00"), ("ce_id", b"again"), ("null", None))
        engine.put_raw(log, 0, key=None, value=b"\x00\xff not json", headers=odd)
        (found,) = everything(log)
        assert (found.key, found.value, found.headers) == (None, b"\x00\xff not json", odd)
        assert log.at(found.position) == found

    # Another log, or a shorter one

    def test_the_same_log_is_recognised(self, engine):
        log = engine.open(partitions=2)
        log.append([numbered(n, key=b"agent-%d" % n) for n in range(20)])
        check_continuity(log, last_applied={**last_applied(log, 0), **last_applied(log, 1)})
        check_continuity(log, last_applied={0: (-1, "")})
        check_continuity(log, last_applied={})

    def test_a_log_made_anew_is_found_out_while_it_is_shorter(self, engine):
        log = engine.open()
        log.append([numbered(n) for n in range(5)])
        kept = last_applied(log)
        engine.make_anew()
        log = engine.open()
        with pytest.raises(LogReplaced, match="ends at 0"):
            check_continuity(log, last_applied=kept)
        log.append([numbered("new")])
        reader = log.reader({0: 5})
        with pytest.raises(LogReplaced, match="ends at 1"):
            reader.poll(records_max=5, wait_seconds=5)

    def test_a_log_made_anew_is_found_out_when_it_has_grown_longer(self, engine):
        log = engine.open()
        log.append([numbered(n) for n in range(5)])
        kept = last_applied(log)
        engine.make_anew()
        log = engine.open()
        log.append([numbered(("new", n)) for n in range(9)])
        with pytest.raises(LogReplaced, match="no longer stands there"):
            check_continuity(log, last_applied=kept)

    def test_a_log_of_fewer_partitions_is_another_log(self, engine):
        log = engine.open(partitions=1)
        with pytest.raises(LogReplaced, match="1 partition"):
            check_continuity(log, last_applied={1: (0, "")})
        with pytest.raises(LogReplaced, match="1 partition"):
            log.reader({1: 0})

    def test_a_log_whose_start_is_gone_can_be_read_from_what_is_left(self, engine):
        log = engine.open()
        log.append([numbered(n) for n in range(9)])
        engine.lose_start(log, 0, before=4)
        assert log.starts() == {0: 4}
        assert log.ends() == {0: 9}
        assert log.at(Position(0, 3)) is None
        assert values(everything(log, start={0: 4})) == [b"4", b"5", b"6", b"7", b"8"]
        assert log.position_at(datetime(2020, 1, 1, tzinfo=UTC)) == {0: 4}

    def test_reading_what_is_gone_raises(self, engine):
        log = engine.open()
        log.append([numbered(n) for n in range(9)])
        engine.lose_start(log, 0, before=4)
        with pytest.raises(HistoryLost, match="starts at 4, 3 is wanted"):
            log.reader({0: 3}).poll(records_max=5, wait_seconds=5)

    def test_progress_before_the_start_is_history_lost_and_just_at_it_is_not(self, engine):
        log = engine.open()
        log.append([numbered(n) for n in range(9)])
        kept = {n: {0: (n, fingerprint(log.at(Position(0, n))))} for n in range(9)}
        engine.lose_start(log, 0, before=4)
        for applied in (0, 2):
            with pytest.raises(HistoryLost, match="starts at 4"):
                check_continuity(log, last_applied=kept[applied])
        with pytest.raises(HistoryLost):
            check_continuity(log, last_applied={0: (-1, "")})
        check_continuity(log, last_applied=kept[3])  # gone itself, but the next one is there
        check_continuity(log, last_applied=kept[4])

    def test_a_log_of_which_nothing_is_left_goes_on_where_it_was(self, engine):
        log = engine.open()
        log.append([numbered(n) for n in range(9)])
        engine.lose_start(log, 0, before=9)
        assert log.starts() == log.ends() == {0: 9}
        assert log.append([numbered("next")]) == [Position(0, 9)]
        assert values(everything(log, start={0: 9})) == [b"next"]


class SharedLogContract(LogContract):
    """Of several handles and processes, for engines whose log outlives them."""

    def test_what_was_acknowledged_is_there_for_the_next_handle(self, engine):
        log = engine.open(partitions=2)
        appended = log.append([numbered(n, key=b"agent-%d" % n) for n in range(30)])
        log.close()
        again = engine.open(partitions=2)
        assert [record.position for record in everything(again)] == sorted(appended)
        assert again.partitions == 2

    def test_an_append_through_another_handle_wakes_who_waits(self, engine):
        log, other = engine.open(), engine.open()
        with ThreadPoolExecutor(1) as threads:
            woken = threads.submit(log.wait, {0: 0}, timeout_seconds=60)
            other.append([numbered(1)])
            assert woken.result(60)

    def test_a_process_is_woken_by_another_process(self, engine):
        log = engine.open()
        with self.process(engine, "wait", "60") as waiting:
            assert waiting.stdout.readline() == "waiting\n"
            log.append([numbered(1)])
            assert waiting.stdout.readline() == "True\n"

    def test_two_appending_processes_lose_nothing_and_share_the_offsets(self, engine):
        log = engine.open(partitions=2)
        with (
            self.process(engine, "append", "one", "40") as one,
            self.process(engine, "append", "two", "40") as two,
        ):
            said = [line.split() for part in (one, two) for line in part.stdout]
        found = everything(log)
        assert {str(r.position): r.value.decode() for r in found} == dict(said)
        assert len(found) == len(said) == 80
        for name in ("one", "two"):
            mine = [r.value.decode() for r in found if r.key == name.encode()]
            assert mine == [f"{name}-{n}" for n in range(40)]

    def test_a_process_killed_right_after_an_acknowledgement_has_lost_nothing(self, engine):
        log = engine.open(partitions=2)
        said = []
        with self.process(engine, "append", "doomed", "100000") as doomed:
            said = [doomed.stdout.readline().split() for _ in range(10)]
            doomed.kill()
            said += [line.split() for line in doomed.stdout]
        there = {str(record.position): record.value.decode() for record in everything(log)}
        assert dict(said).items() <= there.items()
        assert len(there) - len(said) in {0, 1}  # one may stand that was not yet told

    @staticmethod
    def process(engine, verb, *arguments) -> subprocess.Popen[str]:
        command = [sys.executable, str(LOG_PROCESS), verb, engine.address, engine.tenant]
        return subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE, text=True)
