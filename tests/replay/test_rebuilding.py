"""A rebuild builds beside what serves, and refuses what would not be the whole history."""

from datetime import UTC, datetime

import pytest

from mnemolog.projections import fault_points
from mnemolog.projections.shelf import Shelf
from mnemolog.replay.comparing import compare
from mnemolog.replay.rebuilding import built
from mnemolog.schemas.codec import Codec
from mnemolog.schemas.errors import HistoryLost, InvalidSetting, LogReplaced, Parked
from mnemolog.schemas.events.experience import ObservationRecorded
from mnemolog.schemas.events.governance import EventSkipped
from mnemolog.streams.memory_log import InMemoryLog
from mnemolog.streams.projecting import Projector
from mnemolog.streams.publishing import Draft, Publisher
from support.texts import kind

NOW = datetime(2030, 1, 1, tzinfo=UTC)


class Bench:
    """A log with a publisher, and a shelf below a folder."""

    def __init__(self, folder, *, partitions=2):
        self.log = InMemoryLog("tests", partitions=partitions)
        self.codec = Codec(tenant="tests", partitions=partitions)
        self.publisher = Publisher(self.log, self.codec, tenant="tests", now=lambda: NOW)
        self.shelf = Shelf(folder, "tests", self.log.topic, partitions)
        self.told = []

    def say(self, text, agent="ops-1"):
        draft = Draft(model=ObservationRecorded, fields={"text": text}, agent=agent)
        return self.publisher.append([draft])[0]

    def serving(self, **more):
        projection = self.shelf.open_serving(kind(**more), epoch=1)
        Projector(self.log, self.codec, [projection]).catch_up(self.log.ends())
        return projection

    def built(self, **more):
        tell = self.told.append
        log, codec = self.log, self.codec
        return built(kind(**more), shelf=self.shelf, log=log, codec=codec, epoch=1, tell=tell)


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def test_a_rebuild_equals_what_serves_and_serves_only_when_swapped(bench):
    for number in range(10):
        bench.say(f"{number}", agent=f"a{number % 3}")
    old = bench.serving()
    serving = bench.shelf.generations("texts").serving()
    fresh = bench.built()
    comparison = compare(old, fresh.projection)
    assert comparison.is_equal
    assert comparison.rows == (10, 10)
    assert bench.shelf.generations("texts").serving() == serving
    bench.shelf.swap("texts", fresh.folder)
    assert bench.shelf.generations("texts").serving() == fresh.folder
    assert bench.told[-1].done == bench.told[-1].total == 10


def test_an_empty_log_is_rebuilt_to_nothing(bench):
    fresh = bench.built()
    assert list(fresh.projection.content()) == []


def test_a_changed_row_is_named(bench):
    bench.say("one")
    bench.say("two")
    old = bench.serving()
    old._store.execute("UPDATE texts SET text = 'too' WHERE text = 'two'")
    comparison = compare(old, bench.built().projection)
    assert not comparison.is_equal
    (difference,) = comparison.differences
    assert (difference.key, difference.table, difference.row_id) == ("ops-1", "texts", "1")
    assert "too" in difference.left
    assert "two" in difference.right
    assert "first: texts 1 of ops-1" in str(comparison)


def test_a_missing_row_is_named(bench):
    bench.say("one")
    old = bench.serving()
    old._store.execute("DELETE FROM texts")
    (difference,) = compare(old, bench.built().projection).differences
    assert difference.left is None


def test_a_parked_event_stops_a_rebuild_and_is_named(bench):
    bench.say("first")
    poison = bench.say("poison")
    with pytest.raises(Parked, match="poison") as raised:
        bench.built()
    assert (raised.value.partition, raised.value.offset) == poison.position
    assert bench.shelf.generations("texts").names() == []


def test_a_skip_that_comes_later_in_the_log_holds_from_the_start(bench):
    poison = bench.say("poison")
    bench.say("behind")
    skip = {"revision": 1, "skipped": poison.identity}
    bench.publisher.govern(Draft(model=EventSkipped, fields=skip))
    assert bench.built().projection.texts() == ["behind"]


def test_words_that_name_a_skip_are_folded_in_their_turn(bench):
    bench.say("first")
    bench.say("the tool spoke of event.skipped")
    bench.say("last")
    assert bench.built().projection.texts() == bench.serving().texts()


def test_a_crash_in_a_rebuild_leaves_what_serves(bench):
    bench.say("one")
    bench.serving().close()
    serving = bench.shelf.generations("texts").serving()

    def die(point):
        if point == "rebuild.caught-up":
            raise KeyboardInterrupt

    with fault_points.listening(die), pytest.raises(KeyboardInterrupt):
        bench.built()
    assert bench.shelf.generations("texts").serving() == serving
    assert bench.serving().texts() == ["one"]


def test_a_log_whose_start_is_gone_is_refused(bench, monkeypatch):
    bench.say("one")
    monkeypatch.setattr(bench.log, "starts", lambda: {0: 0, 1: 3})
    with pytest.raises(HistoryLost, match="partition 1 starts at 3"):
        bench.built()


def test_a_generation_of_another_fold_or_log_is_not_opened(bench, tmp_path):
    bench.serving().close()
    with pytest.raises(InvalidSetting, match="rebuild texts"):
        bench.serving(version=2)
    with pytest.raises(InvalidSetting, match="rebuild texts"):
        bench.serving(options={"embedder": "other"})
    with pytest.raises(LogReplaced):
        Bench(tmp_path, partitions=4).serving()


def test_only_the_serving_generation_and_the_one_before_it_are_kept(bench):
    for _ in range(4):
        fresh = bench.built()
        fresh.projection.close()
        bench.shelf.swap("texts", fresh.folder)
    assert bench.shelf.generations("texts").names() == ["000003", "000004"]


def test_what_dead_rebuilds_left_goes_and_the_one_that_served_stays(bench):
    bench.serving().close()
    served = bench.shelf.generations("texts").serving()
    for _ in range(2):
        bench.built().projection.close()  # and then its process died
    fresh = bench.built()
    fresh.projection.close()
    bench.shelf.swap("texts", fresh.folder)
    assert bench.shelf.generations("texts").names() == [served.name, fresh.folder.name]


def test_a_damaged_generation_is_set_aside_and_comes_back_from_the_log(bench):
    bench.say("one")
    bench.serving().close()
    damaged = bench.shelf.generations("texts").serving()
    (damaged / "texts.db").write_bytes(b"this was a database" * 1000)
    for beside in ("texts.db-wal", "texts.db-shm"):
        (damaged / beside).unlink(missing_ok=True)
    assert bench.serving().texts() == ["one"]
    assert bench.shelf.generations("texts").serving() != damaged
