"""How every log shows that it is another one, or shorter. Part of `LogContract`."""

from datetime import UTC, datetime

import pytest

from mnemolog.schemas.errors import HistoryLost, LogReplaced
from mnemolog.schemas.positions import Position
from mnemolog.schemas.records import fingerprint
from mnemolog.streams.continuity import check_continuity
from support.log_records import (
    everything,
    numbered,
    values,
)


def last_applied(log, partition=0):
    """Return what a projection that has applied all of a partition keeps of it."""
    position = Position(partition, log.ends()[partition] - 1)
    return {partition: (position.offset, fingerprint(log.at(position)))}


class ContinuityContract:
    """A log made anew, and a log whose start is gone."""

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
