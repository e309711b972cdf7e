"""The command that serves HTTP, and those that manage its keys."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from mnemolog.cli.options import AsJSON, Data, EmbedderName, HealthListen, LogURL, Tenant
from mnemolog.cli.output import note, say, say_json, say_table

KeysFile = Annotated[
    Path | None,
    typer.Option(
        "--keys",
        metavar="FILE",
        envvar="MNEMOLOG_KEYS",
        help="The file of keys.",
        show_default="service-keys.json in the data folder, if it is there",
    ),
]

serving = typer.Typer(help="Serve HTTP until SIGTERM or Ctrl-C; `serve keys` manages its keys.")
keys = typer.Typer(help="The keys that let others in.", no_args_is_help=True)
serving.add_typer(keys, name="keys")


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.add_typer(serving, name="serve")


@serving.callback(invoke_without_command=True)
def serve(
    context: typer.Context,
    *,
    host: Annotated[
        str,
        typer.Option(
            help="Where to listen; without keys only on loopback.", envvar="MNEMOLOG_HOST"
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(help="At which port; 0 takes a free one.", envvar="MNEMOLOG_PORT")
    ] = 8420,
    keys_file: KeysFile = None,
    data: Data = None,
    log: LogURL = None,
    tenant: Tenant = None,
    embedder: EmbedderName = None,
    health_listen: HealthListen = None,
) -> None:
    """Serve HTTP until SIGTERM or Ctrl-C: append, recall, get, why, resume; docs/service.md tells.

    Without keys it listens on loopback only, for the tenant of --tenant. With keys the key says
    whose tenant it is.
    """
    if context.invoked_subcommand is not None:
        return
    from mnemolog.logging import set_up_logging  # noqa: PLC0415 - structlog costs 50 ms
    from mnemolog.service.serving import Wanted  # noqa: PLC0415 - FastAPI and drivers are heavy
    from mnemolog.service.serving import serve as run  # noqa: PLC0415
    from mnemolog.settings import Settings  # noqa: PLC0415

    set_up_logging(level="info")
    settings = Settings.resolve(
        data=data, log=log, tenant=tenant, embedder=embedder, health_listen=health_listen
    )
    wanted = Wanted(settings=settings, host=host, port=port, keys=keys_file)
    run(wanted, tell=lambda address: say(f"listening at {address}"))


@keys.command("add")
def add(
    *,
    tenant: Annotated[str, typer.Option("--tenant", help="Whose memories it opens.")],
    rights: Annotated[
        list[str] | None,
        typer.Option("--right", help="read, append or admin; repeatable.", show_default="read"),
    ] = None,
    name: Annotated[str, typer.Option("--name", help="Whose key it is, for the list.")] = "unnamed",
    keys_file: KeysFile = None,
    data: Data = None,
    as_json: AsJSON = False,
) -> None:
    """Make a key and print it: nobody can print it again."""
    from mnemolog.engine import present  # noqa: PLC0415 - drivers are heavy

    file = _key_file(data, keys_file)
    made, key = file.add(name=name, tenant=tenant, rights=rights or ["read"], now=present)
    if as_json:
        say_json({**_told(made), "key": key})
    else:
        note(f"key {made.id} of tenant {made.tenant} may {', '.join(made.rights)}; keep it:")
        say(key)


@keys.command("list")
def list_(*, keys_file: KeysFile = None, data: Data = None, as_json: AsJSON = False) -> None:
    """List the keys: whose they are and what they may do, never the keys themselves."""
    told = [_told(one) for one in _key_file(data, keys_file).read()]
    if as_json:
        say_json(told)
        return
    columns = ("id", "name", "tenant", "rights", "added_at")
    rows = [[", ".join(one[c]) if c == "rights" else one[c] for c in columns] for one in told]
    say_table(columns, rows)


@keys.command("remove")
def remove(
    key_id: Annotated[str, typer.Argument(metavar="ID", help="The key's id, from the list.")],
    *,
    keys_file: KeysFile = None,
    data: Data = None,
) -> None:
    """Remove a key: a running service lets nobody in by it from then on."""
    removed = _key_file(data, keys_file).remove(key_id)
    say(f"removed {removed.id} ({removed.name}) of tenant {removed.tenant}")


def _key_file(data: str | None, given: Path | None) -> Any:
    from mnemolog.service.keys import KeyFile  # noqa: PLC0415 - as above
    from mnemolog.service.serving import key_file  # noqa: PLC0415
    from mnemolog.settings import Settings  # noqa: PLC0415

    return KeyFile(key_file(Settings.resolve(data=data), given))


def _told(one: Any) -> dict[str, Any]:
    return {name: value for name, value in asdict(one).items() if name != "sha256"}
