"""What a check found, what to do about it, and how it can be mended."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "look", "bad"]


@dataclass(frozen=True, slots=True)
class Repair:
    """How a finding can be mended: `will` says what `run` does, and `run` what it has done.

    Two repairs that say the same are one. `run` raises a MnemologError where it can't. To run it
    twice, or after another process did the same, is harmless. Nothing on the log is ever taken
    away by one.
    """

    will: str
    run: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found: "ok", worth a "look", or "bad"; and what to do about it.

    `bundled` is what of the detail may leave the machine, where that is not all of it: a bundle
    has nothing that an agent said, no names that somebody gave, and no paths.
    """

    check: str
    state: State
    detail: str
    advice: str = ""
    repair: Repair | None = None
    bundled: str | None = None
