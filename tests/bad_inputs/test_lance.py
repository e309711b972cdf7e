"""The index of memories: values like conditions, many writers, shapes, growth, Chinese."""

import threading

import pytest

from mnemolog.doctor import examine
from mnemolog.projections.memories.lance_maintenance import LanceMaintenance
from mnemolog.projections.memories.lance_schema import ROW_COLUMNS
from mnemolog.status import status
from support.remembering import opened, texts

LIKE_CONDITIONS = (
    "o'brien",
    "x' OR '1'='1",
    "x' OR 1=1 --",
    "'; DELETE FROM memories; --",
    "') OR true OR ('",
    '" OR "1"="1',
    "` = `",
    "a\\' OR true --",
    "%",
    "_",
    "*",
    "NULL",
    "true",
    "''",
)


@pytest.fixture
def mem():
    with opened(agent="ops-1") as memory:
        yield memory


@pytest.mark.bad_input(57)
@pytest.mark.parametrize("how", ["its event", "its memory", "its id"])
def test_forgetting_one_odd_id_takes_one_row_away(mem, how):
    said = {name: mem.observe(f"lamp {n}", id=name) for n, name in enumerate(LIKE_CONDITIONS)}
    mem.wait_for(mem.end())
    for name in LIKE_CONDITIONS:
        one = said.pop(name)
        what = {"its event": one, "its memory": one.memory_id, "its id": name}[how]
        mem.wait_for(mem.forget(what).token)
        kept = {memory.provenance.event_id for memory in mem.recall("lamp", hits_max=50)}
        assert kept == set(said)
        assert mem.sql("SELECT count(*) FROM observations WHERE NOT forgotten").rows == [
            (len(said),)
        ]


@pytest.mark.bad_input(57, 59)
@pytest.mark.parametrize("word", ["agent", "user", "project", "session", "task"])
def test_a_name_that_looks_like_a_condition_lets_through_its_own_alone(mem, word):
    for name in LIKE_CONDITIONS:
        mem.remember(f"lamp of {name}", **{word: name}, tags=["t", name])
    mem.remember("lamp of nobody", **{word: "somebody else"})
    mem.wait_for(mem.end())
    for name in LIKE_CONDITIONS:
        for where in ({word: name}, {"tags": [name]}, {"tags": ["t", name]}):
            found = mem.recall("lamp", hits_max=50, **where)
            assert (texts(found), found.missing) == ([f"lamp of {name}"], ())
        if word in {"agent", "session", "task", "project"}:
            assert len(mem.timeline(**{word: name})) == 1


@pytest.mark.bad_input(59)
def test_what_a_filter_lets_through_is_what_a_full_scan_finds(mem):
    kinds, tags = ("fact", "Fact", "FACT", "user.name", "a b"), ("x", "X", "x.y", "é")
    for n in range(40):
        mem.remember(
            f"lamp {n}",
            kind=kinds[n % 5],
            tags=tags[: n % 5],
            importance=n % 11 / 10,
            session=f"s{n % 3}",
            agent="agentId" if n % 2 else "agentid",
        )
    mem.wait_for(mem.end())
    rows = mem.sql("SELECT memory, agent, session, kind, tags, importance FROM memories").rows
    assert len(rows) == 40
    for agent in (None, "agentId", "agentid", "AGENTID"):
        for kind in ((), ("fact",), ("Fact", "user.name"), ("fACT",)):
            for wanted in ((), ("x",), ("x", "X"), ("é",), ("none",)):
                found = mem.recall(
                    "lamp", agent=agent, kinds=kind, tags=wanted, importance_min=0.3, hits_max=50
                )
                scan = {
                    memory
                    for memory, whose, _, what, has, importance in rows
                    if agent in {None, whose}
                    and (not kind or what in kind)
                    and set(wanted) <= set(has)
                    and importance >= 300
                }
                assert {memory.id for memory in found} == scan


@pytest.mark.bad_input(59)
def test_no_column_of_the_index_needs_quotes():
    assert all(name.islower() and name.isidentifier() for name in ROW_COLUMNS)


@pytest.mark.bad_input(67)
@pytest.mark.parametrize("partitions", [1, 4])
def test_two_hundred_threads_lose_nothing_and_hear_of_no_conflict(partitions):
    errors = []
    with opened(partitions=partitions) as mem:
        mem.observe("the index is made", agent="first")

        def append(number):
            try:
                said = mem.observe(f"lamp {number}", agent=f"agent-{number % 7}")
                if number % 10 == 0:
                    mem.recall(f"lamp {number}", after=said.token)
            except Exception as error:  # noqa: BLE001 - none is expected
                errors.append(error)

        threads = [threading.Thread(target=append, args=(n,)) for n in range(200)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        mem.wait_for(mem.end(), vectors=True)
        assert mem._readers.memories().counts()["memories"] == 201
        assert mem.sql("SELECT count(*), count(DISTINCT memory) FROM memories").rows == [(201, 201)]
        assert mem.sql("SELECT count(*) FROM observations").rows == [(201,)]


@pytest.mark.bad_input(69)
@pytest.mark.parametrize("first", [["", "\u3000"], ["data:image/png;base64," + "A" * 400] * 3])
def test_rows_without_vectors_may_come_first(mem, first):
    for text in first:
        last = mem.observe(text)
    mem.wait_for(last.token, vectors=True)
    mem.recall("anything")
    last = mem.observe("the lamp of room 11 is on")
    mem.wait_for(last.token, vectors=True)
    assert texts(mem.recall("lamp"))[0] == "the lamp of room 11 is on"


def failing(monkeypatch, *, times):
    """Let compaction fail so many *times*, and be due at every look."""
    left, truth = [times], LanceMaintenance._compact

    def compact(self, table):
        if left[0]:
            left[0] -= 1
            raise OSError(28, "No space left on device")
        truth(self, table)

    monkeypatch.setattr(LanceMaintenance, "_compact", compact)
    monkeypatch.setattr(LanceMaintenance, "_is_grown", lambda _self, _table: True)


def looked_after(mem, *, times):
    """Let maintenance have its turn so many *times*, as a follow-up between two batches."""
    with mem.engine.dispatcher.paused() as projector:
        (memories,) = (one for one in projector.projections if one.name == "memories")
        for _ in range(times):
            memories.maintenance._look_at = 0.0
            memories.maintenance.run_if_due()
        return memories.maintenance.failures


@pytest.mark.bad_input(71)
def test_maintenance_that_fails_shows_and_stops_nothing(tmp_path, monkeypatch):
    with opened(tmp_path, agent="ops-1") as mem:
        mem.wait_for(mem.observe("lamp 1").token, vectors=True)
        failing(monkeypatch, times=1_000_000)
        assert looked_after(mem, times=3) >= 3
        with opened(tmp_path, read_only=True) as beside:  # another process would see the same
            for one in (mem, beside):
                index = status(one.engine).index
                assert index.failures >= 3
                assert "No space left" in index.error
                assert index.bytes > 0
                (finding,) = (f for f in examine(one.engine) if f.check == "index")
                assert (finding.state, "times in a row" in finding.detail) == ("bad", True)
                assert finding.advice
        mem.wait_for(mem.observe("lamp 2").token, vectors=True)
        assert sorted(texts(mem.recall("lamp"))) == ["lamp 1", "lamp 2"]


@pytest.mark.bad_input(71)
def test_maintenance_that_works_again_says_so_and_size_is_watched(mem, monkeypatch):
    mem.wait_for(mem.observe("lamp 1").token, vectors=True)
    failing(monkeypatch, times=3)
    looked_after(mem, times=3)
    assert status(mem.engine).index.failures == 3
    looked_after(mem, times=1)
    index = status(mem.engine).index
    assert (index.failures, index.error) == (0, None)
    assert 0 < index.live_bytes <= index.bytes
    (finding,) = (f for f in examine(mem.engine) if f.check == "index")
    assert finding.state == "ok"
    monkeypatch.setattr("mnemolog.doctor.index.SMALL_BYTES", 0)
    monkeypatch.setattr("mnemolog.doctor.index.TIMES_MAX", 1)
    (finding,) = (f for f in examine(mem.engine) if f.check == "index")
    assert finding.state == "look"
    assert "rebuild" in finding.advice


CHINESE = {
    "把机器推论洗成权威事实": (
        "权威事实",
        "机器推论",
        "权威",
        "事实",
        "推论洗成",
        "机器",
        "把机器推论洗成权威事实",
    ),
    "他在码头买了三条鲈鱼和一袋海盐。": ("鲈鱼", "海盐", "三条鲈鱼", "码头", "一袋海盐"),
    "數據庫連接池已經耗盡": ("連接池", "數據庫", "耗盡"),
    "会议改到周五下午3点在A栋302室": ("周五下午", "302室", "A栋", "会议"),
}


@pytest.mark.bad_input(73)
def test_any_word_of_a_chinese_text_finds_it(mem):
    for text in CHINESE:
        mem.remember(text)
    mem.remember("Nothing Chinese is in here.")
    mem.wait_for(mem.end())
    for text, words in CHINESE.items():
        for word in words:
            found = mem.recall(word, explain=True)
            assert found[0].text == text, word
            assert found[0].scores["lexical"] > 0
