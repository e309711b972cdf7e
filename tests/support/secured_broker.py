"""A real broker with two more doors: TLS with a login, and TLS with a certificate of the client's.

Its authority, its certificates and its passwords are made anew each time.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import trustme
from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)
from cryptography.hazmat.primitives import serialization

from support.kafka_broker import HOST, KafkaBroker, free_port

USER: Final = "mnemolog"
PASSWORD: Final = "open; sesame \u00e4"  # what a shell or a properties file would spoil
KEY_PASSWORD: Final = "of the key"
_LOGIN: Final = "org.apache.kafka.common.security"
_PROPERTIES: Final = """
listeners=SASL_SSL://{host}:{login},SSL://{host}:{certificate},PLAINTEXT://{host}:{port},\
CONTROLLER://{host}:{controller}
advertised.listeners=SASL_SSL://{host}:{login},SSL://{host}:{certificate},PLAINTEXT://{host}:{port}
controller.quorum.voters=1@{host}:{controller}
listener.security.protocol.map=SASL_SSL:SASL_SSL,SSL:SSL,PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
ssl.keystore.type=PEM
ssl.keystore.location={keys}
ssl.truststore.type=PEM
ssl.truststore.location={authority}
listener.name.ssl.ssl.client.auth=required
listener.name.sasl_ssl.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-512
listener.name.sasl_ssl.plain.sasl.jaas.config={classes}.plain.PlainLoginModule required \
user_{user}="{password}";
listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config={classes}.scram.ScramLoginModule required;
"""


@dataclass(frozen=True, slots=True)
class Secured:
    """Where the doors are, and the files of a client that may come in."""

    login: str
    certificate: str
    plain: str
    ca_file: str
    cert_file: str
    key_file: str


@contextmanager
def secured_broker(folder: Path) -> Iterator[Secured]:
    """Run a broker in *folder* for the block. USER and PASSWORD may log in."""
    authority = trustme.CA()
    ca_file = folder / "authority.pem"
    authority.cert_pem.write_to_path(ca_file)
    keys = folder / "broker.pem"
    keys.write_bytes(_pem_of(authority.issue_cert(HOST)))
    client = authority.issue_cert("client@example.org")
    cert_file, key_file = folder / "client.pem", folder / "client.key"
    cert_file.write_bytes(b"".join(blob.bytes() for blob in client.cert_chain_pems))
    key_file.write_bytes(key_of(client.private_key_pem.bytes(), KEY_PASSWORD))
    ports = dict(zip(("port", "controller", "login", "certificate"), _free_ports(4), strict=True))
    escaped = PASSWORD.encode("unicode_escape").decode().replace("\\xe4", "\\u00e4")
    extra = _PROPERTIES.format(
        host=HOST,
        keys=keys,
        authority=ca_file,
        classes=_LOGIN,
        user=USER,
        password=escaped,
        **ports,
    )
    with KafkaBroker(folder / "broker", port=ports["port"], extra=extra) as broker:
        _let_in(broker.bootstrap)
        yield Secured(
            login=f"{HOST}:{ports['login']}",
            certificate=f"{HOST}:{ports['certificate']}",
            plain=broker.bootstrap,
            ca_file=str(ca_file),
            cert_file=str(cert_file),
            key_file=str(key_file),
        )


def _free_ports(count: int) -> list[int]:
    found: list[int] = []
    while len(found) < count:
        if (port := free_port()) not in found:
            found.append(port)
    return found


def _let_in(bootstrap: str) -> None:
    """Let USER log in by SCRAM, too: the broker keeps such logins itself."""
    info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
    change = UserScramCredentialUpsertion(USER, info, PASSWORD.encode())
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for future in admin.alter_user_scram_credentials([change]).values():
        future.result(30)


def _pem_of(issued: Any) -> bytes:
    """Return the key and the certificates of *issued*, as the broker reads them."""
    key = key_of(issued.private_key_pem.bytes(), None)
    return key + b"".join(blob.bytes() for blob in issued.cert_chain_pems)


def key_of(pem: bytes, password: str | None) -> bytes:
    """Return the key in *pem* in the one form that Kafka reads, under *password* if any."""
    key = serialization.load_pem_private_key(pem, password=None)
    secret = (
        serialization.NoEncryption()
        if password is None
        else serialization.BestAvailableEncryption(password.encode())
    )
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, secret)
