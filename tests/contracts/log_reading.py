"""What every log gives to who reads it or waits for it. Part of `LogContract`."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from mnemolog.schemas.errors import LogUnavailable
from support.log_records import (
    everything,
    numbered,
    read_up_to,
    values,
)
from support.polling import eventually


class ReadingContract:
    """Where reading begins and what a poll returns, times, waiting, foreign records."""

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

    @pytest.mark.bad_input(45)
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
