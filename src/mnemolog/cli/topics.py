"""Commands about the topics on Kafka: make one as a log needs it, list them, say what is wrong."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mnemolog.cli.options import AsJSON, LogURL, Tenant
from mnemolog.cli.output import note, say, say_json, say_pairs, say_table

if TYPE_CHECKING:
    from mnemolog.streams.kafka_topics import DescribedTopic

topics = typer.Typer(
    help="The topics of logs on Kafka: make them, list them, check their settings.",
    no_args_is_help=True,
)


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.add_typer(topics, name="topics")


@topics.command("create")
def create(
    *,
    log: LogURL = None,
    tenant: Tenant = None,
    partitions: Annotated[
        int | None, typer.Option(min=1, help="How many; fixed from then on.", show_default="4")
    ] = None,
    replication: Annotated[
        int | None, typer.Option(min=1, help="Copies of each partition.", show_default="1")
    ] = None,
    min_insync: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Copies that an acknowledgement stands for.",
            show_default="2 with three copies or more, else 1",
        ),
    ] = None,
    as_json: AsJSON = False,
) -> None:
    """Make a tenant's topic with the settings that keep history; one that is there stays as it is.

    A number here goes before one in the URL. Exits with 2 for a topic that would lose history.
    """
    from mnemolog.streams.kafka_tenants import KafkaTenants  # noqa: PLC0415 - slow to import
    from mnemolog.topics import of_settings  # noqa: PLC0415 - see above

    wanted = of_settings(log, tenant)
    settings = wanted.new_topic(
        partitions=partitions, replication=replication, min_insync=min_insync
    )
    with KafkaTenants(wanted.brokers) as brokers:
        is_new = wanted.topic not in brokers.topics()
        found = brokers.ensured(wanted.topic, settings)
    if as_json:
        say_json({**_told(found), "made": is_new})
        return
    say(f"{found.name} {'was made' if is_new else 'was there'}: {found.partitions} partitions")
    _note_faults(found)


@topics.command("list")
def list_topics(*, log: LogURL = None, as_json: AsJSON = False) -> None:
    """List the topics of all tenants: partitions, copies, and how many faults each has."""
    from mnemolog.streams.kafka_tenants import KafkaTenants  # noqa: PLC0415 - slow to import
    from mnemolog.topics import of_settings  # noqa: PLC0415 - see above

    with KafkaTenants(of_settings(log, None).brokers) as brokers:
        found = brokers.described(brokers.topics())
    if as_json:
        say_json([_told(topic) for topic in found])
        return
    rows = [(_tenant(t), t.name, t.partitions, t.replicas, len(t.faults())) for t in found]
    say_table(("tenant", "topic", "partitions", "copies", "faults"), rows)


@topics.command("check")
def check(*, log: LogURL = None, tenant: Tenant = None, as_json: AsJSON = False) -> None:
    """Say what is wrong with a topic, and how to mend it; exit with 1 where history is lost.

    A risk that an operator may take (few copies) is told, and exits with 0.
    """
    from mnemolog.schemas.errors import NotFound  # noqa: PLC0415 - with what follows
    from mnemolog.streams.kafka_tenants import KafkaTenants  # noqa: PLC0415 - slow to import
    from mnemolog.topics import of_settings  # noqa: PLC0415 - see above

    wanted = of_settings(log, tenant)
    with KafkaTenants(wanted.brokers) as brokers:
        if wanted.topic not in brokers.topics():
            hint = (
                "`mnemolog topics create` makes it; `mnemolog topics list` shows which there are."
            )
            raise NotFound("topic", wanted.topic, hint=hint)
        (found,) = brokers.described([wanted.topic])
    if as_json:
        say_json(_told(found))
    else:
        say_pairs({"topic": found.name, "partitions": found.partitions, "copies": found.replicas})
        _note_faults(found)
    if any(fault.loses for fault in found.faults()):
        raise typer.Exit(1)


def _tenant(found: "DescribedTopic") -> str:
    """Return whose topic it is; of a long name the topic holds a digest only."""
    from mnemolog.streams.log import tenant_of  # noqa: PLC0415 - heavy

    return tenant_of(found.name) or "(a long name)"


def _told(found: "DescribedTopic") -> dict[str, Any]:
    return {
        "tenant": _tenant(found),
        "topic": found.name,
        "partitions": found.partitions,
        "copies": found.replicas,
        "faults": [
            {
                "setting": fault.setting,
                "found": fault.found,
                "wanted": fault.wanted,
                "reason": fault.reason,
                "loses_history": fault.loses,
            }
            for fault in found.faults()
        ],
    }


def _note_faults(found: "DescribedTopic") -> None:
    from mnemolog.topics import remedy  # noqa: PLC0415 - see `create`

    for fault in found.faults():
        note(f"{'LOSES HISTORY' if fault.loses else 'risk'}: {fault}\n  {remedy(found, fault)}")
