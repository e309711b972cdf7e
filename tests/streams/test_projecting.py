"""The projector: from stored progress on, each projection at its own, nothing lost or twice."""

from collections import Counter
from datetime import UTC, datetime

import pytest

from mnemolog.projections.choosing import choose
from mnemolog.projections.digests import ContentDigest
from mnemolog.projections.sqlite_store import transaction
from mnemolog.schemas.codec import Codec
from mnemolog.schemas.errors import LogReplaced, StoreUnavailable
from mnemolog.schemas.events.experience import ObservationRecorded
from mnemolog.schemas.events.governance import EventSkipped, PolicyChanged
from mnemolog.schemas.ids import identity_of
from mnemolog.schemas.policy import BUILT_IN
from mnemolog.streams.memory_log import InMemoryLog
from mnemolog.streams.projecting import Projector
from mnemolog.streams.publishing import Draft, Publisher
from support.earlier_code import EarlierCodec
from support.texts import Texts, is_observation

NOW = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.fixture
def log():
    return InMemoryLog("tests", partitions=2)


@pytest.fixture
def codec():
    return Codec(tenant="tests", partitions=2)


@pytest.fixture
def say(log, codec):
    publisher = Publisher(log, codec, tenant="tests", now=lambda: NOW)

    def append(text, agent="ops-1", **more):
        draft = Draft(model=ObservationRecorded, fields={"text": text}, agent=agent, **more)
        return publisher.append([draft])[0]

    return append


def caught_up(log, codec, *projections, **more):
    projector = Projector(log, codec, projections, **more)
    projector.start()
    projector.catch_up(log.ends())
    projector.close()
    return projector


@pytest.mark.parametrize("records_max", [1, 2, 100])
def test_everything_is_applied_once_in_order(log, codec, say, tmp_path, records_max):
    said = [say(f"{n}", agent=f"a{n % 3}") for n in range(20)]
    texts = Texts(tmp_path / "texts.db")
    caught_up(log, codec, texts, records_max=records_max)
    caught_up(log, codec, texts, records_max=records_max)
    assert Counter(texts.texts()) == Counter(str(n) for n in range(len(said)))
    for agent in range(3):
        mine = [int(t) for t in texts.texts() if int(t) % 3 == agent]
        assert mine == sorted(mine)


def test_each_projection_goes_on_from_its_own_progress(log, codec, say, tmp_path):
    old, new = Texts(tmp_path / "old.db"), Texts(tmp_path / "new.db")
    say("one")
    caught_up(log, codec, old)
    say("two")
    caught_up(log, codec, old, new)
    assert old.texts() == new.texts() == ["one", "two"]


def test_an_empty_log_is_caught_up_at_once(log, codec, tmp_path):
    texts = Texts(tmp_path / "texts.db")
    caught_up(log, codec, texts)
    assert texts.texts() == []
    assert texts.progress() == {}


def test_a_failing_store_holds_nobody_else_up_and_loses_nothing(log, codec, say, tmp_path):
    failing, sound = Texts(tmp_path / "failing.db"), Texts(tmp_path / "sound.db")
    failing.fails = 1
    say("one")
    projector = Projector(log, codec, [failing, sound])
    with pytest.raises(StoreUnavailable):
        projector.step(wait_seconds=1)
    assert sound.texts() == ["one"]
    assert failing.texts() == []
    projector.step(wait_seconds=1)
    assert failing.texts() == sound.texts() == ["one"]


def test_what_lies_beyond_the_bound_is_left_and_read_later(log, codec, say, tmp_path):
    texts = Texts(tmp_path / "texts.db")
    say("one")
    until = log.ends()
    say("two")
    projector = Projector(log, codec, [texts])
    projector.catch_up(until)
    assert texts.texts() == ["one"]
    projector.catch_up(log.ends())
    assert texts.texts() == ["one", "two"]


def test_a_poisoned_key_waits_in_order_and_others_go_on(log, codec, say, tmp_path):
    texts = Texts(tmp_path / "texts.db")
    say("first")
    say("poison")
    say("behind")
    say("another's", agent="ops-2")
    caught_up(log, codec, texts)
    say("behind too")
    caught_up(log, codec, texts)
    assert sorted(texts.texts()) == ["another's", "first"]
    assert [(p.reason, p.behind) for p in texts.parked()] == [
        ("it is poison", False),
        ("it is poison", True),
        ("an earlier event of its key waits", True),
    ]


def test_a_skip_lets_the_key_go_on(log, codec, say, tmp_path):
    texts = Texts(tmp_path / "texts.db")
    poison = say("poison")
    say("behind")
    caught_up(log, codec, texts)
    publisher = Publisher(log, codec, tenant="tests", now=lambda: NOW)
    skip = {"revision": 1, "skipped": poison.identity}
    publisher.govern(Draft(model=EventSkipped, fields=skip))
    caught_up(log, codec, texts)
    assert texts.texts() == ["behind"]
    assert texts.parked() == []


def test_a_skip_of_what_can_be_applied_changes_nothing(log, codec, say, tmp_path):
    applied = say("applied")
    live = Texts(tmp_path / "live.db")
    caught_up(log, codec, live)
    publisher = Publisher(log, codec, tenant="tests", now=lambda: NOW)
    skip = {"revision": 1, "skipped": applied.identity}
    publisher.govern(Draft(model=EventSkipped, fields=skip))
    say("later")
    caught_up(log, codec, live)
    fresh = Texts(tmp_path / "fresh.db")
    caught_up(log, codec, fresh)
    assert live.texts() == fresh.texts() == ["applied", "later"]


@pytest.mark.parametrize("records_max", [1, 2, 100])
def test_a_skip_that_is_known_first_drops_the_event_alone(log, codec, say, tmp_path, records_max):
    texts = Texts(tmp_path / "texts.db")
    known = {"revision": 1, "skipped": identity_of(key="ops-1", source="/s", event_id="p")}
    publisher = Publisher(log, codec, tenant="tests", now=lambda: NOW)
    publisher.govern(Draft(model=EventSkipped, fields=known))
    say("poison", id="p", source="/s")
    say("behind")
    caught_up(log, codec, texts, records_max=records_max)
    assert texts.texts() == ["behind"]
    assert texts.parked() == []


def test_a_death_between_a_skip_and_what_it_releases_is_made_up_for_by_the_next_start(
    log, codec, say, tmp_path, monkeypatch
):
    poison = say("poison")
    say("behind")
    caught_up(log, codec, Texts(tmp_path / "texts.db"))
    publisher = Publisher(log, codec, tenant="tests", now=lambda: NOW)
    skip = {"revision": 1, "skipped": poison.identity}
    publisher.govern(Draft(model=EventSkipped, fields=skip))
    monkeypatch.setattr(Projector, "_release_skipped", _dying)
    with pytest.raises(KeyboardInterrupt):
        caught_up(log, codec, Texts(tmp_path / "texts.db"))
    monkeypatch.undo()
    texts = Texts(tmp_path / "texts.db")
    assert [one.behind for one in texts.parked()] == [False, True]
    caught_up(log, codec, texts)
    assert texts.texts() == ["behind"]
    assert texts.parked() == []


def _dying(*_):
    raise KeyboardInterrupt


def test_a_retry_after_the_cause_is_gone_applies_in_order(log, codec, say, tmp_path, monkeypatch):
    texts = Texts(tmp_path / "texts.db")
    say("poison")
    say("behind")
    projector = caught_up(log, codec, texts)
    monkeypatch.setattr(Texts, "apply", _applying_all)
    projector.retry(texts, "ops-1")
    assert texts.texts() == ["poison", "behind"]
    assert texts.parked() == []


def test_a_start_asks_once_what_is_parked_however_many_keys_wait(
    log, codec, say, tmp_path, monkeypatch
):
    texts = Texts(tmp_path / "texts.db")
    for number in range(40):
        say("poison", agent=f"a{number}")
        say("behind", agent=f"a{number}")
    projector = caught_up(log, codec, texts)
    asked, parked = [], Texts.parked
    monkeypatch.setattr(Texts, "parked", lambda self: asked.append(1) or parked(self))
    before = parked(texts)
    projector.start()
    assert len(asked) == 1
    assert parked(texts) == before
    assert len(before) == 80


def test_a_policy_that_waited_is_applied_before_what_waited_behind_it(
    log, codec, say, tmp_path, monkeypatch
):
    texts, earlier = Texts(tmp_path / "texts.db"), EarlierCodec(tenant="tests", partitions=2)
    fields = {"revision": 1, "policy": BUILT_IN}
    publisher = Publisher(log, codec, tenant="tests", now=lambda: NOW)
    publisher.govern(Draft(model=PolicyChanged, fields=fields))
    for agent in ("a", "b", "c", "z"):
        say("poison", agent=agent)
    caught_up(log, earlier, texts, records_max=1)
    assert len(texts.parked()) == 6
    monkeypatch.setattr(Texts, "apply", _applying_all)
    caught_up(log, codec, texts, records_max=1)
    assert texts.parked() == []


def _applying_all(self, batch):
    with transaction(self._store, store="texts"):
        choice = choose(batch, self._ledger, projection=self.name, wants=is_observation)
        rows = [(step.item.key, step.item.recorded.event.text) for step in choice.steps]
        self._store.executemany("INSERT INTO texts VALUES (?,?)", rows)
        self._ledger.record(choice.entries)


def test_another_log_under_the_same_name_is_noticed(codec, say, log, tmp_path):
    texts = Texts(tmp_path / "texts.db")
    say("one")
    caught_up(log, codec, texts)
    another = InMemoryLog("tests", partitions=2)
    Publisher(another, codec, tenant="tests", now=lambda: NOW).append(
        [Draft(model=ObservationRecorded, fields={"text": "other"}, agent="ops-1")]
    )
    with pytest.raises(LogReplaced):
        Projector(another, codec, [texts]).start()


def test_another_log_under_the_same_name_is_noticed_by_who_reads_on(codec, say, log, tmp_path):
    say("one")
    projector = caught_up(log, codec, Texts(tmp_path / "texts.db"))
    another = InMemoryLog("tests", partitions=2)
    publisher = Publisher(another, codec, tenant="tests", now=lambda: NOW)
    for number in range(3):  # longer than what was applied: its start would be passed in silence
        draft = Draft(model=ObservationRecorded, fields={"text": f"{number}"}, agent="ops-1")
        publisher.append([draft])
    projector._log = another
    projector.rewind()
    with pytest.raises(LogReplaced):
        projector.step(wait_seconds=0)


def test_two_digests_of_one_history_are_one(log, codec, say, tmp_path):
    left, right = Texts(tmp_path / "left.db"), Texts(tmp_path / "right.db")
    for n in range(10):
        say(f"{n}")
    caught_up(log, codec, left, records_max=3)
    caught_up(log, codec, right, records_max=7)
    assert ContentDigest.of(left.content()) == ContentDigest.of(right.content())
