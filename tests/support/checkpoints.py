"""Checkpoints and their projection for tests: any checkpoint there may be, and folders of some."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from contracts.projecting import place_in, settle
from mnemolog.projections.checkpoints.projection import CheckpointsProjection
from mnemolog.projections.checkpoints.reading import CheckpointReader
from mnemolog.schemas.checkpoint import Checkpoint
from mnemolog.schemas.events import Event
from mnemolog.schemas.events.experience import CheckpointSaved
from mnemolog.schemas.ids import check_name
from mnemolog.schemas.limits import TIME_MAX, TIME_MIN
from support.histories import AGENT, START, Happened, batches, happened, recorded


def checkpoint(checkpoint_id: str = "c1", **fields: Any) -> Checkpoint:
    """Return a checkpoint that says little, but for *fields*."""
    needed = {"timestamp": START, "agent": AGENT, "current_goal": "go", "plan_summary": "step"}
    return Checkpoint(id=checkpoint_id, **{**needed, **fields})


def saved(
    checkpoint_id: str = "c1", *, agent: str = AGENT, task: str | None = "t1", **fields: Any
) -> Happened:
    """Return the event that saved such a checkpoint of *agent*."""
    event = CheckpointSaved(checkpoint=checkpoint(checkpoint_id, agent=agent, **fields))
    return happened(event, agent=agent, event_id=f"saved-{agent}-{checkpoint_id}", task=task)


def fold(folder: Path, *events: Event | Happened, partitions: int = 1) -> Path:
    """Return the generation's folder after *events*, closed and swept."""
    projection = CheckpointsProjection.open(place_in(folder))
    for batch in batches(recorded(*events, partitions=partitions), partitions=partitions):
        projection.apply(batch)
    settle(projection)
    projection.close()
    return place_in(folder).folder


@contextmanager
def reader(
    folder: Path, *events: Event | Happened, partitions: int = 1
) -> Iterator[CheckpointReader]:
    """Yield a reader of what *events* gave."""
    opened = CheckpointReader.open(fold(folder, *events, partitions=partitions))
    yield opened
    opened.close()


def files(generation: Path) -> list[str]:
    """Return the names of the snapshot files."""
    folder = generation / "files"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def _is_name(text: str) -> bool:
    try:
        check_name(text, field="name")
    except Exception:  # noqa: BLE001 - whatever is refused is no name
        return False
    return True


_plain = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
_said = _plain.map(lambda text: text + "x")
_name = _plain.filter(_is_name)
_scalar = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
)
_json = st.recursive(
    _scalar | _plain,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_plain, inner, max_size=3),
    max_leaves=8,
)
_map = st.dictionaries(_plain, _json, max_size=3)
_id = st.from_regex(r"[a-z0-9:/.-]{1,20}", fullmatch=True)
_times = st.datetimes(TIME_MIN.replace(tzinfo=None), TIME_MAX.replace(tzinfo=None, year=2199))
_maybe = st.none() | _plain


@st.composite
def _task_states(draw: st.DrawFn) -> dict[str, Any]:
    ids = draw(st.lists(_id, unique=True, max_size=4))
    nodes = [
        {
            "id": node,
            "title": draw(_said),
            "status": (status := draw(st.sampled_from(["todo", "running", "done", "blocked"]))),
            "blocked_reason": draw(_plain) if status == "blocked" else None,
            "parent": draw(st.sampled_from([None, *ids[:number]])),
        }
        for number, node in enumerate(ids)
    ]
    some = st.lists(st.sampled_from(ids), unique=True) if ids else st.just([])
    action = {"action": draw(_id), "tool": draw(_said), "arguments": draw(_map)}
    return {
        "task_id": draw(_name),
        "nodes": nodes,
        "current_node": draw(st.sampled_from([None, *ids])),
        "completed": draw(some),
        "blocked": draw(some),
        "variables": draw(_map),
        "pending_actions": draw(st.sampled_from([[], [action | {"note": draw(_maybe)}]])),
        "last_tool_calls": draw(
            st.sampled_from([[], [action | {"result": "ok", "success": True}]])
        ),
        "working_memory": draw(_map),
        "tokens": {"used": draw(st.integers(0, 2**63 - 1)), "limit": draw(st.none() | st.just(9))},
        "iterations": draw(st.integers(0, 2**40)),
        "state": draw(
            st.none()
            | st.fixed_dictionaries(
                {"state_schema": _name, "state_version": st.integers(1, 9), "values": _map}
            )
        ),
    }


@st.composite
def checkpoints(draw: st.DrawFn) -> Checkpoint:
    """Draw a checkpoint of which any field may be filled."""
    return Checkpoint(
        id=draw(_id),
        timestamp=draw(_times),
        agent=draw(_name),
        current_goal=draw(_said),
        plan_summary=draw(_said),
        current_sub_goal=draw(_maybe),
        key_observations=draw(st.lists(_plain, max_size=3)),
        decision_rationale=draw(_maybe),
        intermediate_results=draw(_map),
        self_reflection=draw(_maybe),
        parent=draw(st.none() | _id),
        tags=draw(st.lists(_name, max_size=3)),
        task_state=draw(st.none() | _task_states()),
    )
