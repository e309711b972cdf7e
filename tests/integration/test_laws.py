"""Laws 1 to 5: the log, the folds, the path, progress and triggers.

Laws 6, 7, 9 and 12 stand in test_laws_of_records.py, 8, 10, 11 and 13 in test_laws_of_use.py. A
law that is held elsewhere too names the place; a variant that breaks it is shown to be caught.
"""

import sqlite3
import tempfile
import time
from functools import partial
from pathlib import Path
from random import Random

import pytest

from mnemolog.projections import fault_points
from mnemolog.projections.choosing import choose
from mnemolog.projections.digests import ContentDigest, ContentRow
from mnemolog.projections.kinds import NAMES
from mnemolog.projections.sqlite_store import transaction
from mnemolog.schemas.codec import Codec
from mnemolog.schemas.decoded import Ours
from mnemolog.schemas.events.experience import ObservationRecorded
from mnemolog.streams import projecting
from mnemolog.streams.dispatching import Dispatcher
from mnemolog.streams.memory_log import InMemoryLog
from mnemolog.streams.projecting import Projector
from mnemolog.streams.publishing import Draft, Publisher
from support import small_history
from support.digesting_process import digests_in_a_process
from support.polling import eventually
from support.remembering import opened
from support.texts import Texts, is_observation
from support.whims import Died, WhimsicalLog


def said(log, *texts, agent="ops-1"):
    codec = Codec(tenant="tests", partitions=log.partitions)
    publisher = Publisher(log, codec, tenant="tests", now=lambda: small_history.START)
    drafts = [
        Draft(model=ObservationRecorded, fields={"text": text}, agent=agent) for text in texts
    ]
    return publisher.append(drafts)


def projected(texts, log, **more):
    projector = Projector(log, Codec(tenant="tests", partitions=log.partitions), [texts], **more)
    projector.catch_up(log.ends())
    projector.close()
    return texts


# 1. The log is the only truth. Deleting everything else: test_one_digest.py.


def test_law_1_what_a_store_says_against_the_log_is_found_and_replaced_by_what_the_log_says(
    tmp_path,
):
    with opened(tmp_path) as memory:
        small_history.feed(memory.engine.publisher)
        memory.wait_for(memory.end(), vectors=True)
        sound = memory.digests()
        serving = memory.engine.shelf.generations("weights").serving()
        store = sqlite3.connect(serving / "weights.db", timeout=30)
        store.execute("UPDATE memories SET importance = 1 WHERE id = ?", [small_history.POOL])
        store.commit()
        store.close()
        [compared] = memory.verify("weights")
        assert not compared.is_equal
        assert compared.differences[0].row_id == small_history.POOL
        memory.rebuild("weights")
        assert memory.digests() == sound


# 2. Folds are pure and use only the order that exists. Orders, cuts, deaths: tests/contracts and
# tests/properties; what a fold mentions: test_tidy.py.


def test_law_2_no_fold_sees_the_machine_that_it_runs_on():
    with opened() as memory:
        small_history.feed(memory.engine.publisher)
        memory.wait_for(memory.end(), vectors=True)
        here = memory.digests()
    there = digests_in_a_process(PYTHONHASHSEED="2", TZ="Asia/Shanghai", LANG="C", USER="ann")
    assert here == there
    assert here.keys() == set(NAMES)


class Clocked(Texts):
    """Asks the clock in its fold."""

    def content(self):
        now = str(time.time_ns())
        return (row._replace(values={**row.values, "at": now}) for row in super().content())


class Summing(Texts):
    """Joins keys by a sum of floats."""

    def content(self):
        total = 0.0
        for row in super().content():
            total += float(row.values["text"])
        yield ContentRow("all", "sums", "sum", {"sum": total})


class Ordered(Texts):
    """One row for each event, which knows its place in its key and nothing of other keys."""

    def content(self):
        places = {}
        for row in super().content():
            place = places[row.key] = places.get(row.key, -1) + 1
            yield ContentRow(row.key, "texts", f"{row.key}/{place}", row.values)


@pytest.mark.parametrize(
    ("kind", "is_lawful"), [(Ordered, True), (Texts, False), (Clocked, False), (Summing, False)]
)
def test_law_2_a_fold_that_uses_a_clock_or_an_order_between_keys_gives_two_digests(kind, is_lawful):
    digests = set()
    for seed in range(12):
        log = WhimsicalLog(partitions=4, chance=Random(seed))
        for number in range(12):
            said(log, str(0.1 * (number + 1) ** 7), agent=f"agent-{number % 6}")
        with tempfile.TemporaryDirectory() as name:
            texts = projected(kind(Path(name) / "texts.db"), log, records_max=3)
            digests.add(ContentDigest.of(texts.content()).hex)
            texts.close()
    assert (len(digests) == 1) is is_lawful


# 3. One path. That there is no second one: whatever is wrong with it is wrong for both.


def test_law_3_what_breaks_the_path_breaks_live_work_and_rebuilds_alike(monkeypatch):
    whole, decoded = projecting.decoded, projecting.decoded

    def losing(records, codec):
        batch = whole(records, codec)
        kept = [i for i in batch.items if not (isinstance(i, Ours) and i.key == small_history.DEV)]
        return type(batch)(kept or batch.items)

    found = {}
    for name, read in (("sound", decoded), ("broken", losing)):
        monkeypatch.setattr(projecting, "decoded", read)
        with opened() as memory:
            small_history.feed(memory.engine.publisher)
            memory.wait_for(memory.end(), vectors=True)
            assert all(compared.is_equal for compared in memory.verify())
            found[name] = memory.digests()
    assert all(found["sound"][name] != found["broken"][name] for name in NAMES)


# 4. Progress moves with the rows. All projections at all points: tests/contracts.


class Hasty(Texts):
    """Saves its progress before the rows."""

    def apply(self, batch):
        choice = choose(batch, self._ledger, projection=self.name, wants=is_observation)
        rows = [(step.item.key, step.item.recorded.event.text) for step in choice.steps]
        with transaction(self._store, store="texts"):
            self._ledger.record(choice.entries)
        fault_points.reached("texts.between")
        self._store.executemany("INSERT INTO texts VALUES (?,?)", rows)


class Forgetful(Texts):
    """Saves its progress after the rows, which have no keys."""

    def apply(self, batch):
        choice = choose(batch, self._ledger, projection=self.name, wants=is_observation)
        rows = [(step.item.key, step.item.recorded.event.text) for step in choice.steps]
        self._store.executemany("INSERT INTO texts VALUES (?,?)", rows)
        fault_points.reached("texts.between")
        with transaction(self._store, store="texts"):
            self._ledger.record(choice.entries)


class Lawful(Texts):
    """Saves both in one transaction."""

    def apply(self, batch):
        with transaction(self._store, store="texts"):
            choice = choose(batch, self._ledger, projection=self.name, wants=is_observation)
            rows = [(step.item.key, step.item.recorded.event.text) for step in choice.steps]
            self._store.executemany("INSERT INTO texts VALUES (?,?)", rows)
            fault_points.reached("texts.between")
            self._ledger.record(choice.entries)


def die(point):
    raise Died(point)


@pytest.mark.bad_input(53)
@pytest.mark.parametrize(
    ("kind", "left"), [(Lawful, ["a", "b"]), (Hasty, []), (Forgetful, ["a", "b", "a", "b"])]
)
def test_law_4_a_death_between_rows_and_progress_loses_and_doubles_nothing(tmp_path, kind, left):
    log = InMemoryLog("tests")
    said(log, "a", "b")
    with fault_points.listening(die), pytest.raises(Died):
        projected(kind(tmp_path / "texts.db"), log)
    assert projected(kind(tmp_path / "texts.db"), log).texts() == left


# 5. An incoming event is a trigger, not the data.


class Deaf(InMemoryLog):
    """Loses every wake-up."""

    def wait(self, after, *, timeout_seconds):
        super().wait(dict.fromkeys(after, 2**60), timeout_seconds=timeout_seconds)
        return False


class Jumpy(InMemoryLog):
    """Wakes all the time, for nothing."""

    def wait(self, after, *, timeout_seconds):
        super().wait(after, timeout_seconds=min(timeout_seconds, 0.001))
        return True


class Trusting(Projector):
    """Takes what woke it for the data: the log's last record."""

    def _next_to_apply(self):
        return {p: max(0, end - 1) for p, end in self._log.ends().items()}


@pytest.mark.parametrize("log", [Deaf("tests"), Jumpy("tests"), InMemoryLog("tests")])
def test_law_5_a_lost_or_needless_wake_up_is_harmless(tmp_path, log):
    texts = Texts(tmp_path / "texts.db")
    dispatcher = Dispatcher(log, Projector(log, Codec(tenant="tests", partitions=1), [texts]))
    dispatcher.start()
    try:
        for part in (["a", "b"], ["c"]):
            [*_, last] = said(log, *part)
            eventually(partial(_has_reached, texts, last.position.offset), what="the last record")
    finally:
        dispatcher.stop()
    assert texts.texts() == ["a", "b", "c"]


def _has_reached(texts, offset):
    return texts.settled().get(0, -1) >= offset


def test_law_5_who_trusts_the_trigger_loses_what_came_with_it(tmp_path):
    log, texts = InMemoryLog("tests"), Texts(tmp_path / "texts.db")
    said(log, "a", "b")
    Trusting(log, Codec(tenant="tests", partitions=1), [texts]).step(wait_seconds=0)
    assert texts.texts() == ["b"]
