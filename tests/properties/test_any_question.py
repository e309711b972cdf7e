"""Whatever is asked, in whatever words and with whatever filters, is answered or refused."""

import inspect
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.asking import Asked
from support import nasty
from support.any_history import examples
from support.surviving import refusing, survivor

VERBS = (
    *("get", "memory", "event", "history", "why", "resume", "timeline", "checkpoints", "saved"),
    "wait_for",
)
LISTS = st.lists(nasty.names, max_size=3)
SOUND: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(("at", "as_of", "occurred_from", "occurred_until"), nasty.times),
    **dict.fromkeys(("kinds", "tags", "projections"), LISTS | st.just(["episode", "fact"])),
    **dict.fromkeys(("hits_max", "tokens_max", "rows_max"), st.integers(0, 60) | nasty.numbers),
    **dict.fromkeys(("explain", "include_outdated", "vectors", "whole"), st.booleans()),
    "importance_min": st.floats(0, 1) | nasty.numbers,
    "focus": st.sampled_from(["balanced", "constraints"]) | nasty.texts,
    "timeout_seconds": st.sampled_from([0, 0.01, 5, True, -1, float("nan"), "5"]),
}
QUESTIONS = st.sampled_from(["the pool", "连接池", "why?", "INC-21234", "lamp lamp"]) | nasty.texts


def handed(name: str, known: tuple[str, ...]) -> st.SearchStrategy[Any]:
    kind = SOUND.get(name, nasty.names | st.sampled_from(known))
    return st.integers(0, 9).flatmap(lambda chance: nasty.anything if chance == 0 else kind)


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    with survivor(tmp_path_factory.mktemp("any-question")) as survived:
        yield survived


@pytest.fixture(scope="module")
def known(one):
    """Return the names of a small history that there is to ask about."""
    mem = one.memory
    said = mem.observe("the pool of db-7 is full", session="s1", task="t1", id="o'brien")
    decided = mem.decide("raise it", because=[said], session="s1", task="t1")
    saved = mem.checkpoint("mend the pool", plan_summary="raise it", task="t1")
    mem.remember("连接池满了", tags=["pool"], importance=1, agent="卡尔", user="u1")
    mem.wait_for(mem.end())
    mem.sql("SELECT 1")
    return ("o'brien", decided.id, saved.id, said.memory_id, "ops-1", "s1", "t1", "卡尔", "pool")


def unchanged(one, ask):
    """Ask, and see that nothing was appended by it."""
    before = one.memory.engine.log.ends()
    with refusing():
        answer = ask()
        assert one.memory.engine.log.ends() == before
        return answer
    assert one.memory.engine.log.ends() == before
    return None


@examples(60)
@given(data=st.data())
def test_any_question_with_any_filter_is_answered_or_refused(one, known, data):
    names = [
        n for n in inspect.signature(one.memory.recall).parameters if n not in {"after", "where"}
    ]
    keywords = st.lists(st.sampled_from([*names[1:], *Asked.__annotations__]), max_size=3)
    where = {name: data.draw(handed(name, known)) for name in data.draw(keywords)}
    question = data.draw(QUESTIONS)
    answer = unchanged(one, lambda: one.memory.recall(question, **where))
    if answer is not None:
        expected = ("timed out", "the question has no vector: blank")
        assert all(missing.endswith(expected) for missing in answer.missing), answer.missing
        answer.text.encode()
        assert len(answer) <= 50


@pytest.mark.parametrize("verb", VERBS)
@examples(15)
@given(data=st.data())
def test_whatever_is_asked_of_a_verb_is_answered_or_refused(one, known, verb, data):
    by_place, by_name = [], {}
    for parameter in inspect.signature(getattr(one.memory, verb)).parameters.values():
        if parameter.name in {"after", "tell"}:
            continue
        if parameter.name == "token":
            by_place.append(data.draw(st.just(one.memory.end()) | nasty.anything))
        elif parameter.default is parameter.empty:
            by_place.append(data.draw(handed(parameter.name, known)))
        elif data.draw(st.booleans()):
            by_name[parameter.name] = data.draw(handed(parameter.name, known))
    unchanged(one, lambda: getattr(one.memory, verb)(*by_place, **by_name))


WORDS = (
    *(
        "SELECT",
        "FROM",
        "WHERE",
        "*",
        "events",
        "memories",
        "count(*)",
        "GROUP BY ALL",
        ",",
        "(",
        ")",
    ),
    *(
        "'",
        '"',
        ";",
        "--",
        "/*",
        "?",
        "$1",
        "=",
        "OR",
        "1",
        "NULL",
        "data->>'a'",
        "::VARCHAR",
        "UNION",
    ),
    *("read_csv('/etc/passwd')", "read_text('x')", "glob('*')", "getenv('HOME')", "'/tmp/x.csv'"),
    *(
        "COPY",
        "TO",
        "ATTACH 'x.db'",
        "INSTALL httpfs",
        "LOAD",
        "PRAGMA database_list",
        "SET",
        "DROP",
    ),
    *(
        "TABLE",
        "INSERT INTO",
        "CREATE",
        "EXPORT DATABASE 'x'",
        "WITH RECURSIVE",
        "EXPLAIN",
        "DESCRIBE",
    ),
)
STATEMENTS = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join),
    st.lists(st.sampled_from(WORDS), max_size=5).map(
        lambda w: "SELECT * FROM events " + " ".join(w)
    ),
    nasty.texts,
    st.sampled_from(["(" * 5_000, "SELECT " + "(" * 2_000 + "1" + ")" * 2_000, "SELECT 1" * 500]),
    nasty.anything,
)


@examples(60)
@given(statement=STATEMENTS, parameters=st.lists(nasty.anything, max_size=2) | nasty.anything)
def test_any_statement_with_any_parameters_is_answered_or_refused(
    one, known, statement, parameters
):
    def ask():
        return one.memory.sql(statement, parameters=parameters, fresh=False)

    before = one.memory.sql("SELECT count(*) FROM events", fresh=False).rows
    unchanged(one, ask)
    assert one.memory.sql("SELECT count(*) FROM events", fresh=False).rows == before


def test_what_was_asked_cost_no_neighbour(one, known):
    with one.handed():
        pass
    one.settles()
