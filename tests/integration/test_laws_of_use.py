"""Laws 8, 10, 11 and 13: where memories come from, tenants, appends, bounds.

A law that is held elsewhere too names the place; a variant that breaks it is shown to be caught.
"""

import ast
import threading
from dataclasses import replace

import pytest

from mnemolog.engine import Engine
from mnemolog.projections.analytics.query import ROWS_MAX
from mnemolog.projections.memories.embedding import CheckedEmbedder
from mnemolog.projections.memories.hashing_embedder import HashingModel
from mnemolog.projections.recall.question import (
    QUESTION_CHARACTERS_MAX,
    RECALL_HITS_MAX,
    RECALL_SECONDS_MAX,
    RECALL_TOKENS_MAX,
)
from mnemolog.schemas.decoded import Ours
from mnemolog.schemas.errors import InvalidEvent, InvalidSetting, TimedOut
from mnemolog.schemas.events.experience import ObservationRecorded
from mnemolog.schemas.ids import encoded_name
from mnemolog.schemas.limits import (
    DEPTH_MAX,
    EVENT_BYTES_MAX,
    ID_BYTES_MAX,
    LIST_ITEMS_MAX,
    NAME_BYTES_MAX,
    TAGS_MAX,
    TEXT_CHARS_MAX,
)
from mnemolog.schemas.positions import Position
from mnemolog.streams.log import APPEND_RECORDS_MAX
from mnemolog.streams.publishing import Draft
from support.remembering import opened, texts
from support.sources import SOURCE_FOLDERS, name_of, python_files

# 8. Every memory can be traced.


def is_traced(memory, provenance):
    """Say whether the event that *provenance* names stands at its place in the log."""
    record = memory.engine.log.at(Position(provenance.partition, provenance.offset))
    item = None if record is None else memory.engine.codec.decode(record)
    return (
        isinstance(item, Ours)
        and item.recorded.id == provenance.event_id
        and memory.engine.log.topic == provenance.topic
    )


@pytest.fixture(scope="module")
def decided():
    """Yield a memory of two agents in four partitions, and what they appended."""
    with opened(partitions=4) as memory:
        told = memory.message("支付服务必须在周三之前上线。", agent="ops-1")
        seen = memory.observe("the pool of payment is full", agent="ops-1", caused_by=told)
        memory.wait_for(seen.token)
        choice = memory.decide("raise it", because=[seen.memory_id, told], agent="dev-2")
        lonely = memory.decide("paint it blue", agent="dev-2")
        memory.wait_for(memory.end(), vectors=True)  # some share no word with the question
        yield memory, told, seen, choice, lonely


def test_law_8_each_recalled_memory_names_the_event_that_stands_at_its_place(decided):
    memory = decided[0]
    found = memory.recall("the pool of payment", timeout_seconds=60)
    assert len(found) == 4  # of five: what is told twice is shown once
    for one in found:
        assert is_traced(memory, one.provenance)
        assert not is_traced(memory, replace(one.provenance, offset=one.provenance.offset + 1))
        assert not is_traced(memory, replace(one.provenance, topic="mnemolog.other.events"))


def ids_in(node):
    return {node.id, *(id_ for cause in node.causes for id_ in ids_in(cause))}


def test_law_8_why_walks_from_a_memory_and_a_decision_to_all_that_they_came_from(decided):
    memory, told, seen, choice, lonely = decided
    sources = {choice.id, seen.memory_id, seen.id, told.id}
    assert sources <= ids_in(memory.why(choice))
    assert sources <= ids_in(memory.why(choice.memory_id))
    assert ids_in(memory.why(lonely)) == {lonely.id}


# 10. A tenant is fixed when a Memory is opened. Names as paths: tests/schemas.

TENANTS = ("acme", "Acme", "acme.", "ac/me", "ac_2fme", "北京")
OPENED = ("acme", "Acme", "北京")


def keeps_apart(encode):
    """Say whether *encode* gives tenants folders that are several on any disk."""
    return len({encode(name).casefold() for name in TENANTS}) == len(TENANTS)


def test_law_10_tenants_have_folders_that_are_several_on_any_disk():
    assert keeps_apart(encoded_name)
    assert not keeps_apart(str.lower)
    assert not keeps_apart(lambda name: name.replace("/", "_2f"))


def test_law_10_nobody_sees_another_tenants_memories_by_any_way(tmp_path):
    for tenant in OPENED:
        with opened(tmp_path, tenant=tenant, agent="ops-1") as memory:
            seen = memory.observe(f"the pool of {tenant}", id="e1")
            memory.wait_for(seen.token)
            memory.sql("SELECT 1")
    folders = {path.name: path for path in tmp_path.iterdir()}
    assert len(folders) == len(OPENED)
    for tenant in OPENED:
        with opened(tmp_path, tenant=tenant, agent="ops-1") as memory:
            mine = [f"the pool of {tenant}"]
            assert texts(memory.recall("the pool", timeout_seconds=60)) == mine
            assert [entry.text for entry in memory.timeline()] == mine
            assert memory.sql("SELECT text FROM observations").rows == [(mine[0],)]
            assert memory.get("e1").event.text == mine[0]
            for other in folders.values():
                with pytest.raises(InvalidSetting):
                    memory.sql(f"FROM '{other}/published/parquet/observations.parquet'")


# 11. Append is fast: it waits for the log's acknowledgement and nothing else.


def within(seconds, do):
    """Say whether *do* returns within *seconds*."""
    done = threading.Thread(target=do, daemon=True)
    done.start()
    done.join(seconds)
    return not done.is_alive()


def test_law_11_an_append_waits_for_no_projection():
    with opened(agent="ops-1") as memory, memory.engine.dispatcher.paused():
        assert within(20, lambda: memory.observe("while all projections stand still"))
        with pytest.raises(TimedOut):  # as an append would that waited for more
            memory.wait_for(memory.end(), timeout_seconds=0.2)
        assert sum(memory.engine.log.ends().values()) == 1


class Stuck(HashingModel):
    """Embeds no memory until it is let."""

    def __init__(self):
        self.may_go_on = threading.Event()
        self.is_asked = threading.Event()

    def vectors(self, texts, *, role):
        if role == "memory":
            self.is_asked.set()
            self.may_go_on.wait(60)
        return super().vectors(texts, role=role)


def test_law_11_an_append_waits_for_no_embedding_and_its_words_are_found_before_its_vector(
    monkeypatch,
):
    stuck = Stuck()
    monkeypatch.setattr(Engine, "embedder", lambda _: CheckedEmbedder(stuck))
    with opened(agent="ops-1") as memory:
        try:
            seen = memory.observe("the pool of payment is full")
            assert stuck.is_asked.wait(30)
            assert texts(memory.recall("payment pool", after=seen.token, timeout_seconds=60)) == [
                "the pool of payment is full"
            ]
            assert not memory.get(seen.memory_id).row.has_vector
            assert within(20, lambda: memory.observe("another one"))
        finally:
            stuck.may_go_on.set()
        memory.wait_for(memory.end(), vectors=True)
        assert memory.get(seen.memory_id).row.has_vector


# 13. Everything has a bound with a name. Logs, pages and walks: tests/contracts, tests/replay.


@pytest.fixture(scope="module")
def bounded():
    with opened(agent="ops-1", blobs=False) as memory:
        memory.wait_for(memory.observe("the pool is full").token)
        yield memory


def nested(depth):
    return {"in": nested(depth - 1)} if depth else {}


BEYOND = {
    "an event's bytes": (
        EVENT_BYTES_MAX,
        lambda m: m.observe("x", data={"text": "x" * EVENT_BYTES_MAX}),
    ),
    "a text": (TEXT_CHARS_MAX, lambda m: m.observe("x" * (TEXT_CHARS_MAX + 1))),
    "depth": (DEPTH_MAX, lambda m: m.observe("x", data=nested(DEPTH_MAX))),
    "a list": (LIST_ITEMS_MAX, lambda m: m.decide("x", because=["e"] * (LIST_ITEMS_MAX + 1))),
    "tags": (TAGS_MAX, lambda m: m.observe("x", tags=["t"] * (TAGS_MAX + 1))),
    "an id": (ID_BYTES_MAX, lambda m: m.observe("x", id="x" * (ID_BYTES_MAX + 1))),
    "a name": (NAME_BYTES_MAX, lambda m: m.observe("x", user="x" * (NAME_BYTES_MAX + 1))),
    "a batch": (
        APPEND_RECORDS_MAX,
        lambda m: m.engine.publisher.append(
            [Draft(model=ObservationRecorded, fields={"text": "x"})] * (APPEND_RECORDS_MAX + 1)
        ),
    ),
    "hits": (RECALL_HITS_MAX, lambda m: m.recall("x", hits_max=RECALL_HITS_MAX + 1)),
    "tokens": (RECALL_TOKENS_MAX, lambda m: m.recall("x", tokens_max=RECALL_TOKENS_MAX + 1)),
    "a wait": (RECALL_SECONDS_MAX, lambda m: m.recall("x", timeout_seconds=61)),
    "a question": (
        QUESTION_CHARACTERS_MAX,
        lambda m: m.recall("x" * (QUESTION_CHARACTERS_MAX + 1)),
    ),
}


@pytest.mark.parametrize("what", BEYOND)
def test_law_13_beyond_its_bound_it_is_refused_and_the_bound_is_told(bounded, what):
    bound, beyond = BEYOND[what]
    before = bounded.engine.log.ends()
    with pytest.raises((InvalidEvent, InvalidSetting), match=f"{bound:g}|{bound}"):
        beyond(bounded)
    assert bounded.engine.log.ends() == before


def test_law_13_a_page_of_rows_ends_and_says_so(bounded):
    page = bounded.sql(f"FROM range({ROWS_MAX + 1})")
    assert (len(page.rows), page.truncated) == (ROWS_MAX, True)
    page = bounded.sql(f"FROM range({ROWS_MAX})")
    assert (len(page.rows), page.truncated) == (ROWS_MAX, False)


# Who may wait without a bound, and why.
ENDLESS = {
    "projections/recall/deadlines.py: self.calls.get()": "an idle thread; the queue bounds calls",
    "src/mnemolog/recording.py: self._waiting.get()": "the recorder's thread; close ends it",
    "streams/kafka_log.py: news.wait()": "within asyncio.wait_for, which has the bound",
    "streams/group_commit.py: waiting.result()": "done already: the commit has a deadline",
    "src/mnemolog/async_memory.py: opening.result()": "done already: it is a callback's",
    "src/mnemolog/service/lanes.py: running.result()": "done already: asyncio.wait has the bound",
    "src/mnemolog/working.py: tending.join()": "within Tending.join, which has the bound",
    "streams/app.py: stopping.wait()": "a worker runs until it is told to stop",
}


def endless_waits(source):
    """Return the calls in *source* that may wait for ever."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return {
        ast.unparse(call)
        for call in calls
        if isinstance(call.func, ast.Attribute)
        and call.func.attr in {"wait", "join", "result", "get"}
        and not call.args
        and not call.keywords
    }


def test_law_13_an_endless_wait_is_found():
    assert endless_waits("thread.join()\nqueue.get()\nfuture.result()\nevent.wait()")
    assert not endless_waits("','.join(x)\nqueue.get(timeout=1)\nevent.wait(2)\nd.get('x')")


def test_law_13_nothing_waits_for_ever_but_what_has_a_reason():
    found = {
        f"{name_of(path)}: {call}"
        for path in python_files(*SOURCE_FOLDERS)
        for call in endless_waits(path.read_text())
    }
    assert found == ENDLESS.keys(), "give it a bound with a name, or the reason above"
