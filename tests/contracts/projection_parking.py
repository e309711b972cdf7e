"""What a projection does with records that it does not apply: foreign, guests, parked, skipped."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from contracts.projecting import ProjectionCase, changed, digest, rows, settle
from mnemolog.projections.batch import Batch, decoded
from mnemolog.projections.choosing import LATE
from mnemolog.schemas.events import Event
from mnemolog.schemas.events import experience as ex
from mnemolog.schemas.events import governance as gov
from mnemolog.schemas.policy import Policy, WritePolicy
from mnemolog.schemas.records import LogRecord
from support.eventful import eventful_history, governing
from support.histories import (
    agents,
    batches,
    codec,
    happened,
    identity,
    recorded,
)


class ParkingContract(ProjectionCase):
    """Nothing is lost, and nothing waits but the key of what can't be applied."""

    def test_foreign_records_are_kept_apart_and_nothing_waits(self, tmp_path):
        records = recorded(*eventful_history())
        end = records[-1].offset
        noise = [
            replace(records[0], offset=end + 1, value=None),
            replace(records[0], offset=end + 2, value=b""),
            replace(records[0], offset=end + 3, value=b"null"),
            replace(records[0], offset=end + 4, value=b"not json", key=None),
        ]
        after = _moved(recorded(ex.ObservationRecorded(text="still here")), end + 5, "after")
        with self.opened(tmp_path) as projection:
            for batch in batches([*records, *noise, *after]):
                projection.apply(batch)
            assert digest(projection) == self.built(batches([*records, *after]))
            assert list(projection.parked()) == []
            assert projection.progress()[0].last_applied == end + 5
            kept = self.ledger(projection, tmp_path).foreign(records_max=9)
            assert [one.record.value for one in kept] == [None, b"", b"null", b"not json"]

    def test_a_guest_changes_nothing_of_what_is_ours(self, tmp_path):
        records = recorded(*eventful_history())
        end = records[-1].offset + 1
        guest = changed(records[0], _as_guest, offset=end)
        with self.opened(tmp_path) as projection:
            for batch in batches(records):
                projection.apply(batch)
            before = rows(projection)
            for batch in batches([guest]):
                projection.apply(batch)
            added = rows(projection) - before
            assert len(added) <= 1
            assert rows(projection) >= before
            assert list(projection.parked()) == []
            assert projection.progress()[0].last_applied == end

    def test_progress_passes_events_that_it_ignores(self, tmp_path):
        records = recorded(*(ex.ContextMeasured(used_tokens=n, limit_tokens=9) for n in range(4)))
        with self.opened(tmp_path) as projection:
            for batch in batches(records):
                projection.apply(batch)
            settle(projection)
            assert projection.settled() == {0: 3}

    @pytest.mark.parametrize("records_max", [1, 3, 100])
    def test_an_event_that_cannot_be_applied_holds_its_key_and_no_other(
        self, tmp_path, records_max
    ):
        records, bad = _with_a_bad_event()
        with self.opened(tmp_path) as projection:
            for batch in batches(records, records_max=records_max, partitions=2):
                projection.apply(batch)
            parked = projection.parked()
            assert [one.record.offset for one in parked] == [
                bad.offset,
                bad.offset + 1,
                bad.offset + 2,
            ]
            assert [one.behind for one in parked] == [False, True, True]
            assert "what" in parked[0].reason
            assert [one.record.value for one in parked] == [
                r.value for r in records if r.partition == bad.partition and r.offset >= bad.offset
            ]
            applied = [r for r in records if r.partition != bad.partition or r.offset < bad.offset]
            assert digest(projection) == self.built(batches(applied, partitions=2))
            assert {p: at.last_applied for p, at in projection.progress().items()} == {
                r.partition: r.offset for r in records
            }

    def test_a_bad_event_that_comes_twice_is_parked_once_with_its_reason(self, tmp_path):
        records, bad = _with_a_bad_event()
        twice = [record for record in records for _ in range(2)]
        with self.opened(tmp_path) as projection:
            for batch in [*batches(twice, partitions=2), *batches(records, partitions=2)]:
                projection.apply(batch)
            parked = projection.parked()
            assert [one.record.offset for one in parked] == [
                bad.offset,
                bad.offset + 1,
                bad.offset + 2,
            ]
            assert [one.behind for one in parked] == [False, True, True]

    def test_a_newer_event_waits_for_newer_code_with_its_key(self, tmp_path):
        ann, bob = agents(partitions=2)
        records = recorded(
            happened(ex.ObservationRecorded(text="before"), agent=ann),
            happened(ex.ObservationRecorded(text="of the future"), agent=ann),
            happened(ex.ObservationRecorded(text="behind"), agent=ann),
            happened(ex.ObservationRecorded(text="elsewhere"), agent=bob),
            partitions=2,
        )
        records[1] = changed(records[1], _as_version_99)
        with self.opened(tmp_path) as projection:
            for batch in batches(records, partitions=2):
                projection.apply(batch)
            assert [(one.newer, one.behind) for one in projection.parked()] == [
                (True, False),
                (False, True),
            ]
            applied = [records[0], records[3]]
            assert digest(projection) == self.built(batches(applied, partitions=2))

    def test_a_skip_lets_the_key_go_on_without_the_skipped_event(self, tmp_path):
        records, bad = _with_a_bad_event()
        skipped = _skip_of(bad, records)
        with self.opened(tmp_path) as projection:
            for batch in batches([*records, *skipped], partitions=2):
                projection.apply(batch)
            waiting = [one.record for one in projection.parked()]
            projection.apply(Batch(decoded(waiting, codec(partitions=2)).items, retried=True))
            assert list(projection.parked()) == []
            sound = [r for r in records if r.position != bad.position]
            assert digest(projection) == self.built(batches([*sound, *skipped], partitions=2))

    def test_what_waited_is_folded_under_the_policy_of_its_own_place(self, tmp_path):
        records, bad = _with_a_bad_event()
        other = Policy(write=WritePolicy(importance=0.1, importance_fact=0.1))
        later = _copies(lambda r: gov.PolicyChanged(revision=r, policy=other), records, revision=1)
        skipped = _skip_of(bad, [*records, *later], revision=2)
        with self.opened(tmp_path) as projection:
            for batch in batches([*records, *later, *skipped], partitions=2):
                projection.apply(batch)
            waiting = [one.record for one in projection.parked()]
            projection.apply(Batch(decoded(waiting, codec(partitions=2)).items, retried=True))
            sound = [r for r in records if r.position != bad.position]
            never = self.built(batches([*sound, *later, *skipped], partitions=2))
            assert digest(projection) == never

    def test_a_policy_that_can_be_read_too_late_for_what_was_folded_meanwhile_waits_for_a_rebuild(
        self, tmp_path
    ):
        sound = _with_a_policy(Policy(write=WritePolicy(importance=0.1, importance_fact=0.1)))
        met = [changed(one, _as_version_99) if one.offset == 1 else one for one in sound]
        with self.opened(tmp_path) as projection:
            for batch in batches(met):
                projection.apply(batch)
            assert [one.newer for one in projection.parked()] == [True]
            for _ in range(2):  # each start tries again
                projection.apply(Batch(decoded(sound[1:2], codec()).items, retried=True))
                assert [one.reason for one in projection.parked()] == [LATE]
            assert digest(projection) == self.built(batches([sound[0], *sound[2:]]))

    def test_a_policy_that_only_others_that_waited_stand_behind_counts_for_them(self, tmp_path):
        sound = _with_a_policy(Policy(write=WritePolicy(importance=0.1, importance_fact=0.1)))
        met = [changed(one, _as_version_99) if one.offset in {1, 2} else one for one in sound]
        with self.opened(tmp_path) as projection:
            for batch in batches(met):
                projection.apply(batch)
            assert len(projection.parked()) == 3
            of_keys = [*sound[2:], sound[1]]
            projection.apply(Batch(decoded(of_keys, codec()).items, retried=True))
            assert list(projection.parked()) == []
            assert digest(projection) == self.built(batches(sound))

    def test_a_retry_of_what_still_fails_keeps_it_parked_in_order(self, tmp_path):
        records, bad = _with_a_bad_event()
        with self.opened(tmp_path) as projection:
            for batch in batches(records, partitions=2):
                projection.apply(batch)
            before, content = projection.parked(), rows(projection)
            waiting = [one.record for one in before]
            projection.apply(Batch(decoded(waiting, codec(partitions=2)).items, retried=True))
            assert projection.parked() == before
            assert rows(projection) == content
            assert projection.progress()[bad.partition].last_applied == bad.offset + 2


def _moved(records: list[LogRecord], offset: int, event_id: str) -> list[LogRecord]:
    return [changed(one, lambda d: d.update(id=event_id), offset=offset) for one in records]


def _as_guest(document: dict) -> None:
    document.update(id="guest-1", type="com.example.build.done", data={"ok": True})
    del document["dataschema"]


def _as_version_99(document: dict) -> None:
    document["dataschema"] = document["dataschema"].rpartition(":")[0] + ":99"


def _with_a_policy(policy: Policy) -> list[LogRecord]:
    """Return records of one agent, the second of which is *policy*."""
    told = [ex.ObservationRecorded(text=f"The lamp of room {n} is on.") for n in range(3)]
    copies = governing(
        lambda r: gov.PolicyChanged(revision=r, policy=policy), revision=1, partitions=1
    )
    return recorded(told[0], *copies, *told[1:])


def _with_a_bad_event() -> tuple[list[LogRecord], LogRecord]:
    """Return records of which the second of the first agent lacks a field, and that one."""
    ann, bob = agents(partitions=2)
    records = recorded(
        happened(ex.ObservationRecorded(text="The lamp of room 1 is on."), agent=ann),
        happened(ex.DecisionMade(what="Switch it off"), agent=ann, event_id="bad"),
        happened(ex.ObservationRecorded(text="The lamp of room 2 is on."), agent=ann),
        happened(ex.ObservationRecorded(text="The lamp of room 3 is on."), agent=bob),
        happened(ex.ObservationRecorded(text="The lamp of room 4 is on."), agent=ann),
        happened(ex.ObservationRecorded(text="The lamp of room 5 is on."), agent=bob),
        partitions=2,
    )
    records[1] = changed(records[1], lambda document: document["data"].pop("what"))
    return records, records[1]


def _skip_of(bad: LogRecord, records: Sequence[LogRecord], *, revision: int = 1) -> list[LogRecord]:
    """Return the copies of a skip of *bad*, placed after *records*."""
    ann, _ = agents(partitions=2)
    skipped = identity("bad", agent=ann)
    return _copies(
        lambda r: gov.EventSkipped(revision=r, skipped=skipped), records, revision=revision
    )


def _copies(
    event: Callable[[int], Event], records: Sequence[LogRecord], *, revision: int
) -> list[LogRecord]:
    """Return the copies of a governance event, placed after *records*."""
    copies = recorded(*governing(event, revision=revision, partitions=2), partitions=2)
    ends = {p: 1 + max(r.offset for r in records if r.partition == p) for p in (0, 1)}
    return [replace(copy, offset=ends[copy.partition]) for copy in copies]
