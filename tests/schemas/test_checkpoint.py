"""A checkpoint is a whole state; its task's nodes are a tree; it has words to be found by."""

import pytest
from hypothesis import given
from pydantic import ValidationError

from mnemolog.schemas.checkpoint import Checkpoint, TaskState, embedding_text, prompt_summary
from mnemolog.schemas.codec import build
from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.events.experience import CheckpointSaved
from mnemolog.schemas.values import json_bytes, parse_json
from support.checkpoints import checkpoint, checkpoints


@given(checkpoints())
def test_a_checkpoint_comes_back_from_its_json(saved):
    dumped = json_bytes(saved.model_dump(mode="json"))
    assert Checkpoint.model_validate(parse_json(dumped)) == saved


@pytest.mark.parametrize("field", ["id", "timestamp", "agent", "current_goal", "plan_summary"])
def test_five_fields_are_required(field):
    whole = checkpoint().model_dump(mode="json")
    del whole[field]
    with pytest.raises(InvalidEvent, match="required") as caught:
        build(CheckpointSaved, {"checkpoint": whole})
    assert caught.value.field == f"checkpoint.{field}"


def test_an_embedding_is_never_in_the_event():
    whole = {**checkpoint().model_dump(mode="json"), "embedding": [0.1]}
    with pytest.raises(InvalidEvent, match="None") as caught:
        build(CheckpointSaved, {"checkpoint": whole})
    assert caught.value.field == "checkpoint.embedding"


# The tree


def state(*nodes, **fields):
    return TaskState(task_id="t", nodes=tuple(nodes), **fields)


def node(name, parent=None, **fields):
    return {"id": name, "title": name, "parent": parent, **fields}


def test_nodes_may_come_in_any_order_and_have_several_roots():
    found = state(node("c", "b"), node("b", "a"), node("a"), node("root-2"), current_node="c")
    assert [one.id for one in found.nodes] == ["c", "b", "a", "root-2"]


@pytest.mark.bad_input(33)
@pytest.mark.parametrize(
    ("nodes", "fields", "fault"),
    [
        ([node("a"), node("a")], {}, "two nodes have one id"),
        ([node("a", "b"), node("b", "a")], {}, "cycle through"),
        ([node("a", "a")], {}, "cycle through 'a'"),
        ([node("x"), node("a", "b"), node("b", "c"), node("c", "b")], {}, "cycle through 'b'"),
        ([node("a", "z")], {}, "no node 'z'"),
        ([node("a")], {"current_node": "z"}, "no node 'z'"),
        ([node("a")], {"completed": ["a", "y"]}, "no node 'y'"),
        ([node("a")], {"blocked": ["y"]}, "no node 'y'"),
        ([node("a", status="blocked")], {}, "a blocked node has a reason"),
        ([node("a", blocked_reason="why")], {}, "no other has one"),
        ([node("a", status="paused")], {}, "todo"),
        ([node("a", colour="red")], {}, "not permitted"),
    ],
)
def test_what_is_no_tree_is_refused_with_the_node(nodes, fields, fault):
    with pytest.raises(ValidationError, match=fault):
        state(*nodes, **fields)


def test_a_chain_of_as_many_nodes_as_are_allowed_is_checked_in_one_walk():
    chain = [node(str(n), str(n + 1) if n < 4_095 else None) for n in range(4_096)]
    assert len(state(*chain).nodes) == 4_096
    with pytest.raises(ValidationError, match="4096"):
        state(*chain, node("one-more"))


# Words


def test_the_words_by_which_it_is_found_are_labelled_parts_in_order():
    whole = checkpoint(
        agent="ops-1",
        current_goal="Build auth",
        plan_summary="Schema first",
        current_sub_goal="Tokens",
        key_observations=["pool full", "keys rotate"],
        decision_rationale="RS256 rotates",
        self_reflection="Too fast",
        tags=["auth", "jwt"],
    )
    assert embedding_text(whole) == (
        "Agent: ops-1. Overall goal: Build auth. Current plan: Schema first. Sub-goal: Tokens. "
        "Key observations: pool full; keys rotate. Decision rationale: RS256 rotates. "
        "Self-reflection: Too fast. Tags: auth, jwt"
    )


def test_what_is_empty_or_blank_is_left_out_of_the_words():
    bare = checkpoint(
        current_sub_goal="", self_reflection=" \u3000\u200b", key_observations=["", "seen"]
    )
    assert embedding_text(bare) == (
        "Agent: ops-1. Overall goal: go. Current plan: step. Key observations: seen"
    )


def test_the_summary_is_one_line_with_each_part_cut():
    long = checkpoint(
        timestamp="2030-01-02T03:04:59+08:00",
        current_goal="g" * 60,
        plan_summary="p\n" * 60,
        self_reflection="👩‍👩‍👧‍👦" * 120,
    )
    moment, goal, plan, reflection = prompt_summary(long).split(" | ")
    assert moment == "2030-01-01 19:04"
    assert goal == "goal: " + "g" * 49 + "…"
    assert plan == "plan: " + "p " * 34 + "p…"
    assert reflection == "reflection: " + "👩‍👩‍👧‍👦" * 99 + "…"


def test_a_summary_without_a_reflection_ends_with_the_plan():
    assert prompt_summary(checkpoint()) == "2030-01-01 00:00 | goal: go | plan: step"
    assert prompt_summary(checkpoint(self_reflection=" ")) == prompt_summary(checkpoint())
    labels = ("目标:", "计划:", "反思:")
    chinese = prompt_summary(checkpoint(self_reflection="慢"), labels=labels)
    assert chinese == "2030-01-01 00:00 | 目标:go | 计划:step | 反思:慢"
