"""What comes first: relevance, recency, importance, weight, and what is outdated."""

from dataclasses import replace

from mnemolog.schemas.positions import Position
from support.asking import (
    DAY,
    FRIDAY,
    HASHING,
    NOW,
    POOL,
    TEAM,
    FixedWeight,
    FixedWeights,
    ask,
    ids,
)
from support.in_memory_reader import InMemoryReader, embedded, memory_row


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
