"""An evaluation log's JSON, which may hold NaN, and what its texts refer to."""

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from mnemolog.importers.base import Unreadable
from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.values import check_depth

LOG_DEPTH_MAX: Final = 200
_PREFIXES: Final = ("attachment://", "tc://")


def parse_log(data: bytes) -> Any:
    """Return the JSON value in *data*; what is no finite number is null. Raises Unreadable.

    Writers of these logs put NaN where a number could not be worked out.
    """
    try:
        value = _DECODER.decode(data.decode("utf-8"))
        check_depth(value, field="log", depth_max=LOG_DEPTH_MAX)
    except UnicodeDecodeError as error:
        raise Unreadable(f"not UTF-8 at byte {error.start}") from error
    except json.JSONDecodeError as error:
        raise Unreadable(f"not JSON: {error.msg} at {error.pos}") from error
    except InvalidEvent as error:
        raise Unreadable(error.limit) from error
    except RecursionError as error:
        raise Unreadable(f"nesting depth > {LOG_DEPTH_MAX}") from error
    except ValueError as error:
        raise Unreadable(f"not JSON: {error}") from error
    return value


def _no_number(name: str) -> None:
    del name


def _finite(digits: str) -> float | None:
    number = float(digits)
    return number if math.isfinite(number) else None


_DECODER: Final = json.JSONDecoder(parse_constant=_no_number, parse_float=_finite)


class Attachments:
    """The long texts of a sample, which stand apart and are referred to by their digests."""

    def __init__(self, texts: Any, *, on_missing: Callable[[str], None]) -> None:
        self._texts: Mapping[str, Any] = texts if isinstance(texts, dict) else {}
        self._on_missing = on_missing

    def resolved(self, value: Any) -> Any:
        """Return a copy of *value* with each reference replaced by what it refers to."""
        match value:
            case str():
                return self._text(value)
            case dict():
                return {key: self.resolved(item) for key, item in value.items()}
            case list():
                return [self.resolved(item) for item in value]
            case _:
                return value

    def _text(self, text: str) -> str:
        prefix = next((prefix for prefix in _PREFIXES if text.startswith(prefix)), None)
        if prefix is None:
            return text
        found = self._texts.get(text.removeprefix(prefix))
        if not isinstance(found, str):
            self._on_missing(text)
            return text
        return found


def expanded(refs: Any, pool: Any) -> list[Any]:
    """Return the items of *pool* in the ranges of *refs*, each from its start to before its end."""
    found: list[Any] = []
    if not isinstance(refs, list) or not isinstance(pool, list):
        return found
    for pair in refs:
        match pair:
            case [int(start), int(end)] if 0 <= start <= end <= len(pool):
                found += pool[start:end]
    return found
