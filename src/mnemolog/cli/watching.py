"""`status --watch`: the same numbers again and again, until Ctrl-C."""

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from mnemolog.cli.output import say, say_json_line

if TYPE_CHECKING:
    from mnemolog.health import Health
    from mnemolog.outside_look import OutsideLook
    from mnemolog.status import Status

HOME_AND_CLEAR: Final = "\x1b[H\x1b[2J"  # of a terminal
SECONDS: Final = 2.0

Show = Callable[["Status", "Health", "OutsideLook"], None]


def follow(
    ask: Callable[[], "Status"],
    looks: "OutsideLook",
    *,
    pause: Callable[[], object],
    show: Show,
    as_json: bool,
) -> None:
    """Show what *ask* says and *looks* see, after each *pause*, until Ctrl-C ends it quietly.

    On a terminal *show* prints anew what it printed; elsewhere each look is a line.
    """
    with suppress(KeyboardInterrupt):
        while True:
            health, found = looks.look(), ask()
            if as_json:
                say_json_line({**found.to_dict(), "health": health.to_dict()})
            elif sys.stdout.isatty():
                sys.stdout.write(HOME_AND_CLEAR)
                show(found, health, looks)
            else:
                say(_line(found, health, looks))
            sys.stdout.flush()
            pause()


def told(health: "Health") -> dict[str, Any]:
    """Return what is to be read of *health*, by name: its level, and what is not well."""
    bad = [verdict for verdict in health.verdicts if verdict.level]
    details = {
        f"{verdict.level.word.upper()} {verdict.question}": f"{verdict.about}: {verdict.detail}"
        f"{' - ' + verdict.advice if verdict.advice else ''}"
        for verdict in bad
    }
    return {"health": health.level().word, **details}


def lag(seconds: float | None) -> str:
    """Return a lag as a column has it; nothing where nobody can tell."""
    return "" if seconds is None else f"{seconds:.0f}"


def _line(found: "Status", health: "Health", looks: "OutsideLook") -> str:
    from mnemolog.engine import present  # noqa: PLC0415 - drivers are heavy

    parts = [f"{present():%Y-%m-%dT%H:%M:%SZ}", health.level().word]
    for one in found.projections:
        seconds = looks.lag_seconds(one.name)
        age = "" if not seconds else f" ({seconds:.0f} s)"
        parts.append(f"{one.name} {one.behind} behind{age}, {one.parked} parked")
    parts.append(f"vectors {found.vectors_outstanding} outstanding")
    parts.append(f"disk {found.disk_used_percent} %")
    return "  ".join(parts)
