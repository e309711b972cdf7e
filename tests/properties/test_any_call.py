"""Whatever a verb that appends is handed, it appends or refuses, and its neighbours are there."""

import inspect
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.schemas.events import ALL_EVENTS
from mnemolog.scope import Scope
from support import nasty
from support.any_event import events
from support.any_history import examples, pools
from support.surviving import survivor

VERBS = (
    *("observe", "message", "plan", "decide", "feedback", "remember", "used", "pin"),
    *("forget", "checkpoint", "append", "act"),
)
KNOWN = ("e-1", "mem_" + "0" * 32, "0" * 32)
SOUND: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(("data", "arguments", "intermediate_results", "fields"), nasty.objects),
    **dict.fromkeys(("score", "confidence", "importance"), st.sampled_from([0, 0.5, 1, -1.0])),
    **dict.fromkeys(("occurred_at", "valid_from", "valid_until"), nasty.times),
    **dict.fromkeys(("success", "pinned", "costly"), st.booleans()),
    **dict.fromkeys(("because", "refs", "memories"), st.lists(st.sampled_from(KNOWN), max_size=3)),
    **dict.fromkeys(
        ("steps", "alternatives", "key_observations", "entities", "tags"),
        st.lists(nasty.texts, max_size=3),
    ),
    "stated_by": st.sampled_from(["user", "tool", "agent"]),
    "role": st.sampled_from(["user", "assistant", "system", "tool"]),
    "target_kind": st.sampled_from(["event", "memory", "decision"]),
    "event": st.sampled_from([*ALL_EVENTS, *(model.event_type for model in ALL_EVENTS)]),
    "model_use": st.fixed_dictionaries(
        {"model": nasty.names}, optional={"cost_usd": nasty.numbers}
    ),
    "task_state": st.fixed_dictionaries(
        {"task_id": nasty.names}, optional={"variables": nasty.objects, "nodes": nasty.json}
    ),
}
NAMED = ("agent", "user", "project", "session", "task", "phase", "id", "source", "correlation")


def handed(name: str) -> st.SearchStrategy[Any]:
    """Return what a keyword is handed: mostly of its kind, now and then anything."""
    kind = SOUND.get(name, nasty.names if name in NAMED else nasty.texts)
    return st.integers(0, 9).flatmap(lambda chance: nasty.anything if chance == 0 else kind)


@st.composite
def calls(draw: st.DrawFn, verb: Any) -> tuple[list[Any], dict[str, Any]]:
    """Draw the arguments of a call of *verb*."""
    by_place: list[Any] = []
    by_name: dict[str, Any] = {}
    for parameter in inspect.signature(verb).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            by_place += draw(st.lists(nasty.ids | st.sampled_from(KNOWN), max_size=2))
        elif parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            by_place.append(draw(handed(parameter.name)))
        elif parameter.kind is parameter.KEYWORD_ONLY and (
            parameter.default is parameter.empty or draw(st.booleans())
        ):
            by_name[parameter.name] = draw(handed(parameter.name))
    few = draw(st.lists(st.sampled_from(sorted(Scope.__annotations__)), max_size=2, unique=True))
    by_name |= {name: draw(handed(name)) for name in few}
    return by_place, by_name


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    with survivor(tmp_path_factory.mktemp("any-call")) as survived:
        yield survived
        survived.settles()


@pytest.mark.parametrize("verb", VERBS)
@examples(12)
@given(data=st.data())
def test_whatever_is_handed_to_a_verb_is_appended_or_refused(one, verb, data):
    by_place, by_name = data.draw(calls(getattr(one.memory, verb)))
    with one.handed() as mem:
        call = getattr(mem, verb)
        if verb == "act":
            with call(*by_place, **by_name) as action:
                action.result, action.data = data.draw(nasty.texts), data.draw(nasty.objects)
            appended = action.finished
        else:
            appended = call(*by_place, **by_name)
        mem.wait_for(appended.token)  # and no projection has parked it


WHOLE = st.sampled_from(ALL_EVENTS).flatmap(lambda model: events(model, pools()))


@st.composite
def spoilt(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """Draw the fields of an event, of which some were changed, dropped or added."""
    event = draw(WHOLE)
    fields = event.model_dump(mode="json")
    for _ in range(draw(st.integers(1, 3))):
        at: Any = fields
        while isinstance(inner := at.get(draw(st.sampled_from(sorted(at)))) if at else None, dict):
            at = inner
        name = draw(st.sampled_from(sorted(at) or ["new"]) | nasty.texts)
        if draw(st.booleans()):
            at[name] = draw(nasty.anything)
        else:
            at.pop(name, None)
    return event.event_type, fields


@examples(40)
@given(told=spoilt())
def test_an_event_of_any_type_with_anything_in_it_is_appended_or_refused(one, told):
    with one.handed() as mem:
        mem.wait_for(mem.append(*told).token)
