"""The chain of steps from old versions to the current one has no gap and no loose step."""

import pytest

from mnemolog.schemas.events import ALL_EVENTS
from mnemolog.schemas.events.base import Event
from mnemolog.schemas.upcasts import STEPS, Upcasts


class Lamp(Event):
    """A lamp changed."""

    event_type = "lamp.changed"
    event_version = 3


STEPS_OF_A_LAMP = {
    ("lamp.changed", 1): lambda data: {**data, "second": True},
    ("lamp.changed", 2): lambda data: {**data, "third": True},
}


def test_data_is_lifted_step_by_step_from_where_it_is():
    upcasts = Upcasts(STEPS_OF_A_LAMP, events=[Lamp])
    assert upcasts.lifted("lamp.changed", 1, {}, to_version=3) == {"second": True, "third": True}
    assert upcasts.lifted("lamp.changed", 2, {}, to_version=3) == {"third": True}
    assert upcasts.lifted("lamp.changed", 3, {"a": 1}, to_version=3) == {"a": 1}


def test_a_gap_is_found_at_the_start():
    steps = {key: step for key, step in STEPS_OF_A_LAMP.items() if key[1] != 1}
    with pytest.raises(ValueError, match=r"no step lifts lamp\.changed from version 1"):
        Upcasts(steps, events=[Lamp])


@pytest.mark.parametrize("loose", [("lamp.changed", 3), ("lamp.changed", 0), ("dream.dreamt", 1)])
def test_a_step_that_leads_nowhere_is_found_at_the_start(loose):
    with pytest.raises(ValueError, match="leads nowhere"):
        Upcasts({**STEPS_OF_A_LAMP, loose: lambda data: data}, events=[Lamp])


def test_the_steps_of_our_own_events_are_whole():
    Upcasts(STEPS, events=ALL_EVENTS)
