"""Dead letters: each parked record has its copy, a few two after a death; nothing needs them."""

import contextlib

import pytest

from mnemolog.dead_letters import Copying, copied, sweep
from mnemolog.projections.kinds import MEMORIES, VERSIONS
from mnemolog.projections.memories import projection as memories
from mnemolog.schemas.errors import LogUnavailable
from mnemolog.schemas.positions import Position
from mnemolog.status import status
from mnemolog.streams.dead_letters import Copied, dead_letters_topic
from mnemolog.streams.kafka_log import KafkaLog
from mnemolog.streams.kafka_topics import TopicSettings
from support.parked import FAULT, failing
from support.polling import eventually
from support.remembering import opened


class Box:
    """A topic in a list, that is down for as long as a test wants."""

    def __init__(self):
        self.letters = []
        self.is_down = False

    def put(self, letters):
        if self.is_down:
            raise LogUnavailable("mnemolog.default.dead-letters", "no answer")
        self.letters += letters

    def close(self):
        pass


@pytest.fixture
def mem(tmp_path, monkeypatch):
    failing(monkeypatch, memories, "changes_of")
    with opened(tmp_path, agent="ops-1") as mem:
        for text in ("room 1", FAULT, "room 2"):
            mem.observe(text)
        parked(mem, count=2)
        yield mem


def parked(mem, *, count):
    mem.engine.dispatcher.wait_until(
        lambda: len(mem.parked(behind=True).events) == count, what="parking", timeout_seconds=30
    )


def headers(letter):
    return {name.removeprefix("mnemolog-dead-letter-"): v.decode() for name, v in letter.headers}


@pytest.fixture
def known(mem):
    with contextlib.closing(Copied.open(mem.engine.folder)) as known:
        yield known


def test_a_letter_has_the_records_bytes_and_says_where_why_and_whose_it_is(mem, known):
    box = Box()
    assert sweep(mem.engine, box, known) == 2
    first, second = box.letters
    record = mem.engine.log.at(Position(0, 1))
    assert (first.key, first.value) == (record.key, record.value)
    assert first.headers[: len(record.headers)] == record.headers
    told = headers(first)
    assert told["error"] == f"ValueError: {FAULT}"
    assert told["projection"] == MEMORIES
    assert told["projection-version"] == str(VERSIONS[MEMORIES])
    assert (told["topic"], told["partition"], told["offset"]) == (
        "mnemolog.default.events",
        "0",
        "1",
    )
    assert [headers(one)["waits"] for one in box.letters] == [
        "by its own fault",
        "behind another",
    ]
    assert headers(second)["offset"] == "2"


def test_what_was_copied_is_copied_once_and_what_is_parked_later_too(mem, known):
    box = Box()
    sweep(mem.engine, box, known)
    assert sweep(mem.engine, box, known) == 0
    mem.observe("room 3")
    parked(mem, count=3)
    assert sweep(mem.engine, box, known) == 1
    assert [headers(one)["offset"] for one in box.letters] == ["1", "2", "3"]


def test_a_death_between_copy_and_note_doubles_only_those_on_their_way(mem, known, monkeypatch):
    monkeypatch.setattr("mnemolog.dead_letters.LETTERS_MAX", 1)
    box = Box()
    with monkeypatch.context() as dying:
        dying.setattr(Copied, "note", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            sweep(mem.engine, box, known)
    sweep(mem.engine, box, known)
    assert [headers(one)["offset"] for one in box.letters] == ["1", "1", "2"]


def test_what_went_on_and_is_parked_again_is_copied_again(mem, known, monkeypatch):
    box = Box()
    sweep(mem.engine, box, known)
    with monkeypatch.context() as mended:
        mended.setattr(memories, "changes_of", memories.changes_of.__closure__[0].cell_contents)
        mem.retry()
    assert sweep(mem.engine, box, known) == 0
    assert known.positions(MEMORIES) == set()


def test_a_topic_that_is_down_stops_nothing_shows_in_status_and_is_caught_up_with(mem, monkeypatch):
    monkeypatch.setattr("mnemolog.dead_letters.SWEEP_SECONDS", 0.01)
    box = Box()
    box.is_down = True
    copying = Copying(mem.engine, box)
    copying.start()
    try:
        eventually(lambda: copying.trouble, what="the trouble")
        shown = status(mem.engine).warnings
        assert any("dead letters can't be copied" in text for text in shown)
        assert mem.engine.dispatcher.failure is None
        box.is_down = False
        eventually(lambda: len(box.letters) == 2 and not copying.trouble, what="the letters")
        assert not any("dead letters" in text for text in status(mem.engine).warnings)
    finally:
        copying.stop()


def test_a_file_that_is_damaged_is_made_anew(tmp_path):
    (tmp_path / "dead-letters.db").write_bytes(b"no database" * 1000)
    with contextlib.closing(Copied.open(tmp_path)) as known:
        assert known.positions(MEMORIES) == set()


@pytest.mark.kafka
def test_letters_stand_on_a_topic_of_their_own_which_may_be_set_to_anything(
    kafka, tmp_path, monkeypatch
):
    failing(monkeypatch, memories, "changes_of")
    tenant = f"letters-{tmp_path.name}"
    log = f"kafka://{kafka.bootstrap}?partitions=2"
    with opened(tmp_path, log=log, tenant=tenant, agent="ops-1") as mem:
        mem.observe(FAULT)
        parked(mem, count=1)
        with copied(mem.engine):
            topic = dead_letters_topic(tenant)
            found = KafkaLog.open_topic(kafka.bootstrap, topic, TopicSettings(1))
            with contextlib.closing(found):
                eventually(lambda: found.ends() == {0: 1}, what="the letter")
                letter = found.at(Position(0, 0))
    assert letter.key == b"ops-1"
    assert dict(letter.headers)["mnemolog-dead-letter-projection"] == b"memories"
