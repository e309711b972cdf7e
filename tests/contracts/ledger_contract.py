"""What every ledger does. A subclass says how to open one, and how its store has transactions."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mnemolog.projections.ledger import (
    Entries,
    ForeignRecord,
    Ledger,
    ParkedRecord,
    PolicyInForce,
    Repeat,
)
from mnemolog.projections.progress import Progress
from mnemolog.schemas.policy import BUILT_IN, Policy, WritePolicy
from mnemolog.schemas.positions import Position
from mnemolog.schemas.records import LogRecord

NOON = datetime(2030, 1, 1, 12, 0, 0, 123456, tzinfo=UTC)
HEADERS = (("content-type", b"\xff\x00"), ("gone", None), ("content-type", b""))


class Stop(Exception):
    pass


def digits(number: int) -> str:
    return f"{number:032x}"


def record(offset: int, *, partition: int = 0, **changed: object) -> LogRecord:
    fields = {"key": b"agent-1", "value": b"\x00\xffbytes", "headers": HEADERS, **changed}
    return LogRecord(partition, offset, NOON + timedelta(microseconds=offset), **fields)


def parked(offset: int, *, partition: int = 0, reason: str = "bad", **flags: bool) -> ParkedRecord:
    at = record(offset, partition=partition)
    return ParkedRecord(at, "agent-1", digits(offset), "decision.made", reason, **flags)


class LedgerContract:
    def opened(self, folder: Path) -> AbstractContextManager[Ledger]:
        """Open the ledger of *folder*, made anew or as it was left."""
        raise NotImplementedError

    def transaction(self, ledger: Ledger) -> AbstractContextManager[None]:
        """Return a transaction of the store, undone by an exception."""
        raise NotImplementedError

    @pytest.fixture
    def ledger(self, tmp_path: Path) -> Iterator[Ledger]:
        with self.opened(tmp_path) as ledger:
            yield ledger

    @contextmanager
    def reopened(self, folder: Path, entries: Entries) -> Iterator[Ledger]:
        """Write *entries*, close, and open again."""
        with self.opened(folder) as ledger, self.transaction(ledger):
            ledger.record(entries)
        with self.opened(folder) as ledger:
            yield ledger

    def test_a_new_ledger_knows_nothing(self, ledger):
        assert ledger.progress() == {}
        assert ledger.firsts() == {}
        assert ledger.seen([]) == {}
        assert ledger.seen([digits(1)]) == {}
        assert ledger.policies() == {}
        assert ledger.skips([digits(1)]) == set()
        assert ledger.parked_keys() == set()
        assert list(ledger.parked()) == []
        assert list(ledger.foreign(records_max=9)) == []
        assert list(ledger.repeats(repeats_max=9)) == []
        assert ledger.counts() == {"parked": 0, "foreign": 0, "repeats": 0}

    def test_entries_that_say_nothing_change_nothing(self, ledger):
        ledger.record(Entries())
        assert ledger.progress() == {}

    def test_progress_is_kept_for_each_partition_and_the_later_one_holds(self, ledger):
        ledger.record(Entries(progress={0: Progress(0, 5, "a"), 3: Progress(3, 1, "b")}))
        ledger.record(Entries(progress={0: Progress(0, 7, "c")}))
        assert ledger.progress() == {0: Progress(0, 7, "c"), 3: Progress(3, 1, "b")}

    def test_the_first_record_of_a_partition_stays_the_first(self, ledger):
        ledger.record(Entries(firsts={0: Progress(0, 5, "a")}))
        ledger.record(Entries(firsts={0: Progress(0, 9, "b"), 1: Progress(1, 0, "c")}))
        assert ledger.firsts() == {0: Progress(0, 5, "a"), 1: Progress(1, 0, "c")}

    def test_what_was_seen_is_found_with_the_content_that_came_first(self, ledger):
        ledger.record(Entries(seen={digits(1): digits(11), digits(2): digits(22)}))
        ledger.record(Entries(seen={digits(1): digits(99), digits(3): digits(33)}))
        asked = [digits(n) for n in (1, 3, 4, 1)]
        assert ledger.seen(asked) == {digits(1): digits(11), digits(3): digits(33)}

    def test_many_identities_are_found_at_once(self, ledger):
        seen = {digits(n * 2**100): digits(n) for n in range(3_000)}
        ledger.record(Entries(seen=seen))
        assert ledger.seen([*seen, digits(1)]) == seen

    def test_a_policy_holds_in_its_partition_until_the_next(self, ledger):
        other = Policy(write=WritePolicy(importance=0.3))
        first, elsewhere = PolicyInForce(1, BUILT_IN, 3), PolicyInForce(1, other, 8)
        ledger.record(Entries(policies=[(0, first), (1, elsewhere)]))
        second = PolicyInForce(2, other, 7)
        ledger.record(Entries(policies=[(0, second), (0, first)]))
        assert ledger.policies() == {0: second, 1: elsewhere}

    def test_each_place_has_the_highest_revision_up_to_it(self, ledger):
        high, low, again = (PolicyInForce(r, BUILT_IN, at) for r, at in ((2, 5), (1, 9), (2, 11)))
        ledger.record(Entries(policies=[(0, again), (0, low), (0, high), (1, low)]))
        found = [ledger.policy_at(Position(0, offset)) for offset in (4, 5, 6, 9, 10, 99)]
        assert found == [None, high, high, high, high, high]
        assert ledger.policies() == {0: high, 1: low}
        assert ledger.policy_at(Position(2, 99)) is None

    def test_skips_are_found_among_those_asked_for(self, ledger):
        ledger.record(Entries(skips={digits(1), "any text"}))
        ledger.record(Entries(skips={digits(1)}))
        assert ledger.skips(iter([digits(1), digits(2), "any text"])) == {digits(1), "any text"}

    def test_parked_records_come_back_whole_and_in_order(self, ledger):
        waiting = [
            parked(9),
            parked(2, partition=1, newer=True),
            parked(10, behind=True),
            ParkedRecord(record(1, key=None, value=None), "b", digits(1), "x", "missing: 'é'\n"),
        ]
        ledger.record(Entries(parked=waiting))
        assert ledger.parked() == sorted(waiting, key=lambda one: one.record.position)
        assert ledger.parked_keys() == {"agent-1", "b"}

    def test_a_record_parked_again_at_its_place_has_the_later_reason(self, ledger):
        ledger.record(Entries(parked=[parked(1), parked(2)]))
        ledger.record(Entries(released=[Position(0, 1)], parked=[parked(1, reason="still bad")]))
        ledger.record(Entries(parked=[parked(2, reason="other")]))
        assert [one.reason for one in ledger.parked()] == ["still bad", "other"]

    def test_released_records_wait_no_longer(self, ledger):
        ledger.record(Entries(parked=[parked(1), parked(1, partition=1), parked(2)]))
        ledger.record(Entries(released=[Position(0, 1), Position(0, 2), Position(5, 5)]))
        assert ledger.parked() == [parked(1, partition=1)]

    def test_foreign_records_are_kept_whole_once_and_given_in_order(self, ledger):
        found = [
            ForeignRecord(record(4, value=None), "a tombstone"),
            ForeignRecord(record(3, key=None, headers=()), "no key"),
        ]
        ledger.record(Entries(foreign=found))
        ledger.record(Entries(foreign=[ForeignRecord(record(4), "again")]))
        assert ledger.foreign(records_max=9) == found[::-1]
        assert ledger.foreign(records_max=1) == found[1:]

    def test_repeats_are_kept_once_and_given_in_order(self, ledger):
        one = Repeat(digits(1), Position(0, 8), digits(2))
        other = Repeat(digits(1), Position(0, 6), digits(3))
        ledger.record(Entries(repeats=[one, other]))
        ledger.record(Entries(repeats=[one]))
        assert ledger.repeats(repeats_max=9) == [other, one]
        assert ledger.repeats(repeats_max=1) == [other]

    def test_the_counts_are_those_of_all_records(self, ledger):
        ledger.record(
            Entries(
                parked=[parked(1)],
                foreign=[ForeignRecord(record(n), "x") for n in (2, 3)],
                repeats=[Repeat(digits(1), Position(0, n), digits(2)) for n in (4, 5, 6)],
            )
        )
        assert ledger.counts() == {"parked": 1, "foreign": 2, "repeats": 3}

    def test_everything_is_there_after_it_was_closed(self, tmp_path):
        entries = Entries(
            progress={0: Progress(0, 5, "a")},
            firsts={0: Progress(0, 0, "z")},
            seen={digits(1): digits(2)},
            policies=[(0, PolicyInForce(1, BUILT_IN, 0))],
            skips={digits(7)},
            parked=[parked(1)],
            foreign=[ForeignRecord(record(2), "x")],
            repeats=[Repeat(digits(1), Position(0, 3), digits(3))],
        )
        with self.reopened(tmp_path, entries) as ledger:
            assert ledger.progress() == entries.progress
            assert ledger.firsts() == entries.firsts
            assert ledger.seen([digits(1)]) == entries.seen
            assert ledger.policies() == dict(entries.policies)
            assert ledger.skips([digits(7)]) == entries.skips
            assert ledger.parked() == entries.parked
            assert ledger.foreign(records_max=9) == entries.foreign
            assert ledger.repeats(repeats_max=9) == entries.repeats

    def test_what_an_undone_transaction_recorded_is_gone(self, ledger):
        ledger.record(Entries(progress={0: Progress(0, 1, "a")}, seen={digits(1): digits(1)}))
        with suppress(Stop), self.transaction(ledger):
            ledger.record(
                Entries(
                    progress={0: Progress(0, 2, "b")},
                    seen={digits(2): digits(2)},
                    parked=[parked(2)],
                )
            )
            raise Stop
        assert ledger.progress() == {0: Progress(0, 1, "a")}
        assert ledger.seen([digits(1), digits(2)]) == {digits(1): digits(1)}
        assert ledger.parked() == []
