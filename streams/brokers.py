"""Where Kafka's brokers are, and how a client proves to them who it is."""

import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from mnemolog.schemas.errors import InvalidSetting

# Security protocol -> whether it is encrypted, whether it has a login.
PROTOCOLS: Final = {
    "PLAINTEXT": (False, False),
    "SSL": (True, False),
    "SASL_PLAINTEXT": (False, True),
    "SASL_SSL": (True, True),
}
MECHANISMS: Final = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
PASSWORD_BYTES_MAX: Final = 65_536
_LOGIN: Final = ("sasl_mechanism", "sasl_username", "sasl_password", "sasl_password_file")
_TLS: Final = ("ssl_ca_file", "ssl_cert_file", "ssl_key_file", "ssl_key_password")


@dataclass(frozen=True, slots=True)
class Security:
    """How clients talk to the brokers, by the names that Kafka's clients use.

    Files are PEM. Without a CA file the system's authorities are trusted; host names are always
    checked. What is empty is not set.
    """

    protocol: str = "PLAINTEXT"
    sasl_mechanism: str = ""
    sasl_username: str = ""
    sasl_password: str = field(default="", repr=False)
    sasl_password_file: str = ""
    ssl_ca_file: str = ""
    ssl_cert_file: str = ""
    ssl_key_file: str = ""
    ssl_key_password: str = field(default="", repr=False)

    @property
    def is_encrypted(self) -> bool:
        """Whether TLS is spoken."""
        return PROTOCOLS[self.protocol][0]

    @property
    def has_login(self) -> bool:
        """Whether a user name and a password are sent."""
        return PROTOCOLS[self.protocol][1]

    @property
    def mechanism(self) -> str:
        """The mechanism of the login; PLAIN where none is named."""
        return self.sasl_mechanism or "PLAIN"

    def check(self) -> None:
        """Raise InvalidSetting for what can't be used, and for what would be ignored."""
        if self.protocol not in PROTOCOLS:
            raise _wrong("security_protocol", self.protocol, f"one of {', '.join(PROTOCOLS)}")
        for names, is_used in ((_LOGIN, self.has_login), (_TLS, self.is_encrypted)):
            for name in names:
                if getattr(self, name) and not is_used:
                    reason = f"not with {self.protocol}, where it would not be used"
                    raise _wrong(name, _shown(name, getattr(self, name)), reason)
        if self.has_login:
            self._check_login()
        if self.ssl_cert_file and not self.ssl_key_file:
            raise _wrong("ssl_key_file", "", "the file of the certificate's key")
        if self.ssl_key_file and not self.ssl_cert_file:
            raise _wrong("ssl_cert_file", "", "the file of the key's certificate")

    def _check_login(self) -> None:
        if self.mechanism not in MECHANISMS:
            raise _wrong("sasl_mechanism", self.mechanism, f"one of {', '.join(MECHANISMS)}")
        if not self.sasl_username:
            raise _wrong("sasl_username", "", f"a user name, which {self.protocol} needs")
        if bool(self.sasl_password) == bool(self.sasl_password_file):
            limit = "a password, in it or in the file that kafka_sasl_password_file names"
            raise _wrong("sasl_password", _shown("sasl_password", self.sasl_password), limit)

    def password(self) -> str:
        """Return the password; of a file, what is in it now. Raises InvalidSetting."""
        if not self.sasl_password_file:
            return self.sasl_password
        try:
            with Path(self.sasl_password_file).open("rb") as file:
                found = file.read(PASSWORD_BYTES_MAX).decode().removesuffix("\n")
        except (OSError, ValueError) as error:
            raise _wrong("sasl_password_file", self.sasl_password_file, str(error)) from error
        if not found:
            raise _wrong("sasl_password_file", self.sasl_password_file, "a file with a password")
        return found

    def context(self) -> ssl.SSLContext | None:
        """Return what TLS needs, or None where it is not spoken. Raises InvalidSetting."""
        if not self.is_encrypted:
            return None
        name, value = "ssl_ca_file", self.ssl_ca_file
        try:
            context = ssl.create_default_context(cafile=self.ssl_ca_file or None)
            if self.ssl_cert_file:
                name, value = "ssl_cert_file", self.ssl_cert_file
                # A password that is not set must not be asked for at a terminal.
                secret = self.ssl_key_password
                context.load_cert_chain(self.ssl_cert_file, self.ssl_key_file, lambda: secret)
        except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
            raise _wrong(name, value, f"a PEM file that can be read: {error}") from error
        return context


@dataclass(frozen=True, slots=True)
class Brokers:
    """The brokers *addresses*, host:port or several with commas, and how to talk to them."""

    addresses: str
    security: Security = Security()

    def __str__(self) -> str:
        return self.addresses

    def options(self) -> dict[str, Any]:
        """Return what each of aiokafka's clients is told of them. Raises InvalidSetting."""
        security = self.security
        options: dict[str, Any] = {
            "bootstrap_servers": self.addresses,
            "security_protocol": security.protocol,
            "ssl_context": security.context(),
        }
        if security.has_login:
            options["sasl_mechanism"] = security.mechanism
            options["sasl_plain_username"] = security.sasl_username
            options["sasl_plain_password"] = security.password()
        return options


def brokers_at(brokers: Brokers | str) -> Brokers:
    """Return *brokers*; those of addresses alone are spoken to in plain text, without a login."""
    return brokers if isinstance(brokers, Brokers) else Brokers(brokers)


def _shown(name: str, value: str) -> str:
    return "…" if value and name.endswith("password") else value


def _wrong(name: str, value: str, limit: str) -> InvalidSetting:
    return InvalidSetting(f"kafka_{name}", value, limit)
