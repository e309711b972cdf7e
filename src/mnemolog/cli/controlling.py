"""The commands that ask something of whoever keeps the projections: control …."""

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from mnemolog.cli.options import AsJSON, Data, LogURL, Tenant
from mnemolog.cli.output import note, say, say_json, say_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mnemolog.streams.control import Control

REFUSED: Final = 1

ByFolder = Annotated[
    bool,
    typer.Option("--folder", help="Ask who keeps this folder, of a log on Kafka, too."),
]
Wait = Annotated[bool, typer.Option("--wait", help="Until it is done; exit with 1 if it is not.")]
Seconds = Annotated[float, typer.Option("--timeout", min=0, help="Seconds to wait at most.")]
Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[PROJECTION]...", help="memories, analytics, checkpoints, weights; all."
    ),
]

_app = typer.Typer(help="Ask whoever keeps the projections: pause, resume, rebuild, verify …")


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.add_typer(_app, name="control", no_args_is_help=True)
    for verb, words in _PLAIN.items():
        _app.command(verb, help=words)(_asking(verb))
    for verb, words in _NAMED.items():
        _app.command(verb, help=words)(_asking_with_names(verb))


_PLAIN: Final = {
    "pause": "Let nothing be applied until it is resumed, over restarts, too; appends go on.",
    "resume": "Let it go on after a pause.",
    "cancel": "Ask to give up what is being built; this release refuses it.",
    "swap": "Ask to let a built generation serve; this release refuses it.",
}
_NAMED: Final = {
    "rebuild": "Build projections anew beside what serves, compare, and swap.",
    "verify": "Compare what serves with a fresh fold of the log.",
}


def _asking(verb: str) -> "Callable[..., None]":
    def ask(
        *,
        data: Data = None,
        log: LogURL = None,
        tenant: Tenant = None,
        folder: ByFolder = False,
        wait: Wait = False,
        timeout: Seconds = 60.0,
        as_json: AsJSON = False,
    ) -> None:
        with _opened(data, log, tenant, by_folder=folder) as control:
            _ask(control, verb, {}, wait_seconds=timeout if wait else 0, as_json=as_json)

    return ask


def _asking_with_names(verb: str) -> "Callable[..., None]":
    def ask(
        projections: Names = None,
        *,
        data: Data = None,
        log: LogURL = None,
        tenant: Tenant = None,
        folder: ByFolder = False,
        wait: Wait = False,
        timeout: Seconds = 3600.0,
        as_json: AsJSON = False,
    ) -> None:
        names = {"projections": projections or []}
        with _opened(data, log, tenant, by_folder=folder) as control:
            _ask(control, verb, names, wait_seconds=timeout if wait else 0, as_json=as_json)

    return ask


@_app.command("list")
def control_list(
    *,
    data: Data = None,
    log: LogURL = None,
    tenant: Tenant = None,
    folder: ByFolder = False,
    rows: Annotated[int, typer.Option("--rows", min=1, max=1000, help="The last so many.")] = 20,
    as_json: AsJSON = False,
) -> None:
    """List what was asked, and what became of it."""
    from mnemolog.controls import told  # noqa: PLC0415 - see `opened`

    with _opened(data, log, tenant, by_folder=folder) as control:
        found = [told(one) for one in control.asked()[-rows:]]
    if as_json:
        say_json(found)
        return
    say_table(
        ("id", "asked", "verb", "arguments", "outcome", "text"),
        [
            (
                one["id"],
                f"{one['requested_at']:%Y-%m-%d %H:%M:%S}",
                one["verb"],
                _words(one["arguments"]),
                one["outcome"],
                one["text"],
            )
            for one in found
        ],
    )


def _words(arguments: "Mapping[str, Any]") -> str:
    return " ".join(
        " ".join(value) if isinstance(value, list) else f"{name}={value}"
        for name, value in arguments.items()
        if value
    )


def _opened(
    data: str | None, log: str | None, tenant: str | None, *, by_folder: bool
) -> "closing[Control]":
    """Open what one asks on, for a `with` block."""
    from mnemolog.controls import asked_of  # noqa: PLC0415 - drivers are heavy; --help needs none
    from mnemolog.engine import LEASE_FILE  # noqa: PLC0415
    from mnemolog.projections.lease import look  # noqa: PLC0415
    from mnemolog.schemas.errors import InvalidSetting  # noqa: PLC0415
    from mnemolog.settings import Settings  # noqa: PLC0415

    settings = Settings.resolve(data=data, log=log, tenant=tenant)
    if settings.is_in_memory:
        raise InvalidSetting("data", settings["data"], "a folder that somebody keeps")
    folder = settings.tenant_folder(Path(settings["data"]).expanduser().absolute())
    if (not settings["log"] or by_folder) and not look(folder / LEASE_FILE).is_held:
        note(f"nobody keeps {folder} now; who does within an hour obeys")
    return closing(asked_of(settings, folder, by_folder=by_folder))


def _ask(
    control: "Control",
    verb: str,
    arguments: "Mapping[str, Any]",
    *,
    wait_seconds: float,
    as_json: bool,
) -> None:
    from mnemolog.controls import wait_for_end, whoami  # noqa: PLC0415 - see `opened`
    from mnemolog.schemas.errors import TimedOut  # noqa: PLC0415

    request = control.request(verb, arguments, by=whoami())
    if not wait_seconds:
        if as_json:
            say_json({"id": request.id})
        else:
            say(f"asked: {request.id}")
        return
    end = wait_for_end(control, request, timeout_seconds=wait_seconds)
    if end is None:
        raise TimedOut(
            f"{verb}, asked as {request.id},",
            waited_seconds=wait_seconds,
            because="it stays asked for an hour",
        )
    if as_json:
        say_json({"id": request.id, "outcome": end.outcome, "text": end.text, "result": end.result})
    else:
        say(f"{end.outcome}: {end.text}")
    if end.outcome != "done":
        raise typer.Exit(REFUSED)
