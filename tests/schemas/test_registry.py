"""Each type has one model; what all models keep."""

import pytest

from mnemolog.schemas.events import ALL_EVENTS
from mnemolog.schemas.events.experience import TaskStarted
from mnemolog.schemas.registry import Registry, built_in

PARTICIPLES = [
    "started",
    "ended",
    "progressed",
    "phase-changed",
    "blocked",
    "paused",
    "resumed",
    "completed",
    "abandoned",
    "changed",
    "recorded",
    "exchanged",
    "made",
    "finished",
    "measured",
    "given",
    "requested",
    "saved",
    "formed",
    "recalled",
    "used",
    "linked",
    "summarised",
    "superseded",
    "pinned",
    "importance-changed",
    "found",
    "settled",
    "consolidated",
    "archived",
    "forgotten",
    "learned",
    "erased",
    "skipped",
    "advanced",
]


def test_a_second_model_for_a_type_is_refused_and_both_are_named():
    class Other(TaskStarted):
        pass

    registry = Registry([TaskStarted])
    with pytest.raises(ValueError, match=r"task\.started is registered already, as TaskStarted"):
        registry.register(Other)


def test_what_is_registered_is_found_and_nothing_else():
    assert built_in().get("task.started") is TaskStarted
    assert built_in().get("dream.dreamt") is None
    assert built_in().events() == ALL_EVENTS


@pytest.mark.parametrize("event", ALL_EVENTS, ids=lambda event: event.event_type)
def test_an_event_is_a_closed_frozen_fact_in_the_past_tense(event):
    assert event.event_type.split(".", 1)[1] in PARTICIPLES
    assert event.event_version >= 1
    assert event.model_config["frozen"]
    assert event.model_config["extra"] == "forbid"
    assert event.__doc__
    assert {"tags", "model_use"} <= event.model_fields.keys()


def test_no_type_is_there_twice():
    types = [event.event_type for event in ALL_EVENTS]
    assert len(types) == len(set(types))
