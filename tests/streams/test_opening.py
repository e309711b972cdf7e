"""A setting names a log, or the error says what it may name."""

import subprocess
import sys

import pytest

from mnemolog.schemas.errors import InvalidSetting
from mnemolog.streams.opening import _kafka_of, open_log
from mnemolog.streams.sqlite_log import SQLiteLog
from support.log_records import everything, numbered, values


def test_no_url_is_the_embedded_log_in_the_folder(tmp_path):
    log = open_log(None, folder=tmp_path / "data", tenant="acme")
    assert isinstance(log, SQLiteLog)
    assert (log.topic, log.partitions) == ("mnemolog.acme.events", 1)
    log.append([numbered(1)])
    log.close()
    again = open_log(None, folder=tmp_path / "data", tenant="acme", read_only=True)
    assert values(everything(again)) == [b"1"]
    again.close()
    assert (tmp_path / "data" / "log.db").exists()


def test_the_embedded_log_has_the_partitions_that_are_asked_for(tmp_path):
    log = open_log(None, folder=tmp_path, tenant="acme", partitions=3)
    assert log.partitions == 3
    log.close()


@pytest.mark.parametrize(
    ("url", "brokers", "numbers"),
    [
        ("kafka://host:9092", "host:9092", {}),
        ("kafka://a:1,b:2,[::1]:3", "a:1,b:2,[::1]:3", {}),
        ("kafka://host:9092/", "host:9092", {}),
        (
            "kafka://host:9092?partitions=8&replication=3&min_insync=2",
            "host:9092",
            {"partitions": 8, "replication": 3, "min_insync": 2},
        ),
    ],
)
def test_a_kafka_url_is_brokers_and_numbers(url, brokers, numbers):
    assert _kafka_of(url) == (brokers, numbers)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "log.db",
        "http://host:9092",
        "kafka://",
        "kafka://host",
        "kafka://host:port",
        "kafka://host:0",
        "kafka://host:70000",
        "kafka://host:9092,",
        "kafka://user@host:9092",
        "kafka://[host:9092",
        "kafka://host:9092/topic",
        "kafka://host:9092#x",
        "kafka://host:9092?partitions=0",
        "kafka://host:9092?partitions=",
        "kafka://host:9092?partitions=four",
        "kafka://host:9092?topic=other",
    ],
)
def test_anything_else_is_refused_with_what_is_allowed(url, tmp_path):
    with pytest.raises(InvalidSetting, match=r"kafka://host:port|from 1") as refused:
        open_log(url, folder=tmp_path, tenant="acme")
    assert refused.value.value == url


@pytest.mark.parametrize("tenant", ["", " ", "../up", "mnemolog:ours", "a\nb"])
def test_a_tenant_that_can_not_be_one_is_refused(tenant, tmp_path):
    with pytest.raises(InvalidSetting, match="tenant"):
        open_log(None, folder=tmp_path, tenant=tenant)


def test_kafkas_client_is_not_imported_for_the_embedded_log():
    code = "import sys, mnemolog.streams.opening; print('aiokafka' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "False\n"
