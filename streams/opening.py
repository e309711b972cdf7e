"""Which log a setting names. Kafka's client is imported only where a log is on Kafka."""

from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, parse_qsl, urlsplit

from mnemolog.schemas.errors import InvalidEvent, InvalidSetting
from mnemolog.schemas.ids import check_tenant
from mnemolog.streams.brokers import Brokers, Security
from mnemolog.streams.log import Log
from mnemolog.streams.sqlite_log import SQLiteLog

LOG_FILE: Final = "log.db"  # in the tenant's data folder
KAFKA_PARTITIONS: Final = 4
ALLOWED: Final = (
    "nothing for the log in the data folder, or "
    "kafka://host:port[,host:port][?partitions=4&replication=1&min_insync=1]"
)
PORT_MAX: Final = 65_535
NUMBER_MAX: Final = 10_000
_NUMBERS: Final = ("partitions", "replication", "min_insync")


def open_log(
    url: str | None,
    *,
    folder: Path,
    tenant: str,
    partitions: int | None = None,
    read_only: bool = False,
    security: Security | None = None,
) -> Log:
    """Open the log that *url* names: None is the embedded one in *folder*.

    *partitions* is what a new log gets; a number in the URL goes first. *security* is how its
    brokers are spoken to, if it has any. Raises InvalidSetting for another URL, and what the
    engine's `open` raises.
    """
    try:
        check_tenant(tenant, field="tenant")
    except InvalidEvent as error:
        raise InvalidSetting("tenant", tenant, error.limit) from error
    if url is None:
        path = folder / LOG_FILE
        return SQLiteLog.open(path, tenant=tenant, partitions=partitions, read_only=read_only)
    addresses, numbers = _kafka_of(url)
    brokers = Brokers(addresses, security or Security())
    from mnemolog.streams.kafka_log import KafkaLog  # noqa: PLC0415 - slow to import

    numbers = {"partitions": partitions or KAFKA_PARTITIONS, **numbers}
    return KafkaLog.open(brokers, tenant=tenant, read_only=read_only, **numbers)


def brokers_of(url: str, security: Security | None = None) -> Brokers:
    """Return the brokers that a Kafka URL names, spoken to as *security* says.

    Raises InvalidSetting for another URL.
    """
    return Brokers(_kafka_of(url)[0], security or Security())


def numbers_of(url: str) -> dict[str, int]:
    """Return the numbers that a Kafka URL gives to a new topic. Raises InvalidSetting."""
    return _kafka_of(url)[1]


def _kafka_of(url: str) -> tuple[str, dict[str, int]]:
    """Return the brokers and the numbers of a Kafka URL."""
    parts = _split(url)
    brokers = parts.netloc.split(",")
    if parts.scheme != "kafka" or parts.path.strip("/") or parts.fragment:
        raise InvalidSetting("log", url, f"a log is {ALLOWED}")
    for broker in brokers:
        host, _, port = broker.rpartition(":")
        if not host or "@" in host or not port.isdecimal() or not 0 < int(port) <= PORT_MAX:
            raise InvalidSetting("log", url, f"{broker!r} is no host:port; a log is {ALLOWED}")
    return ",".join(brokers), dict(_number(url, *pair) for pair in _query(parts))


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError as error:
        raise InvalidSetting("log", url, f"{error}; a log is {ALLOWED}") from error


def _query(parts: SplitResult) -> list[tuple[str, str]]:
    return parse_qsl(parts.query, keep_blank_values=True)


def _number(url: str, name: str, text: str) -> tuple[str, int]:
    if name not in _NUMBERS or not text.isdecimal() or not 1 <= int(text) <= NUMBER_MAX:
        limit = f"{name}={text}: {', '.join(_NUMBERS)} take a number from 1 to {NUMBER_MAX}"
        raise InvalidSetting("log", url, limit)
    return name, int(text)
