"""One instance of any model of ours with every field filled, worked out from its types."""

from collections.abc import Mapping
from datetime import UTC, datetime
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from annotated_types import Ge, MinLen
from pydantic import BaseModel

from mnemolog.schemas.checkpoint import Node, TaskState
from mnemolog.schemas.events.experience import ActionFinished
from mnemolog.schemas.events.governance import EventSkipped
from mnemolog.schemas.events.memory import MemoryForgotten, RecalledMemory
from mnemolog.schemas.policy import CheckpointPolicy, Policy

Model = TypeVar("Model", bound=BaseModel)

# What the types alone don't tell.
_FIELDS: Mapping[tuple[type[BaseModel], str], Any] = {
    (Node, "status"): "blocked",
    (Node, "parent"): None,
    (TaskState, "current_node"): "id",
    (TaskState, "completed"): (),
    (TaskState, "blocked"): ("id",),
    (RecalledMemory, "memory"): "mem_1",
    (MemoryForgotten, "events"): ("652a9a6eacc08e4ebf50d0bfe63353ba",),
    (EventSkipped, "skipped"): "652a9a6eacc08e4ebf50d0bfe63353ba",
    # Added to a version that had golden files: it is absent from them, and from old logs.
    (ActionFinished, "orphaned"): False,
    (Policy, "checkpoints"): CheckpointPolicy(),
}


def filled(model: type[Model]) -> Model:
    """Return an instance of *model* in which no field is empty."""
    values = {}
    for name, field in model.model_fields.items():
        if (model, name) in _FIELDS:
            values[name] = _FIELDS[model, name]
        else:
            values[name] = _value(field.annotation, name, field.metadata)
    return model(**values)


def _value(annotation: Any, name: str, metadata: list[Any]) -> Any:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _value(arguments[0], name, [*metadata, *arguments[1:]])
    if origin in {Union, UnionType}:
        return _value(next(one for one in arguments if one is not NoneType), name, metadata)
    if origin is not None:
        return _made(origin, arguments, name, metadata)
    if issubclass(annotation, BaseModel):
        return filled(annotation)
    return _scalar(annotation, name, metadata)


def _made(origin: Any, arguments: tuple[Any, ...], name: str, metadata: list[Any]) -> Any:
    if origin is Literal:
        return arguments[-1]
    if origin is tuple:
        count = max([1, *(one.min_length for one in metadata if isinstance(one, MinLen))])
        return tuple(_value(arguments[0], name, []) for _ in range(count))
    anything = {"n": 2**64, "list": [1.5, None, True], "text": "好"}
    return {"fact": anything if arguments[1] is Any else 30.0}


def _scalar(annotation: type, name: str, metadata: list[Any]) -> Any:
    least = max([1, *(one.ge for one in metadata if isinstance(one, Ge))])
    scalars = {str: name, int: least, float: 0.5, bool: True, NoneType: None}
    return datetime(2030, 1, 2, tzinfo=UTC) if annotation is datetime else scalars[annotation]
