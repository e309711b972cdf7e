"""What a question is asked with, checked before anything is read: names, counts, waits, tokens."""

import math
from typing import Any, Final

from mnemolog.schemas.errors import InvalidSetting
from mnemolog.schemas.positions import Token

ROWS_MAX: Final = 10_000  # of a timeline or a list of checkpoints


def names(**asked: Any) -> dict[str, Any]:
    """Return what was *asked* by name. Raises InvalidSetting for what is no text."""
    for name, value in asked.items():
        if value is not None and not isinstance(value, str):
            raise InvalidSetting(name, value, "a name is a text")
    return asked


def text(**asked: Any) -> None:
    """Raise InvalidSetting if what was *asked* by name is no text, or is not told."""
    for name, value in asked.items():
        if not isinstance(value, str):
            raise InvalidSetting(name, value, "a text")


def rows(count: Any) -> int:
    """Return how many rows were asked for. Raises InvalidSetting beyond `ROWS_MAX`."""
    is_count = isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= ROWS_MAX
    if not is_count:
        raise InvalidSetting("rows_max", count, f"a whole number from 0 to {ROWS_MAX}")
    return int(count)


def seconds(wait: Any) -> float:
    """Return how long to wait. Raises InvalidSetting for what would never end."""
    is_number = isinstance(wait, int | float) and not isinstance(wait, bool)
    if not is_number or not 0 <= wait < math.inf:
        raise InvalidSetting("timeout_seconds", wait, "a number of seconds that ends")
    return float(wait)


def token(given: Any) -> Token:
    """Return what was *given* to wait for. Raises InvalidSetting for anything but a token."""
    if not isinstance(given, Token):
        raise InvalidSetting("token", given, "what an append returned as its token")
    return given
