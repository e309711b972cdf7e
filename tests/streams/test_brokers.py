"""What clients are told of brokers; a setting that can't be used, or would not be, is refused."""

import ssl

import pytest
import trustme

from mnemolog.schemas.errors import InvalidSetting
from mnemolog.streams.brokers import Brokers, Security, brokers_at
from support.secured_broker import key_of

LOGIN = {"sasl_username": "ada", "sasl_password": "sesame"}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return the files of an authority and of a client's certificate."""
    folder = tmp_path_factory.mktemp("pem")
    authority = trustme.CA()
    issued = authority.issue_cert("client@example.org")
    authority.cert_pem.write_to_path(folder / "ca.pem")
    issued.cert_chain_pems[0].write_to_path(folder / "cert.pem")
    issued.private_key_pem.write_to_path(folder / "key.pem")
    return folder


def test_addresses_alone_are_spoken_to_in_plain_text():
    brokers = brokers_at("a:1,b:2")
    assert (str(brokers), brokers_at(brokers)) == ("a:1,b:2", brokers)
    assert brokers.options() == {
        "bootstrap_servers": "a:1,b:2",
        "security_protocol": "PLAINTEXT",
        "ssl_context": None,
    }


@pytest.mark.parametrize("mechanism", ["", "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_a_login_is_told_with_its_mechanism(mechanism):
    security = Security("SASL_PLAINTEXT", mechanism, **LOGIN)
    security.check()
    told = Brokers("a:1", security).options()
    assert told["ssl_context"] is None
    assert {name: told[name] for name in told if name.startswith("sasl")} == {
        "sasl_mechanism": mechanism or "PLAIN",
        "sasl_plain_username": "ada",
        "sasl_plain_password": "sesame",
    }


def test_tls_checks_who_the_broker_is_and_shows_who_the_client_is(files):
    security = Security(
        "SSL",
        ssl_ca_file=str(files / "ca.pem"),
        ssl_cert_file=str(files / "cert.pem"),
        ssl_key_file=str(files / "key.pem"),
    )
    security.check()
    context = Brokers("a:1", security).options()["ssl_context"]
    assert (context.check_hostname, context.verify_mode) == (True, ssl.CERT_REQUIRED)
    assert len(context.get_ca_certs()) == 1


def test_a_password_is_read_from_its_file_each_time_and_without_its_line_end(tmp_path):
    file = tmp_path / "password"
    security = Security("SASL_SSL", sasl_username="ada", sasl_password_file=str(file))
    for password in ("sesame", " open sesame 芝麻 "):
        file.write_text(f"{password}\n", encoding="utf-8")
        assert security.password() == password


@pytest.mark.parametrize("content", [None, b"", b"\n", b"\xff\xfe"])
def test_a_password_file_without_a_password_is_refused_by_name(tmp_path, content):
    file = tmp_path / "password"
    if content is not None:
        file.write_bytes(content)
    security = Security("SASL_SSL", sasl_username="ada", sasl_password_file=str(file))
    security.check()  # a file may come later
    with pytest.raises(InvalidSetting, match="kafka_sasl_password_file"):
        security.password()


@pytest.mark.parametrize(
    ("security", "setting"),
    [
        (Security("TLS"), "kafka_security_protocol"),
        (Security("sasl_ssl"), "kafka_security_protocol"),
        (Security("SASL_SSL"), "kafka_sasl_username"),
        (Security("SASL_SSL", sasl_username="ada"), "kafka_sasl_password"),
        (Security("SASL_SSL", **LOGIN, sasl_password_file="/f"), "kafka_sasl_password"),
        (Security("SASL_SSL", "GSSAPI", **LOGIN), "kafka_sasl_mechanism"),
        (Security("SSL", ssl_cert_file="/c"), "kafka_ssl_key_file"),
        (Security("SSL", ssl_key_file="/k"), "kafka_ssl_cert_file"),
        (Security(sasl_username="ada"), "kafka_sasl_username"),
        (Security("SSL", sasl_password="sesame"), "kafka_sasl_password"),
        (Security(ssl_ca_file="/ca"), "kafka_ssl_ca_file"),
        (Security("SASL_PLAINTEXT", **LOGIN, ssl_ca_file="/ca"), "kafka_ssl_ca_file"),
    ],
)
def test_what_makes_no_sense_or_would_be_ignored_is_refused_by_name(security, setting):
    with pytest.raises(InvalidSetting) as raised:
        security.check()
    assert raised.value.name == setting


@pytest.mark.parametrize("name", ["ssl_ca_file", "ssl_cert_file"])
@pytest.mark.parametrize("content", [None, b"", b"no PEM at all", b"\x00\xff"])
def test_a_file_that_is_no_pem_is_refused_by_name(files, tmp_path, name, content):
    file = tmp_path / "file.pem"
    if content is not None:
        file.write_bytes(content)
    given = {"ssl_key_file": str(files / "key.pem"), name: str(file)}
    if name == "ssl_ca_file":
        del given["ssl_key_file"]
    with pytest.raises(InvalidSetting, match=f"kafka_{name}"):
        Security("SSL", **given).context()


def test_a_key_that_wants_a_password_asks_nobody(files, tmp_path):
    key = tmp_path / "key.pem"
    key.write_bytes(key_of((files / "key.pem").read_bytes(), "secret"))
    given = {"ssl_cert_file": str(files / "cert.pem"), "ssl_key_file": str(key)}
    assert Security("SSL", **given, ssl_key_password="secret").context() is not None
    for wrong in ("", "other"):
        with pytest.raises(InvalidSetting, match="kafka_ssl_cert_file"):
            Security("SSL", **given, ssl_key_password=wrong).context()


def test_no_password_is_in_what_is_printed():
    security = Security("SASL_SSL", **LOGIN, ssl_key_password="of the key")
    assert "sesame" not in repr(Brokers("a:1", security))
    assert "of the key" not in repr(security)
    with pytest.raises(InvalidSetting) as raised:
        Security("SSL", sasl_password="sesame").check()
    assert "sesame" not in str(raised.value)
