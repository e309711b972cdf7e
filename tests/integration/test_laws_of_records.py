"""Laws 6, 7, 9 and 12: what forms memories, what becomes of each record, times, repeats.

A law that is held elsewhere too names the place; a variant that breaks it is shown to be caught.
"""

import sqlite3
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from mnemolog.doctor import examine
from mnemolog.ledgers import counts_in
from mnemolog.projections.choosing import choose
from mnemolog.projections.digests import ContentDigest
from mnemolog.projections.kinds import NAMES
from mnemolog.projections.memories.embedding import CheckedEmbedder
from mnemolog.projections.memories.hashing_embedder import HashingModel
from mnemolog.projections.sqlite_store import transaction
from mnemolog.schemas.codec import Codec
from mnemolog.schemas.envelope import Envelope
from mnemolog.schemas.errors import Parked
from mnemolog.schemas.events.experience import ObservationRecorded
from mnemolog.schemas.events.governance import EventSkipped
from mnemolog.schemas.events.memory import MemoryImportanceChanged
from mnemolog.schemas.positions import Token
from mnemolog.schemas.values import json_bytes, parse_json
from mnemolog.streams.memory_log import InMemoryLog
from mnemolog.streams.projecting import Projector
from mnemolog.streams.publishing import Draft, Publisher
from mnemolog.waiting import ROWS
from support import small_history
from support.remembering import opened, the_event
from support.texts import Texts, is_observation
from support.whims import Host, WhimsicalLog, settle

DAY = timedelta(days=1)
INSTANT = timedelta(microseconds=1)


def said(log, *texts, agent="ops-1", **more):
    codec = Codec(tenant="tests", partitions=log.partitions)
    publisher = Publisher(log, codec, tenant="tests", now=lambda: small_history.START)
    for text in texts:
        fields = {"text": text}
        publisher.append([Draft(model=ObservationRecorded, fields=fields, agent=agent, **more)])


# 6. A pure rule stays in the fold and appends nothing; replay never calls a model. Ids of memories
# by their formula: test_rows_by_hand.py. Policies where they stand: tests/contracts.


class Counting(HashingModel):
    """Counts the texts that it embeds."""

    def __init__(self):
        self.embedded = 0

    def vectors(self, texts, *, role):
        self.embedded += len(texts)
        return super().vectors(texts, role=role)


@pytest.mark.parametrize("keeps_its_cache", [True, False])
def test_law_6_a_rebuild_asks_no_model_for_what_the_cache_holds(tmp_path, keeps_its_cache):
    log = InMemoryLog("tests")
    said(log, "The pool is full.", "The pool is empty.")
    Host(tmp_path / "tenant", log).project(records_max=9)
    if not keeps_its_cache:
        (tmp_path / "tenant" / "vectors.db").unlink()
    model = Counting()
    host = Host(tmp_path / "tenant", log, embedder=CheckedEmbedder(model))
    fresh = host.built("memories", epoch=2)
    settle(fresh)
    assert model.embedded == (0 if keeps_its_cache else 2)
    fresh.close()


def test_law_6_folds_append_nothing():
    with opened() as memory:
        small_history.feed(memory.engine.publisher)
        told = memory.engine.log.ends()
        memory.wait_for(memory.end(), projections=NAMES, vectors=True)
        memory.rebuild()
        assert memory.engine.log.ends() == told


# 7. Nothing is lost. Each kind by itself: tests/contracts; what a rebuild refuses: tests/replay.


def unaccounted(memory):
    """Return how many records of the log stand neither in a row nor in a list."""
    counts = counts_in(memory.engine, "checkpoints")
    [[events]] = memory.sql("SELECT count(*) FROM events").rows
    return sum(memory.engine.log.ends().values()) - events - counts["parked"] - counts["foreign"]


def spoil(memory, event_id, change):
    """Append an observation of ann's whose document is changed by *change*."""
    codec = memory.engine.codec
    envelope = Envelope(
        id=event_id, source="/tests", occurred_at=small_history.START, key="ann", agent="ann"
    )
    new = codec.encode(ObservationRecorded(text="spoilt"), envelope)
    document = parse_json(new.value)
    change(document)
    spoilt = new._replace(value=json_bytes(document))
    return Token.of(memory.engine.log.append([spoilt])), new.identity


@pytest.mark.bad_input(49)
def test_law_7_every_record_is_applied_or_listed_and_only_its_key_waits():
    with opened() as memory:
        memory.observe("before", agent="ann")
        spoil(memory, "guest", lambda told: told.update(type="com.example.built"))
        spoil(memory, "foreign", lambda told: told.pop("source"))
        bad, identity = spoil(memory, "bad", lambda told: told["data"].pop("text"))
        behind = memory.observe("behind", agent="ann")
        elsewhere = memory.observe("elsewhere", agent="bob")
        memory.wait_for(elsewhere.token)
        for waiting in (bad, behind.token):
            with pytest.raises(Parked):
                memory.wait_for(waiting)
        assert {entry.text for entry in memory.timeline()} == {"before", "", "elsewhere"}
        assert unaccounted(memory) == 0
        with pytest.raises(Parked, match=str(next(iter(bad.offsets.values())))):
            memory.rebuild("weights")

        skip = Draft(model=EventSkipped, fields={"revision": 1, "skipped": identity})
        memory.engine.publisher.govern(skip)
        memory.wait_for(memory.end())
        assert {entry.text for entry in memory.timeline(agent="ann")} == {"before", "", "behind"}
        assert all(compared.is_equal for compared in memory.verify())


def test_law_7_a_record_that_is_dropped_is_missed():
    with opened() as memory:
        token, _ = spoil(memory, "foreign", lambda told: told.pop("source"))
        memory.wait_for(token)
        serving = memory.engine.shelf.generations("checkpoints").serving()
        store = sqlite3.connect(serving / "index.db", timeout=30)
        store.execute("DELETE FROM foreign_records")
        store.commit()
        store.close()
        assert unaccounted(memory) == 1


# 9. Two times on everything. Marks within a key and between keys: tests/projections.


def test_law_9_an_event_has_the_worlds_time_and_the_logs_and_a_naive_one_is_flagged():
    with opened(agent="ops-1") as memory:
        before = datetime.now(UTC)
        naive = memory.observe("naive", occurred_at="2001-02-03T04:05:06")
        zoned = memory.observe("zoned", occurred_at="2001-02-03T05:05:06+01:00")
        events = [the_event(memory, one) for one in (naive, zoned)]
        record = memory.engine.log.at(naive.position)
    assert {event.occurred_at for event in events} == {datetime(2001, 2, 3, 4, 5, 6, tzinfo=UTC)}
    assert [event.envelope.assumed_utc for event in events] == [True, False]
    assert all(before <= event.recorded_at <= datetime.now(UTC) for event in events)
    assert before.strftime("%Y-%m-%d").encode() not in record.value


@pytest.mark.bad_input(39)
def test_law_9_order_is_by_position_and_never_by_time():
    with opened(agent="ops-1") as memory:
        fact = memory.remember("The pool has 50 places.")
        for share, day in ((0.9, 20), (0.2, 10)):  # the later one happened earlier
            fields = {"memory": fact.memory_id, "importance": share}
            around = {"occurred_at": datetime(2030, 1, day, tzinfo=UTC)}
            last = memory.append(MemoryImportanceChanged, fields, **around)
        memory.wait_for(last.token)
        assert memory.get(fact.memory_id).row.importance == 0.2
        assert memory.get(fact.memory_id).weight.importance == 0.2
        [[analytics]] = memory.sql("SELECT importance FROM memories").rows
        assert analytics == 200


def test_law_9_intervals_are_half_open():
    begins = datetime(2020, 1, 1, tzinfo=UTC)
    ends = begins + DAY
    with opened(agent="ops-1") as memory:
        kept = memory.remember(
            "The gate is open.", valid_from=begins, valid_until=ends, occurred_at=begins - DAY
        )
        memory.wait_for(kept.token)
        found = {
            moment: bool(len(memory.recall("the gate", as_of=moment, timeout_seconds=60)))
            for moment in (begins - INSTANT, begins, ends - INSTANT, ends)
        }
    assert found == {begins - INSTANT: False, begins: True, ends - INSTANT: True, ends: False}


# 12. The same event twice has one effect, however far apart. In batches: tests/contracts.


def digest(projection):
    settle(projection)
    return ContentDigest.of(projection.content()).hex


def test_law_12_what_comes_again_much_later_and_after_a_restart_changes_nothing(tmp_path):
    digests, ends = [], []
    for times in (1, 2):
        log = WhimsicalLog(partitions=1, chance=Random(7))
        host = Host(tmp_path / str(times), log)
        publisher = Publisher(log, host.codec, tenant="tests", now=lambda: small_history.START)
        small_history.feed(publisher)
        for number in range(200):
            said(log, f"noise {number}", agent="noise", id=f"n{number}")
        host.project(records_max=50)
        for _ in range(times - 1):
            small_history.feed(publisher)
        with host.projecting(records_max=50) as projector:  # another process, which saw nothing
            projector.catch_up(log.ends())
            digests.append({one.name: digest(one) for one in projector.projections})
        ends.append(log.ends()[0])
    assert ends[1] - ends[0] == len(small_history.history()) + 1
    assert digests[0] == digests[1]


class Windowed(Texts):
    """Knows what it has seen from a set in memory."""

    def __init__(self, path):
        super().__init__(path)
        self._recent = set()

    def apply(self, batch):
        with transaction(self._store, store="texts"):
            choice = choose(batch, self._ledger, projection=self.name, wants=is_observation)
            choice.entries.seen.clear()
            for step in choice.steps:
                if step.item.identity not in self._recent:
                    self._recent.add(step.item.identity)
                    row = (step.item.key, step.item.recorded.event.text)
                    self._store.execute("INSERT INTO texts VALUES (?,?)", row)
            self._ledger.record(choice.entries)


@pytest.mark.parametrize(("kind", "left"), [(Texts, ["a"]), (Windowed, ["a", "a"])])
def test_law_12_who_remembers_in_memory_doubles_after_a_restart(tmp_path, kind, left):
    log = WhimsicalLog(partitions=1, chance=Random(7))
    for _ in range(2):
        said(log, "a", id="e1")
        texts = kind(tmp_path / "texts.db")
        Projector(log, Codec(tenant="tests", partitions=1), [texts]).catch_up(log.ends())
        assert set(texts.texts()) == {"a"}
        texts.close()
    assert Texts(tmp_path / "texts.db").texts() == left


def test_law_12_a_repeat_with_other_content_is_listed_and_the_first_one_holds(tmp_path):
    with opened(tmp_path, agent="ops-1") as memory:
        first = memory.observe("the pool is full", id="e1")
        memory.wait_for(first.token)
    with opened(tmp_path, agent="ops-1") as memory:
        other = memory.observe("the pool is empty", id="e1")
        assert other.position != first.position
        memory.wait_for(other.token, projections=NAMES)
        assert [entry.text for entry in memory.timeline()] == ["the pool is full"]
        assert [counts_in(memory.engine, name)["repeats"] for name in ROWS] == [1, 1, 1]
        [listed] = [one for one in examine(memory.engine) if one.check == "repeats"]
        assert str(other.position) in listed.detail
