"""Brokers that want TLS, a login or a certificate: everything that talks to them does as told."""

import uuid
from contextlib import closing

import pytest

from mnemolog import Memory
from mnemolog.schemas.errors import LogUnavailable
from mnemolog.streams.brokers import Brokers, Security
from mnemolog.streams.kafka_log import KafkaLog
from support.log_records import everything, numbered, values
from support.processes import command
from support.secured_broker import KEY_PASSWORD, PASSWORD, USER, secured_broker
from support.workers import worker

pytestmark = pytest.mark.kafka


@pytest.fixture(scope="module")
def secured(kafka, tmp_path_factory):
    """Yield a secured broker; the shared one says whether this machine can run any."""
    with secured_broker(tmp_path_factory.mktemp("secured")) as broker:
        yield broker


@pytest.fixture
def tenant():
    return f"t-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def login(secured):
    return {
        "protocol": "SASL_SSL",
        "sasl_username": USER,
        "sasl_password": PASSWORD,
        "ssl_ca_file": secured.ca_file,
    }


def round_trip(addresses, security, tenant):
    with closing(KafkaLog.open(Brokers(addresses, Security(**security)), tenant=tenant)) as log:
        log.append([numbered(1), *[numbered(n, key=b"other") for n in range(2, 100)]])
        assert sorted(values(everything(log)), key=int) == [b"%d" % n for n in range(1, 100)]


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
def test_a_log_is_written_and_read_by_who_logs_in_over_tls(secured, login, tenant, mechanism):
    round_trip(secured.login, {**login, "sasl_mechanism": mechanism}, tenant)


def test_a_log_is_written_and_read_by_who_shows_a_certificate(secured, tenant):
    security = {
        "protocol": "SSL",
        "ssl_ca_file": secured.ca_file,
        "ssl_cert_file": secured.cert_file,
        "ssl_key_file": secured.key_file,
        "ssl_key_password": KEY_PASSWORD,
    }
    round_trip(secured.certificate, security, tenant)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"sasl_password": "wrong"}, "(?i)authentication failed"),
        ({"sasl_username": "nobody", "sasl_mechanism": "SCRAM-SHA-512"}, "(?i)authentication"),
        ({"ssl_ca_file": ""}, "(?i)certificate verify failed"),
    ],
)
def test_a_client_that_is_not_let_in_says_why(secured, login, tenant, change, reason):
    brokers = Brokers(secured.login, Security(**{**login, **change}))
    with pytest.raises(LogUnavailable, match=reason):
        KafkaLog.open(brokers, tenant=tenant, timeout_seconds=5)


def test_the_settings_reach_every_client_memory_worker_status_and_topics(
    secured, login, tmp_path, tenant, monkeypatch
):
    password = tmp_path / "password"
    password.write_text(f"{PASSWORD}\n", encoding="utf-8")
    monkeypatch.setenv("MNEMOLOG_KAFKA_SECURITY_PROTOCOL", "SASL_SSL")
    monkeypatch.setenv("MNEMOLOG_KAFKA_SASL_USERNAME", USER)
    monkeypatch.setenv("MNEMOLOG_KAFKA_SASL_PASSWORD_FILE", str(password))
    monkeypatch.setenv("MNEMOLOG_KAFKA_SSL_CA_FILE", secured.ca_file)
    url = f"kafka://{secured.login}"
    group = ("--tenant", tenant, "--group", f"workers-{tenant}")
    with Memory(tmp_path / "writer", log=url, tenant=tenant, projects=False) as memory:
        token = memory.observe("the door opened", agent="ops-1").token
    with worker(tmp_path / "data", url, *group) as working:
        working.owns(tenant)
        with Memory(
            tmp_path / "data", log=url, tenant=tenant, embedder="hashing", projects=False
        ) as memory:
            assert [m.text for m in memory.recall("door", after=token)] == ["the door opened"]
        shown = command("status", "--log", url, *group, data=tmp_path / "data")
        assert b"mnemolog-worker-" in shown.stdout
        assert working.stop() == 0
    assert PASSWORD not in str(working.lines)
