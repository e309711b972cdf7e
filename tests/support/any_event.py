"""A Hypothesis strategy for each event model of ours, made from its fields' types and bounds.

A model, a field or a bound that is new is drawn without a word here. Ids come from small pools, so
that events meet; what only a whole knows (a task's tree) is told in `_WHOLE`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel
from pydantic.fields import FieldInfo

from mnemolog.projections.kinds import NAMES as PROJECTIONS
from mnemolog.schemas import fields
from mnemolog.schemas.checkpoint import Node, TaskState
from mnemolog.schemas.events import Event
from mnemolog.schemas.events.memory import MemoryForgotten
from support.histories import START

ITEMS_MAX = 2
COUNT_MAX = 2**63 - 1
AMOUNT_MAX = 1e12

WORDS = (
    *("The pool of db-7 is full.", "the  pool of\tdb-7 is full. ", "Never deploy on a Friday!"),
    *("café", "cafe\u0301", "必须在 3 天内完成迁移。", "我更喜欢简短的回答", "好的", "ok, thanks"),
    *("Use RS256 because keys rotate.", "it's \"quoted\"; DROP TABLE events -- \\ ' %", "x" * 700),
    *("\U0001f469\u200d\U0001f4bb", "A1 B2 INC-21234 /etc/hosts 5 ms @ann", "line\nline\r\n\ttab"),
)
_NAMES = ("fact", "constraint", "preference", "concept", "skill", "快", "a name", "x'y")
_WORDS_LIKE_IDS = frozenset({"target", "holds", "superseded_by", "memory"})


@dataclass(frozen=True)
class Pools:
    """What events may name: ids and identities of events, ids of the memories that these form."""

    events: tuple[str, ...]
    identities: tuple[str, ...]
    memories: tuple[str, ...]
    words: tuple[str, ...] = WORDS


def events(model: type[Event], pools: Pools) -> st.SearchStrategy[Event]:
    """Return a strategy for events of *model* that name what is in *pools*."""
    return _Drawn(pools).model(model)


class _Drawn:
    """Strategies for models whose fields name what is in some pools."""

    def __init__(self, pools: Pools) -> None:
        self._pools = pools
        self._words = st.sampled_from(pools.words)
        names = "abAé "
        json = st.recursive(
            st.sampled_from([None, True, 0, -1, 2**64, 1.5, 1e22, 0.1, *pools.words[:3]]),
            lambda inner: (
                st.lists(inner, max_size=ITEMS_MAX)
                | st.dictionaries(st.sampled_from(names), inner, max_size=ITEMS_MAX)
            ),
            max_leaves=4,
        )
        self._json = st.dictionaries(st.sampled_from(names), json, max_size=ITEMS_MAX)

    def model(self, model: type[BaseModel]) -> st.SearchStrategy[Any]:
        needed, more = {}, {}
        for name, field in model.model_fields.items():
            drawn = self._value(field.annotation, name, field.metadata)
            (needed if field.is_required() else more)[name] = drawn
        drawn = st.fixed_dictionaries(needed, optional=more)
        return _WHOLE.get(model, lambda told: told)(drawn).map(model.model_validate)

    def _value(self, annotation: Any, name: str, metadata: list[Any]) -> st.SearchStrategy[Any]:
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin is Annotated:
            return self._value(arguments[0], name, [*metadata, *_flat(arguments[1:])])
        if origin is None:
            return self._scalar(annotation, name, metadata)
        return self._made(origin, arguments, name, metadata)

    def _made(
        self, origin: Any, arguments: tuple[Any, ...], name: str, metadata: list[Any]
    ) -> st.SearchStrategy[Any]:
        if origin is Literal:
            return st.sampled_from(arguments)
        if origin in {Union, UnionType}:
            return st.one_of([self._value(one, name, metadata) for one in arguments])
        if origin is tuple:
            least, most = _bounds(metadata, default=(0, ITEMS_MAX))
            items = self._value(arguments[0], name, [])
            return st.lists(items, min_size=least, max_size=most).map(tuple)
        return self._json if arguments[1] is Any else self._mapping(arguments, name)

    def _mapping(self, arguments: tuple[Any, ...], name: str) -> st.SearchStrategy[Any]:
        keys, values = (self._value(one, name, []) for one in arguments)
        return st.dictionaries(keys, values, max_size=ITEMS_MAX)

    def _scalar(self, kind: Any, name: str, metadata: list[Any]) -> st.SearchStrategy[Any]:
        if issubclass(kind, BaseModel):
            return self.model(kind)
        if kind is str:
            return self._text(name, metadata)
        if kind in {int, float}:
            return _number(kind, metadata)
        moments = st.integers(-(10**9), 10**9)
        when = moments.map(lambda microseconds: START + timedelta(microseconds=microseconds))
        return {bool: st.booleans(), NoneType: st.none(), datetime: when}[kind]

    def _text(self, name: str, metadata: list[Any]) -> st.SearchStrategy[str]:
        checks = [one for one in metadata if isinstance(one, AfterValidator)]
        if _check_of(fields.Name) in checks:
            return st.sampled_from(
                (*PROJECTIONS, "none of ours") if name == "projection" else _NAMES
            )
        if _check_of(fields.Identity) in checks:
            return st.sampled_from(self._pools.identities)
        if _check_of(fields.Id) in checks:
            return self._id(name)
        said = _check_of(fields.Said) in checks
        return self._words if said else self._words | st.sampled_from(["", " \n"])

    def _id(self, name: str) -> st.SearchStrategy[str]:
        memories, named = st.sampled_from(self._pools.memories), st.sampled_from(self._pools.events)
        if name == "target":
            return memories | named
        return memories if "memor" in name or name in _WORDS_LIKE_IDS else named


def _check_of(alias: Any) -> AfterValidator:
    """Return what tells an *alias* of texts from the others: its own check."""
    return next(one for one in get_args(alias) if isinstance(one, AfterValidator))


def _number(kind: type, metadata: list[Any]) -> st.SearchStrategy[Any]:
    if kind is int:
        return st.integers(*_bounds(metadata, default=(0, COUNT_MAX)))
    least, most = _bounds(metadata, default=(0, AMOUNT_MAX))
    middle = [x for x in (-0.3, 0.0005, 0.1, 0.25, 0.5, 1.0) if least <= x <= most]
    return st.sampled_from([least, *middle, most]) | st.floats(least, most)


def _flat(metadata: Iterable[Any]) -> Iterator[Any]:
    for one in metadata:
        yield from one.metadata if isinstance(one, FieldInfo) else [one]


def _bounds(metadata: list[Any], *, default: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return the least and the greatest value, or length, that *metadata* allows."""
    least = [getattr(one, "ge", getattr(one, "min_length", None)) for one in metadata]
    most = [getattr(one, "le", getattr(one, "max_length", None)) for one in metadata]
    lower, upper = ([x for x in bounds if x is not None] for bounds in (least, most))
    return max(lower, default=default[0]), min([*upper, default[1]])


# What the fields alone don't tell of a model: how drawn fields become those of a sound one.
_WHOLE: Mapping[type[BaseModel], Callable[[st.SearchStrategy], st.SearchStrategy]] = {
    Node: lambda told: told.map(_with_a_reason),
    TaskState: lambda told: told.map(_as_a_tree),
    MemoryForgotten: lambda told: told.filter(
        lambda fields: any(fields.get(name) for name in ("memories", "events", "texts"))
    ),
}


def _with_a_reason(node: dict[str, Any]) -> dict[str, Any]:
    reason = "it waits" if node.get("status") == "blocked" else None
    return {**node, "blocked_reason": reason}


def _as_a_tree(state: dict[str, Any]) -> dict[str, Any]:
    """Return *state* with nodes of different ids, each below the one before it."""
    nodes = [node.model_dump() for node in state.get("nodes", ())]
    for number, node in enumerate(nodes):
        node.update(id=f"n{number}", parent=f"n{number - 1}" if number else None)
    known = [node["id"] for node in nodes]
    named = {"current_node": known[-1] if known else None, "completed": known[:1], "blocked": ()}
    return {**state, **named, "nodes": nodes}
