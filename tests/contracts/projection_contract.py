"""What every projection does, whatever it keeps: one suite, which each projection runs.

    class TestWeights(ProjectionContract):
        fault_points = FAULT_POINTS

        def open(self, folder):
            return WeightsProjection.open(place_in(folder))

The history in it has an event of most kinds. How it is delivered must not matter: that is what the
content digest is for.
"""

import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mnemolog.projections import fault_points
from mnemolog.projections.batch import Batch, decoded
from mnemolog.projections.digests import ContentDigest
from mnemolog.projections.ledger import Ledger
from mnemolog.projections.projection import Place, Projection
from mnemolog.projections.sqlite_ledger import SQLiteLedger
from mnemolog.schemas.events import experience as ex
from mnemolog.schemas.events import governance as gov
from mnemolog.schemas.policy import Policy, WritePolicy
from mnemolog.schemas.records import LogRecord
from mnemolog.schemas.values import json_bytes, parse_json
from support.eventful import eventful_history, governing
from support.histories import (
    TENANT,
    agents,
    appended_again,
    batches,
    codec,
    deliveries,
    happened,
    identity,
    recorded,
)

FOLLOW_UPS_MAX = 1_000
A_FEW = settings(
    max_examples=6,
    suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow],
)


class Died(BaseException):
    """The process is gone: what runs on an ordinary error must not run."""


def place_in(folder: Path) -> Place:
    """Return the place of a generation within *folder*, which stands for the tenant's."""
    generation = folder / "projection" / "000001"
    generation.mkdir(parents=True, exist_ok=True)
    topic = f"mnemolog.{TENANT}.events"
    return Place(folder=generation, tenant=TENANT, tenant_folder=folder, topic=topic)


def settle(projection: Projection) -> None:
    """Let *projection* finish what comes after the rows."""
    for _ in range(FOLLOW_UPS_MAX):
        if not projection.follow_up(seconds_max=1):
            return
    raise AssertionError("the follow-up never ends")


def digest(projection: Projection) -> str:
    """Return the content digest, once the follow-up is done."""
    settle(projection)
    return ContentDigest.of(projection.content()).hex


def rows(projection: Projection) -> set[str]:
    """Return the covered rows, in a form that can be compared and read."""
    settle(projection)
    return {repr((*row[:3], sorted(row.values.items()))) for row in projection.content()}


def changed(
    record: LogRecord, change: Callable[[dict], None], *, offset: int | None = None
) -> LogRecord:
    """Return *record* with its document changed by *change*."""
    document = parse_json(record.value or b"")
    change(document)
    at = record.offset if offset is None else offset
    return replace(record, offset=at, value=json_bytes(document))


class ProjectionContract:
    """What every projection does. Subclass it, say how to open one and name its fault points."""

    fault_points: ClassVar[Sequence[str]]
    ledger_file: ClassVar[str | None] = None  # the SQLite file in its folder that has the ledger

    def open(self, folder: Path) -> Projection:
        """Open the projection whose tenant's folder is *folder*, made anew or as it was left."""
        raise NotImplementedError

    def finish(self, projection: Projection, folder: Path) -> None:
        """Do all that comes after the rows, so that every fault point is reached."""
        settle(projection)

    def ledger(self, projection: Projection, folder: Path) -> Ledger:
        """Return what the generation's ledger says."""
        assert self.ledger_file is not None, "name the file, or say how its ledger is read"
        return SQLiteLedger(sqlite3.connect(place_in(folder).folder / self.ledger_file))

    # Helpers

    @contextmanager
    def opened(self, folder: Path) -> Iterator[Projection]:
        projection = self.open(folder)
        try:
            yield projection
        finally:
            projection.close()

    def built(self, batched: Iterable[Batch]) -> str:
        """Return the digest of a new projection that was given *batched*."""
        with tempfile.TemporaryDirectory() as name, self.opened(Path(name)) as projection:
            for batch in batched:
                projection.apply(batch)
            return digest(projection)

    def wanted(self, *, partitions: int) -> str:
        """Return the digest of the eventful history, worked out once a projection."""
        known = type(self).__dict__.get("_wanted", {})
        if partitions not in known:
            records = recorded(*eventful_history(partitions=partitions), partitions=partitions)
            known = {**known, partitions: self.built(batches(records, partitions=partitions))}
            type(self)._wanted = known
        return known[partitions]

    # The history as it comes

    def test_an_empty_log_has_no_content_and_no_progress(self, tmp_path):
        with self.opened(tmp_path) as projection:
            settle(projection)
            assert list(projection.content()) == []
            assert projection.progress() == {}
            assert projection.settled() == {}
            assert list(projection.parked()) == []

    def test_it_is_called_as_its_folder_and_has_a_version(self, tmp_path):
        with self.opened(tmp_path) as projection:
            assert projection.name in {"memories", "analytics", "checkpoints", "weights"}
            assert projection.version >= 1

    def test_progress_and_settled_reach_the_last_record(self, tmp_path):
        records = recorded(*eventful_history(partitions=2), partitions=2)
        with self.opened(tmp_path) as projection:
            for batch in batches(records, records_max=7, partitions=2):
                projection.apply(batch)
            settle(projection)
            last = {record.partition: record.offset for record in records}
            assert {p: at.last_applied for p, at in projection.progress().items()} == last
            assert projection.settled() == last

    def test_it_goes_on_after_it_was_closed(self, tmp_path):
        records = recorded(*eventful_history())
        for batch in batches(records, records_max=9):
            with self.opened(tmp_path) as projection:
                projection.apply(batch)
                projection.close()  # harmless twice
        with self.opened(tmp_path) as projection:
            assert digest(projection) == self.wanted(partitions=1)

    def test_two_runs_give_one_digest_and_another_history_gives_another(self):
        records = recorded(*eventful_history())
        assert self.built(batches(records)) == self.wanted(partitions=1)
        # Every projection keeps what a memory says; so none can miss this change.
        other = recorded(
            *eventful_history(), ex.ObservationRecorded(text="The disk of db-7 is full.")
        )
        assert self.built(batches(other)) != self.wanted(partitions=1)

    def test_the_digest_does_not_depend_on_the_number_of_partitions(self):
        assert self.wanted(partitions=1) == self.wanted(partitions=2)

    @A_FEW
    @given(size=st.integers(1, 60))
    def test_any_batch_size_gives_one_digest(self, size):
        records = recorded(*eventful_history())
        assert self.built(batches(records, records_max=size)) == self.wanted(partitions=1)

    @A_FEW
    @given(data=st.data())
    def test_any_interleaving_of_two_partitions_gives_one_digest(self, data):
        records = recorded(*eventful_history(partitions=2), partitions=2)
        came = data.draw(deliveries(records, partitions=2))
        assert self.built(came) == self.wanted(partitions=2)

    # Twice

    def test_every_event_twice_in_a_batch_has_one_effect(self):
        records = recorded(*eventful_history())
        twice = [record for record in records for _ in range(2)]
        assert self.built(batches(twice)) == self.wanted(partitions=1)

    def test_every_event_appended_again_much_later_has_one_effect(self, tmp_path):
        records = recorded(*eventful_history())
        again = appended_again(records, records)
        assert self.built(batches(again)) == self.wanted(partitions=1)
        assert self.built(batches(again, records_max=9)) == self.wanted(partitions=1)

    def test_a_batch_that_comes_again_changes_nothing(self, tmp_path):
        came = list(batches(recorded(*eventful_history()), records_max=10))
        with self.opened(tmp_path) as projection:
            for batch in came:
                projection.apply(batch)
            before, progress = rows(projection), projection.progress()
            for batch in came:
                projection.apply(batch)
            assert rows(projection) == before
            assert projection.progress() == progress

    def test_a_repeat_with_other_content_has_no_effect_and_is_listed(self, tmp_path):
        records = recorded(*eventful_history())
        told = next(r for r in records if b"The connection pool" in (r.value or b""))
        last = records[-1].offset + 1
        other = changed(told, lambda d: d["data"].update(text="The pool is fine."), offset=last)
        assert self.built(batches([*records, other])) == self.wanted(partitions=1)
        assert self.built(batches([*records, other], records_max=9)) == self.wanted(partitions=1)
        with self.opened(tmp_path) as projection:
            for batch in batches([*records, other]):
                projection.apply(batch)
            assert list(projection.parked()) == []
            listed = self.ledger(projection, tmp_path).repeats(repeats_max=9)
            assert [repeat.position.offset for repeat in listed] == [last]

    # What is not applied

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

    # Policies

    def test_a_policy_holds_from_its_position_on_however_batches_are_cut(self):
        records = recorded(*_under_two_policies())
        digests = {self.built(batches(records, records_max=size)) for size in (1, 2, 3, 50)}
        assert len(digests) == 1

    def test_a_lower_revision_of_a_policy_has_no_effect(self, tmp_path):
        late = governing(_policy(0.1), revision=1, partitions=1)
        said = [*_under_two_policies(), ex.ObservationRecorded(text="The cache of web-3 is cold.")]
        obeyed = recorded(*said, *late)
        with self.opened(tmp_path) as projection:
            for batch in batches(obeyed, records_max=2):
                projection.apply(batch)
            assert digest(projection) == self.built(batches(recorded(*said)))

    # Crashes

    def test_every_fault_point_is_reached_and_no_other(self):
        assert set(self._points()) == set(self.fault_points)

    def test_a_death_at_any_step_leaves_what_the_rest_completes(self):
        records = recorded(*eventful_history(partitions=2), partitions=2)
        wanted = self.wanted(partitions=2)
        for point, times in self._points().items():
            for count in sorted({1, (times + 1) // 2, times}):
                with tempfile.TemporaryDirectory() as name:
                    left = self._die(Path(name), records, point, count)
                    with self.opened(left) as projection:
                        for batch in batches(records, records_max=11, partitions=2):
                            projection.apply(batch)
                        assert digest(projection) == wanted, f"after {point} for the {count}. time"

    def _points(self) -> Counter[str]:
        """Return how often each fault point is reached by the eventful history."""
        records = recorded(*eventful_history(partitions=2), partitions=2)
        reached: Counter[str] = Counter()
        with (
            tempfile.TemporaryDirectory() as name,
            self.opened(Path(name)) as projection,
            fault_points.listening(lambda point: reached.update([point])),
        ):
            for batch in batches(records, records_max=8, partitions=2):
                projection.apply(batch)
            self.finish(projection, Path(name))
        return Counter({p: n for p, n in reached.items() if p.split(".")[0] in self._prefixes()})

    def _prefixes(self) -> set[str]:
        return {point.split(".")[0] for point in self.fault_points}

    def _die(self, folder: Path, records: Sequence[LogRecord], point: str, count: int) -> Path:
        """Return the disk as it was when *point* was reached for the *count*-th time."""
        alive, left, reached = folder / "alive", folder / "left", Counter[str]()

        def listener(name: str) -> None:
            reached.update([name])
            if name == point and reached[name] == count:
                shutil.copytree(alive, left)
                raise Died

        with suppress(Died), fault_points.listening(listener), self.opened(alive) as projection:
            for batch in batches(records, records_max=8, partitions=2):
                projection.apply(batch)
            self.finish(projection, alive)
        assert left.exists(), f"{point} was not reached {count} times"
        return left


def _moved(records: list[LogRecord], offset: int, event_id: str) -> list[LogRecord]:
    return [changed(one, lambda d: d.update(id=event_id), offset=offset) for one in records]


def _as_guest(document: dict) -> None:
    document.update(id="guest-1", type="com.example.build.done", data={"ok": True})
    del document["dataschema"]


def _as_version_99(document: dict) -> None:
    document["dataschema"] = document["dataschema"].rpartition(":")[0] + ":99"


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


def _skip_of(bad: LogRecord, records: Sequence[LogRecord]) -> list[LogRecord]:
    """Return the copies of a skip of *bad*, placed after *records*."""
    ann, _ = agents(partitions=2)
    skipped = identity("bad", agent=ann)
    copies = recorded(
        *governing(
            lambda revision: gov.EventSkipped(revision=revision, skipped=skipped),
            revision=1,
            partitions=2,
        ),
        partitions=2,
    )
    ends = {p: 1 + max(r.offset for r in records if r.partition == p) for p in (0, 1)}
    return [replace(copy, offset=ends[copy.partition]) for copy in copies]


def _policy(importance: float) -> Callable[[int], gov.PolicyChanged]:
    policy = Policy(write=WritePolicy(importance=importance))
    return lambda revision: gov.PolicyChanged(revision=revision, policy=policy)


def _under_two_policies() -> list:
    return [
        ex.ObservationRecorded(text="The cache of web-1 is cold."),
        *governing(_policy(0.3), revision=2, partitions=1),
        ex.ObservationRecorded(text="The cache of web-2 is cold."),
    ]
