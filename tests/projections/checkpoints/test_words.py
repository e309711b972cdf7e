"""What an event says in one line, and by which of its texts it can be forgotten."""

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.projections.checkpoints.words import (
    _FIELDS,
    SUMMARY_CHARACTERS_MAX,
    summary,
    text_handle,
    texts,
)
from mnemolog.schemas.events import ALL_EVENTS
from mnemolog.schemas.events.experience import (
    ActionFinished,
    ActionStarted,
    CheckpointSaved,
    ContextMeasured,
    MessageExchanged,
    TaskCompleted,
)
from mnemolog.schemas.events.memory import MemoryForgotten
from support.checkpoints import checkpoint


def test_every_type_of_ours_says_what_it_says():
    assert {event.event_type for event in ALL_EVENTS} == _FIELDS.keys()
    for event in ALL_EVENTS:
        assert set(_FIELDS[event.event_type]) <= event.model_fields.keys()


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (TaskCompleted(outcome="done", lesson="measure"), "done · measure"),
        (TaskCompleted(outcome="done"), "done"),
        (
            ActionStarted(action="a", tool="bash", arguments={"b": 1, "a": "好"}),
            'bash {"a":"好","b":1}',
        ),
        (ActionStarted(action="a", tool="bash", raw="not json"), "bash not json"),
        (ActionFinished(action="a", success=False, error="boom", result="half"), "boom · half"),
        (ContextMeasured(used_tokens=9, limit_tokens=10), "9 / 10"),
        (CheckpointSaved(checkpoint=checkpoint()), "go · step"),
        (MessageExchanged(role="user", text="a\n\n  b"), "a b"),
        (MemoryForgotten(texts=["my PIN"]), ""),
    ],
)
def test_an_event_is_one_line(event, line):
    assert summary(event) == line


@given(st.text(max_size=3_000))
def test_a_line_is_short_and_whole_in_every_character(text):
    line = summary(MessageExchanged(role="user", text=text))
    assert "\n" not in line
    assert len(regex.findall(r"\X", line)) <= SUMMARY_CHARACTERS_MAX


def test_a_family_is_never_cut_in_two():
    family = "👩‍👩‍👧‍👦"
    line = summary(
        MessageExchanged(role="user", text="好" * (SUMMARY_CHARACTERS_MAX - 2) + family * 3)
    )
    assert line.endswith(("好…", family + "…"))


def test_texts_that_look_alike_have_one_handle():
    assert text_handle("caf\u00e9  au\nlait") == text_handle("cafe\u0301 au lait")
    assert text_handle("a") != text_handle("b")


def test_the_parts_of_a_checkpoint_are_texts_of_its_event():
    event = CheckpointSaved(
        checkpoint=checkpoint(key_observations=["seen", ""], self_reflection="hm")
    )
    assert {"go", "step", "seen", "hm"} < set(texts(event))
    assert "" not in texts(event)


@pytest.mark.parametrize(
    "event",
    [
        TaskCompleted(outcome="done", lesson=" \n"),
        ActionStarted(action="a", tool="bash", arguments={"cmd": "\t"}),
        CheckpointSaved(checkpoint=checkpoint("c1", self_reflection=" \n")),
    ],
)
def test_nothing_is_forgotten_by_what_it_leaves_blank(event):
    assert text_handle(" ") not in map(text_handle, texts(event))
