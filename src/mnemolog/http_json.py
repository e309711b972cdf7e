"""What a caller of a verb gave, as JSON that a service reads to the same: nothing is judged here.

Lone surrogates travel as escapes. What JSON can't hold is refused, as the log would.
"""

import math
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from enum import Enum
from numbers import Integral, Real
from typing import Any

from pydantic import BaseModel

from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.limits import DEPTH_MAX
from mnemolog.scope import ref_id


def telling(value: Any, *, field: str, depth: int = 0) -> Any:
    """Return *value* as JSON has it. Raises InvalidEvent for what it can't have."""
    if depth > DEPTH_MAX:
        raise InvalidEvent(field, "…", f"at most {DEPTH_MAX} levels")
    match value:
        case None | bool() | str():
            return value.value if isinstance(value, Enum) else value
        case date():  # a datetime is one too
            return value.isoformat()
        case BaseModel():
            told = value.model_dump(exclude_defaults=True)
            return telling(told, field=field, depth=depth)
        case Mapping():
            return {
                _key(name, field): telling(item, field=field, depth=depth + 1)
                for name, item in value.items()
            }
        case list() | tuple():
            return [telling(item, field=field, depth=depth + 1) for item in value]
        case _:
            return _number(value, field)


def scope_telling(scope: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keywords of a verb as the wire has them; what is absent is left out."""
    given = {name: value for name, value in scope.items() if value is not None}
    if "caused_by" in given:
        given["caused_by"] = ref_id(given["caused_by"])
    return {name: telling(value, field=name) for name, value in given.items()}


def _key(name: Any, field: str) -> str:
    if not isinstance(name, str):
        raise InvalidEvent(field, name, "keys are texts")
    return name


def _number(value: Any, field: str) -> float:
    match value:
        case Integral():
            return int(value)
        case Real() | Decimal() if math.isfinite(value):
            return float(value)
        case Real() | Decimal():
            raise InvalidEvent(field, value, "numbers are finite")
        case _:
            raise InvalidEvent(field, value, f"{type(value).__name__} is not JSON")
