"""The settings of what watches: bounds of health, golden queries, old generations, the listener."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from mnemolog.health import LAG_SECONDS_MAX, STILL_SECONDS_MAX, Bounds
from mnemolog.schemas.errors import InvalidSetting

OFF: Final = "no"
LISTEN_DEFAULT: Final = "127.0.0.1:8421"  # of a worker
PROBE_SECONDS: Final = 300
RETIRED_DAYS: Final = 7
SECONDS_MAX: Final = 864_000
DAYS_MAX: Final = 3_650
PORT_MAX: Final = 65_535
_DAY_SECONDS: Final = 86_400
_SECONDS: Final = ("lag_seconds_max", "still_seconds_max", "probe_seconds")

# Setting -> (environment variable, default, meaning), as in `settings`.
KNOWN: Final[Mapping[str, tuple[str, str, str]]] = {
    "lag_seconds_max": (
        "MNEMOLOG_LAG_SECONDS_MAX",
        str(round(LAG_SECONDS_MAX)),
        "how old the first event that waits may be, or readiness ends",
    ),
    "still_seconds_max": (
        "MNEMOLOG_STILL_SECONDS_MAX",
        str(round(STILL_SECONDS_MAX)),
        "without a move though events wait, after which a projection is stuck",
    ),
    "probe_file": ("MNEMOLOG_PROBE_FILE", "", "of golden queries; empty for golden.toml or .jsonl"),
    "probe_seconds": (
        "MNEMOLOG_PROBE_SECONDS",
        str(PROBE_SECONDS),
        "between two rounds of golden queries",
    ),
    "retired_days": (
        "MNEMOLOG_RETIRED_DAYS",
        str(RETIRED_DAYS),
        "for which a generation that was replaced is kept",
    ),
    "health_listen": (
        "MNEMOLOG_HEALTH_LISTEN",
        "",
        f"host:port of health and metrics; {OFF}; empty: {LISTEN_DEFAULT}, of a worker alone",
    ),
}


@dataclass(frozen=True, slots=True)
class Watching:
    """What watching is to do. `listen` is None where nothing is said, or `is_off`."""

    bounds: Bounds = field(default_factory=Bounds)
    probe_file: Path | None = None
    probe_seconds: float = PROBE_SECONDS
    retired_seconds: float = RETIRED_DAYS * _DAY_SECONDS
    listen: tuple[str, int] | None = None
    is_off: bool = False

    @classmethod
    def of(cls, values: Callable[[str], str]) -> Self:
        """Return what the settings say, whose *values* are found by name and were checked."""
        file, listen = values("probe_file"), values("health_listen")
        return cls(
            bounds=Bounds(
                lag_seconds=float(values("lag_seconds_max")),
                still_seconds=float(values("still_seconds_max")),
            ),
            probe_file=Path(file).expanduser().absolute() if file else None,
            probe_seconds=float(values("probe_seconds")),
            retired_seconds=float(values("retired_days")) * _DAY_SECONDS,
            listen=None if listen in {"", OFF} else place_of(listen),
            is_off=listen == OFF,
        )


def check(values: Callable[[str], str]) -> None:
    """Raise InvalidSetting for the first of *values* that can't be used."""
    for name in _SECONDS:
        _check_number(name, values(name), least=1, most=SECONDS_MAX)
    _check_number("retired_days", values("retired_days"), least=0, most=DAYS_MAX)
    if values("health_listen") not in {"", OFF}:
        place_of(values("health_listen"))


def place_of(text: str) -> tuple[str, int]:
    """Return the host and the port of "host:port". Raises InvalidSetting.

    >>> place_of("127.0.0.1:8421"), place_of("[::1]:0")
    (('127.0.0.1', 8421), ('::1', 0))
    """
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or len(port) > len(str(PORT_MAX)) or int(port) > PORT_MAX:
        raise InvalidSetting("health_listen", text, f"host:port, or {OFF}")
    return host.removeprefix("[").removesuffix("]"), int(port)


def _check_number(name: str, value: str, *, least: int, most: int) -> None:
    is_number = value.isdecimal() and value.isascii() and len(value) <= len(str(most))
    if not (is_number and least <= int(value) <= most):
        raise InvalidSetting(name, value, f"{least} to {most}")
