"""The command that asks golden queries: probe."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mnemolog.cli.options import AsJSON, Data, LogURL, Tenant, opened
from mnemolog.cli.output import note, say, say_json

if TYPE_CHECKING:
    from mnemolog.golden import Probed


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("probe")(probe)


def probe(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="Golden queries, in TOML or JSON Lines.",
            show_default="MNEMOLOG_PROBE_FILE, or golden.toml or .jsonl in the tenant's folder",
        ),
    ] = None,
    *,
    data: Data = None,
    log: LogURL = None,
    tenant: Tenant = None,
    as_json: AsJSON = False,
) -> None:
    """Ask golden queries; exit with 1 where less than 80 % find the memory that they must.

    Asking appends nothing. What the log holds by now is known before the first is asked.
    """
    from mnemolog.golden import FILES, NO_FILE, file_for, read_golden  # noqa: PLC0415 - see `opened`
    from mnemolog.golden import probe as ask  # noqa: PLC0415
    from mnemolog.schemas.errors import NotFound  # noqa: PLC0415

    with opened(data, log, tenant, record_recalls=False) as memory:
        engine = memory.engine
        path = file_for(engine.folder, file or engine.settings.watching.probe_file)
        if path is None:
            place = str(engine.folder / FILES[0])
            raise NotFound("file of golden queries", place, hint=NO_FILE)
        questions = read_golden(path)
        memory.wait_for(memory.end())
        found = ask(memory, questions)
    if as_json:
        say_json(found.to_dict())
    else:
        _say(found)
    if not found.is_good:
        raise typer.Exit(1)


def _say(found: "Probed") -> None:
    from mnemolog.golden import RATE_MIN  # noqa: PLC0415 - as above
    from mnemolog.schemas.text import cut, one_line  # noqa: PLC0415

    for one in found.asked:
        state = "found" if one.is_found else "missed"
        say(f"{state:<6}  {one_line(one.golden.ask)}")
        if not one.is_found:
            wanted = one.golden.id or one.golden.text or ""
            say(f"        must be found: {cut(one_line(wanted), characters_max=200)}")
            first = one.error or one.first
            came = "nothing came" if first is None else cut(one_line(first), characters_max=200)
            say(f"        came first: {came}")
    hits = sum(one.is_found for one in found.asked)
    say(f"{hits} of {len(found.asked)} found, {found.rate:.0%}")
    if not found.is_good:
        note(f"less than {RATE_MIN:.0%} found what they must")
