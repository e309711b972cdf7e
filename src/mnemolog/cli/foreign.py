"""The commands for what is no event of the log: foreign list, show."""

from typing import TYPE_CHECKING, Any

import typer

from mnemolog.cli.options import AsJSON, Data, LogURL, Tenant
from mnemolog.cli.output import note, say_json, say_pairs, say_table
from mnemolog.cli.parking import After, Place, Rows, bytes_of, looking, moment, say_record

if TYPE_CHECKING:
    from mnemolog.projections.ledger import ForeignRecord

_app = typer.Typer(help="What is no event of the log: list, show.")


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.add_typer(_app, name="foreign", no_args_is_help=True)


@_app.command("list")
def foreign_list(
    *,
    data: Data = None,
    log: LogURL = None,
    tenant: Tenant = None,
    after: After = None,
    rows: Rows = 50,
    as_json: AsJSON = False,
) -> None:
    """List the records that are no events of the log; nothing waits for them."""
    with looking(data, log, tenant) as memory:
        page = memory.foreign(after=after, records_max=rows)
    if as_json:
        say_json({"foreign": [_foreign_told(one) for one in page.records], "next": page.next})
        return
    say_table(
        ("position", "recorded", "bytes", "reason"),
        [
            (
                one.record.position,
                moment(one.record.recorded_at),
                len(one.record.value or b""),
                one.reason,
            )
            for one in page.records
        ],
    )
    if page.next is not None:
        note(f"more: --after {page.next}")


def _foreign_told(one: "ForeignRecord") -> dict[str, Any]:
    record = one.record
    return {
        "position": str(record.position),
        "recorded_at": record.recorded_at,
        "bytes": len(record.value or b""),
        "reason": one.reason,
    }


@_app.command("show")
def foreign_show(
    position: Place,
    *,
    data: Data = None,
    log: LogURL = None,
    tenant: Tenant = None,
    as_json: AsJSON = False,
) -> None:
    """Show a record that is no event of the log: its bytes, its headers and the reason."""
    with looking(data, log, tenant) as memory:
        one = memory.foreign_record(position)
    if as_json:
        say_json({**_foreign_told(one), **bytes_of(one.record)})
        return
    told = _foreign_told(one)
    say_pairs({name: told[name] for name in ("position", "reason")})
    say_pairs({"recorded": moment(one.record.recorded_at)})
    say_record(one.record)
