"""However a history is delivered, a projection makes one content of it."""

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contracts.projecting import Died, ProjectionCase, changed, digest, rows, settle
from mnemolog.projections import fault_points
from mnemolog.schemas.events import experience as ex
from mnemolog.schemas.events import governance as gov
from mnemolog.schemas.policy import Policy, WritePolicy
from mnemolog.schemas.records import LogRecord
from support.eventful import eventful_history, governing
from support.histories import (
    appended_again,
    batches,
    deliveries,
    recorded,
)

A_FEW = settings(
    max_examples=6,
    suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow],
)


class DeliveryContract(ProjectionCase):
    """Batches, interleavings, repeats, policies and deaths change nothing of the content."""

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

    @pytest.mark.bad_input(77)
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


def _policy(importance: float) -> Callable[[int], gov.PolicyChanged]:
    policy = Policy(write=WritePolicy(importance=importance))
    return lambda revision: gov.PolicyChanged(revision=revision, policy=policy)


def _under_two_policies() -> list:
    return [
        ex.ObservationRecorded(text="The cache of web-1 is cold."),
        *governing(_policy(0.3), revision=2, partitions=1),
        ex.ObservationRecorded(text="The cache of web-2 is cold."),
    ]
