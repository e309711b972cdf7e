"""What recall reads: order, ties, bounds, links, and all of it beside a writer."""

import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, timedelta
from pathlib import Path

import numpy as np
import pytest

from mnemolog.projections.generations import Description, Generations
from mnemolog.projections.memories.lance_reader import LanceMemoryReader
from mnemolog.projections.memories.rows import Filter
from mnemolog.schemas.errors import Damaged, InvalidSetting
from mnemolog.schemas.events import experience as ex
from mnemolog.schemas.events import memory as mem
from support.histories import START, happened, memory_of, recorded
from support.memory_generations import fold, hashing, opened, place, reader_of, settle

ALL = Filter(current=False)
READER_PROCESS = Path(__file__).parents[2] / "support" / "memory_reader_process.py"


@pytest.fixture
def folded(tmp_path):
    """Return a function that folds events into a generation and returns its reader."""

    def fold_events(*events):
        with opened(tmp_path) as memories:
            fold(memories, recorded(*events))
            settle(memories)
        return reader_of(tmp_path)

    return fold_events


def asked(text):
    return hashing().embed([text], role="question")[0]


def test_the_nearest_come_first_and_ties_by_id(folded):
    same = [ex.ObservationRecorded(text="deploy the billing gateway") for _ in range(4)]
    reader = folded(*same, ex.ObservationRecorded(text="the lamp of room 1"))
    hits = reader.nearest(asked("deploy the billing gateway"), where=ALL, hits_max=10)
    assert [hit.id for hit in hits[:4]] == sorted(memory_of(f"e{n}") for n in range(4))
    assert hits[0].score == pytest.approx(1, abs=1e-5)
    assert hits[4].score < hits[3].score
    few = reader.nearest(asked("deploy the billing gateway"), where=ALL, hits_max=2)
    assert [hit.id for hit in few] == [hit.id for hit in hits[:2]]


def test_words_are_found_stemmed_in_chinese_and_in_tags(folded):
    reader = folded(
        ex.ObservationRecorded(text="We deployed the gateway."),
        ex.ObservationRecorded(text="把机器推论洗成权威事实"),
        ex.ObservationRecorded(text="The lamp is on.", tags=("kitchen",)),
        ex.ObservationRecorded(text="Ticket INC-21234 is open."),
    )
    for question, number in (("deploying", 0), ("权威事实", 1), ("kitchen", 2), ("inc-21234", 3)):
        hits = reader.matching(question, where=ALL, hits_max=1)
        assert [hit.id for hit in hits] == [memory_of(f"e{number}")], question


@pytest.mark.parametrize("question", ["", "  \n", "???", "\u3000", '"', "a AND (", "🎉"])
def test_a_question_without_words_finds_nothing_and_harms_nothing(folded, question):
    reader = folded(ex.ObservationRecorded(text="The lamp is on."))
    assert list(reader.matching(question, where=ALL, hits_max=5)) == []


@pytest.mark.parametrize("value", [0.0, np.nan, np.inf])
def test_a_vector_that_points_nowhere_is_near_nothing(folded, value):
    reader = folded(ex.ObservationRecorded(text="The lamp is on."))
    vector = np.full(hashing().dimensions, value, dtype=np.float32)
    assert list(reader.nearest(vector, where=ALL, hits_max=5)) == []


def test_a_vector_of_another_length_is_refused_clearly(folded):
    reader = folded(ex.ObservationRecorded(text="The lamp is on."))
    with pytest.raises(InvalidSetting, match="512 numbers"):
        reader.nearest(np.ones(4, dtype=np.float32), where=ALL, hits_max=5)


def test_another_model_is_refused_with_the_way_out(folded, tmp_path):
    folded()
    with pytest.raises(InvalidSetting, match="rebuild memories"):
        LanceMemoryReader.open(place(tmp_path).folder, model_id="counting/4")


def test_a_description_without_an_embedder_is_damaged(tmp_path):
    folder = Generations(tmp_path / "memories").create(Description("memories", 1, "t", 1, {}))
    with pytest.raises(Damaged, match="names no embedder"):
        LanceMemoryReader.open(folder)


@pytest.mark.parametrize("bound", [0, -1])
def test_no_hits_wanted_are_no_hits(folded, bound):
    reader = folded(ex.ObservationRecorded(text="The lamp is on."))
    assert not reader.nearest(asked("lamp"), where=ALL, hits_max=bound)
    assert not reader.matching("lamp", where=ALL, hits_max=bound)
    assert not reader.latest(where=ALL, rows_max=bound)
    assert not reader.links([memory_of("e0")], links_max=bound)


def test_filters_hold_in_both_signals(folded):
    reader = folded(
        happened(ex.ObservationRecorded(text="the lamp of ann"), agent="ann"),
        happened(ex.ObservationRecorded(text="the lamp of O'Brien"), agent="O'Brien"),
    )
    only = Filter(agent="O'Brien")
    wanted = [memory_of("e1", agent="O'Brien")]
    assert [h.id for h in reader.matching("lamp", where=only, hits_max=5)] == wanted
    assert [h.id for h in reader.nearest(asked("lamp"), where=only, hits_max=5)] == wanted


def test_what_is_outdated_or_out_of_the_way_is_not_current(folded):
    reader = folded(
        ex.ObservationRecorded(text="lamp one"),
        ex.ObservationRecorded(text="lamp two"),
        ex.ObservationRecorded(text="lamp three"),
        mem.MemorySuperseded(memory=memory_of("e0"), superseded_by=memory_of("e2")),
        mem.MemoryArchived(memory=memory_of("e1")),
    )
    assert {row.text for row in reader.latest(where=Filter(), rows_max=9)} == {"lamp three"}
    rows = reader.rows([memory_of("e0"), memory_of("e1")])
    assert rows[memory_of("e0")].superseded_by == memory_of("e2")
    assert rows[memory_of("e1")].archived


def test_rows_come_in_the_order_asked_for_and_only_those_that_are_there(folded):
    reader = folded(
        ex.ObservationRecorded(text="lamp one"), ex.ObservationRecorded(text="lamp two")
    )
    asked_for = [memory_of("e1"), "x' OR '1'='1", memory_of("e0"), "\ud800", memory_of("e1")]
    assert list(reader.rows(asked_for)) == [memory_of("e1"), memory_of("e0")]
    assert reader.rows([]) == {}


def test_all_fields_of_a_memory_come_back(folded):
    event = mem.MemoryFormed(
        text="Never log out live sessions.",
        kind="constraint",
        importance=0.85,
        confidence=0.7,
        entities=("JWT",),
        valid_from=START,
        from_events=("x1",),
        tags=("auth", "it's"),
    )
    scope = {"user": "u1", "project": "p1", "session": "s1", "task": "t1"}
    (row,) = folded(happened(event, **scope)).of_event("e0")
    assert (row.kind, row.text, row.importance, row.confidence) == (
        "constraint",
        "Never log out live sessions.",
        0.85,
        0.7,
    )
    assert {"auth", "it's"} <= set(row.tags)
    assert "JWT" in row.entities
    assert (row.valid_from, row.valid_until, row.occurred_at) == (START, None, START)
    assert row.occurred_at.tzinfo is UTC
    assert (row.user, row.project, row.session, row.task) == ("u1", "p1", "s1", "t1")
    assert (row.position, row.key, row.from_events) == ((0, 0), "ops-1", ["x1"])


def test_an_events_memories_come_by_ordinal(folded):
    said = "The rollout is at noon. You must never log out live sessions. I prefer short answers."
    rows = folded(ex.MessageExchanged(role="user", text=said)).of_event("e0")
    assert len(rows) > 1
    assert [row.ordinal for row in rows] == list(range(len(rows)))


def test_a_session_comes_in_the_order_of_occurrence_and_the_latest_newest_first(folded):
    told = [
        happened(ex.ObservationRecorded(text=f"lamp {n}"), session="s", at=START) for n in range(3)
    ]
    other = happened(ex.ObservationRecorded(text="lamp of others"), session="s2")
    reader = folded(*told, other)
    assert [r.text for r in reader.of_session("s", where=ALL, rows_max=2)] == ["lamp 0", "lamp 1"]
    latest = reader.latest(where=ALL, rows_max=3)
    assert [row.text for row in latest] == ["lamp of others", "lamp 2", "lamp 1"]


# Links


def links_of(reader, *ids, links_max=50):
    found = reader.links(ids, links_max=links_max)
    return {(link.from_memory, link.to_memory, link.kind, link.score) for link in found}


def test_links_are_found_from_both_ends(folded):
    a, b, c, d = (memory_of(f"e{n}") for n in range(4))
    reader = folded(
        ex.ObservationRecorded(text="lamp one"),
        happened(ex.ObservationRecorded(text="lamp two"), cause="e0"),
        ex.ObservationRecorded(text="lamp three"),
        mem.KnowledgeConsolidated(text="Lamps are on.", memories=(a, c)),
        mem.MemoryLinked(from_memory=a, to_memory=c, kind="similar", score=0.25),
        mem.MemorySuperseded(memory=a, superseded_by=b),
    )
    of_a = {
        (a, b, "causes", 1.0),
        (d, a, "summarises", 1.0),
        (a, c, "similar", 0.25),
        (b, a, "supersedes", 1.0),
    }
    assert links_of(reader, a) == of_a
    assert links_of(reader, b) == {(a, b, "causes", 1.0), (b, a, "supersedes", 1.0)}
    assert links_of(reader, c, "nobody") == {(a, c, "similar", 0.25), (d, c, "summarises", 1.0)}
    assert links_of(reader, "x' OR '1'='1") == set()
    assert len(reader.links([a], links_max=2)) == 2
    (cause,) = {link.cause for link in reader.links([c], links_max=9) if link.kind == "similar"}
    assert cause == "e4"


def test_a_link_shows_only_while_both_ends_are_there(folded):
    a, b = memory_of("e1"), memory_of("e2")
    link = mem.MemoryLinked(from_memory=a, to_memory=b, kind="similar")
    told = [
        link,
        ex.ObservationRecorded(text="lamp one"),
        happened(ex.ObservationRecorded(text="lamp two"), cause="e1"),
    ]
    assert links_of(folded(*told), a) == {(a, b, "similar", 1.0), (a, b, "causes", 1.0)}
    assert links_of(folded(*told, mem.MemoryForgotten(memories=(b,))), a) == set()


# Beside a writer


def test_a_generation_that_is_not_there_yet_answers_with_nothing_until_it_is(tmp_path):
    options = {"embedder": hashing().model_id, "dimensions": hashing().dimensions}
    folder = Generations(tmp_path / "memories").create(Description("memories", 1, "t", 1, options))
    reader = LanceMemoryReader.open(folder)
    assert reader.model_id == hashing().model_id
    assert not reader.latest(where=ALL, rows_max=1)
    assert not reader.matching("lamp", where=ALL, hits_max=1)
    assert not reader.nearest(asked("lamp"), where=ALL, hits_max=1)
    assert not reader.links(["m"], links_max=1)
    assert reader.counts()["memories"] == 0
    with opened(tmp_path) as memories:
        fold(memories, recorded(ex.ObservationRecorded(text="lamp one")))
        assert [row.text for row in reader.latest(where=ALL, rows_max=1)] == ["lamp one"]
        fold(memories, recorded(*(ex.ObservationRecorded(text=t) for t in ("lamp one", "two"))))
        assert reader.counts()["memories"] == 2
    reader.close()
    reader.close()


@pytest.mark.filterwarnings("ignore:optimize.cleanup_older_than=0")
def test_a_reader_goes_on_after_the_version_that_it_had_open_is_deleted(tmp_path):
    with opened(tmp_path) as memories:
        fold(memories, recorded(*lamps(9)))
        reader = reader_of(tmp_path)
        assert len(reader.latest(where=ALL, rows_max=99)) == 9
        fold(memories, recorded(*lamps(12)))
        memories._index.table.optimize(cleanup_older_than=timedelta(0))
        assert len(reader.latest(where=ALL, rows_max=99)) == 12
        assert len(reader.matching("lamp", where=ALL, hits_max=99)) == 12


def test_a_reader_opens_an_index_that_was_made_anew(tmp_path):
    with opened(tmp_path) as memories:
        fold(memories, recorded(*lamps(9)))
    reader = reader_of(tmp_path)
    assert len(reader.latest(where=ALL, rows_max=99)) == 9
    shutil.rmtree(place(tmp_path).folder / "lance")
    assert not reader.latest(where=ALL, rows_max=99)
    with opened(tmp_path):
        assert len(reader.latest(where=ALL, rows_max=99)) == 9
        assert len(reader.matching("lamp", where=ALL, hits_max=99)) == 9


def lamps(count):
    return [ex.ObservationRecorded(text=f"lamp {number}") for number in range(count)]


def test_many_threads_share_a_reader(folded):
    reader = folded(*(ex.ObservationRecorded(text=f"lamp {n}") for n in range(20)))
    ids = [memory_of(f"e{n}") for n in range(20)]

    def ask(number):
        hits = reader.matching("lamp", where=ALL, hits_max=50)
        rows = reader.rows(ids[number : number + 3])
        return len(hits), len(rows), len(reader.links(ids, links_max=5))

    with ThreadPoolExecutor(max_workers=8) as pool:
        assert set(pool.map(ask, range(16))) == {(20, 3, 0)}


def test_another_process_reads_beside_the_writer_without_an_error(tmp_path):
    with opened(tmp_path) as memories:
        fold(memories, recorded(ex.ObservationRecorded(text="memory number one")))
        command = [sys.executable, str(READER_PROCESS), str(place(tmp_path).folder)]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "reading\n"
            told = [ex.ObservationRecorded(text=f"memory number {n}") for n in range(400)]
            last = ex.ObservationRecorded(text="the end")
            fold(memories, recorded(*told, last), records_max=10)
            settle(memories)
            said, complaints = process.communicate(timeout=120)
        assert (process.returncode, complaints) == (0, "")
        seen, reads, fell = said.split()
        assert (seen, fell) == ("401", "False")
        assert int(reads) > 1
