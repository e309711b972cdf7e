"""The command line: `mnemolog COMMAND`. Only the command that runs loads what it needs.

Exit codes: 0 done; 1 a comparison or a check found something; 2 a wrong argument or value;
3 not found; 4 unavailable or too late, try again; 5 damaged, parked or lost, look at it.
"""

import atexit
import os
import sys
from contextlib import suppress
from typing import Final, NoReturn

import typer

from mnemolog.cli import (
    asking,
    controlling,
    exporting,
    foreign,
    getting,
    keeping,
    parking,
    probing,
    serving,
    showing,
    topics,
    working,
    writing,
)
from mnemolog.cli.memory_use import keep_little
from mnemolog.cli.output import flushed, note, open_closed_streams
from mnemolog.schemas.errors import (
    InvalidEvent,
    InvalidSetting,
    LeaseHeld,
    MnemologError,
    NotFound,
    ReadOnly,
    StoreUnavailable,
    TimedOut,
)

INTERRUPTED: Final = 130
_CODES: Final = (
    ((InvalidEvent, InvalidSetting, ReadOnly), 2),
    ((NotFound,), 3),
    ((StoreUnavailable, TimedOut, LeaseHeld), 4),
    ((MnemologError,), 5),
)

app = typer.Typer(
    name="mnemolog",
    help="Event-sourced memory for AI agents: append, recall, resume, ask, rebuild.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for group in (
    writing,
    asking,
    getting,
    showing,
    exporting,
    keeping,
    probing,
    parking,
    foreign,
    controlling,
    topics,
    working,
    serving,
):
    group.add_to(app)


def main() -> None:
    """Run the command that the arguments name, and exit with its code.

    Who reads its output may go away at any time: that is no error, and nothing is left to say.
    """
    open_closed_streams()
    if {"--help", "--version"}.isdisjoint(sys.argv):
        from mnemolog.logging import set_up_logging  # noqa: PLC0415 - structlog costs 50 ms

        set_up_logging()
    try:
        code = _run()
    except BrokenPipeError:
        code = 0
    sys.exit(flushed(code))


def _run() -> int | str | None:
    """Run the command and return its code. Raises BrokenPipeError where its reader went away."""
    try:
        app()
    except MnemologError as error:
        note(f"mnemolog: {error}\n  {error.hint}")
        return exit_code(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):  # Typer makes a failure of it
            raise ended.__context__ from None
        return ended.code
    return 0


def exit_code(error: MnemologError) -> int:
    """Return the exit code that tells scripts of *error*."""
    return next(code for kinds, code in _CODES if isinstance(error, kinds))


def console() -> NoReturn:
    """Be the program: run the command, and end the process once all is closed and written.

    At once, without taking the interpreter down: a thread may still be within a store's native
    code, which aborts the process where a thread is ended in it.
    """
    code: int | str | None = 0
    keep_little()  # before any other thread is: it is no thing to do beside them
    try:
        main()
    except SystemExit as ended:
        code = ended.code
    if isinstance(code, str):
        note(code)
    atexit._run_exitfuncs()  # noqa: SLF001 - what `sys.exit` would run, too
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


if __name__ == "__main__":
    console()
