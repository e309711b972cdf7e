"""How words are let go from an agent's views, and which saved checkpoints hold them. Pure.

A view knows of each event whose words it holds the handles by which these are forgotten: its
identity, its memories' ids and its texts, as the projections judge them.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from mnemolog.projections.checkpoints.words import text_handle
from mnemolog.projections.said import forgotten_by, said_by
from mnemolog.schemas.envelope import RecordedEvent
from mnemolog.schemas.events.memory import MemoryForgotten
from mnemolog.schemas.ids import memory_id
from mnemolog.schemas.limits import MEMORIES_PER_EVENT_MAX
from mnemolog.streams.processors.work_state import (
    HANDLES_MAX,
    RECENT_MAX,
    Note,
    Recent,
    Source,
    View,
)

_HANDLE_CHARACTERS: Final = 16


def sourced(view: View, recorded: RecordedEvent) -> View:
    """Return *view* with what is to be known of the events of which it holds words, and no more."""
    held = set(_held(view))
    known = [source for source in view.sources if source.by in held]
    if recorded.identity in held and recorded.identity not in {source.by for source in known}:
        handles = tuple(_handles(said_by(recorded)))[:HANDLES_MAX]
        known.append(Source(by=recorded.identity, id=recorded.id, handles=handles))
    return view.model_copy(update={"sources": tuple(known)})


def with_recent(view: View, identity: str, sources: tuple[Source, ...]) -> View:
    """Return *view* with the checkpoint of *identity*, filled from *sources*, among the recent."""
    recent = Recent(identity=identity, sources=sources)
    return view.model_copy(update={"recent": (*view.recent, recent)[-RECENT_MAX:]})


def without(view: View, recorded: RecordedEvent) -> tuple[View, list[str]]:
    """Return *view* without what *recorded* forgets, and the recent checkpoints that hold it."""
    event = recorded.event
    assert isinstance(event, MemoryForgotten), "only this forgets"
    texts, memories = set(_handles(forgotten_by(recorded))), set(event.memories)

    def is_gone(source: Source) -> bool:
        ids = {memory_id(source.by, number) for number in range(MEMORIES_PER_EVENT_MAX)}
        return source.by in event.events or bool(texts & {*source.handles} or memories & ids)

    gone = {source.by for source in view.sources if is_gone(source)}
    saved = [one for one in view.recent if any(map(is_gone, one.sources))]
    kept = tuple(one for one in view.recent if one not in saved)
    after = _let_go(view, gone) if gone else view
    return after.model_copy(update={"recent": kept}), [one.identity for one in saved]


def _handles(texts: Iterable[str]) -> Iterator[str]:
    return (text_handle(text).hex()[:_HANDLE_CHARACTERS] for text in texts)


def _held(view: View) -> Iterator[str]:
    """Yield the identities of the events of which *view* holds words."""
    notes = (view.goal, view.plan, *view.observations, *view.decisions, *view.errors)
    yield from (note.by for note in notes if note is not None)
    yield from (step.by for step in view.steps)
    yield from (action.by for action in view.open)
    yield from (action.by for action in view.done)
    yield from (one.started_by for one in view.done if one.started_by is not None)


def _let_go(view: View, gone: set[str]) -> View:
    def kept(notes: tuple[Note, ...]) -> tuple[Note, ...]:
        return tuple(note for note in notes if note.by not in gone)

    change: dict[str, Any] = {
        "goal": None if view.goal and view.goal.by in gone else view.goal,
        "plan": None if view.plan and view.plan.by in gone else view.plan,
        "observations": kept(view.observations),
        "decisions": kept(view.decisions),
        "errors": kept(view.errors),
        "steps": tuple(one for one in view.steps if one.by not in gone),
        "open": tuple(one for one in view.open if one.by not in gone),
        "done": tuple(one for one in view.done if not {one.by, one.started_by} & gone),
        "sources": tuple(one for one in view.sources if one.by not in gone),
    }
    if view.current not in {step.id for step in change["steps"]}:
        change["current"] = None
    return view.model_copy(update=change)
