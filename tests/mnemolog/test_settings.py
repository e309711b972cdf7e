"""Each setting has a value and an origin: an argument before the environment before a default."""

from pathlib import Path

import pytest

from mnemolog.memory import Memory
from mnemolog.schemas.errors import InvalidEvent, InvalidSetting
from mnemolog.settings import KNOWN, Settings

UNSET = [name for name in KNOWN if name.startswith("kafka_") and "protocol" not in name]


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch):
    for variable, _, _ in KNOWN.values():
        monkeypatch.delenv(variable, raising=False)


def test_what_nobody_set_has_its_default():
    settings = Settings.resolve()
    assert {name: one.value for name, one in settings.found.items()} == {
        "data": "./mnemolog-data",
        "log": "",
        "tenant": "default",
        "partitions": "",
        "embedder": "auto",
        "event_bytes_max": "1048576",
        "blobs": "yes",
        "blobs_folder": "",
        "blob_text_bytes": "262144",
        "blob_data_uri_bytes": "65536",
        "record_recalls": "yes",
        "processors": "yes",
        "disk_warn_percent": "80",
        "disk_refuse_percent": "95",
        "lag_seconds_max": "60",
        "still_seconds_max": "120",
        "probe_file": "",
        "probe_seconds": "300",
        "retired_days": "7",
        "health_listen": "",
        "kafka_security_protocol": "PLAINTEXT",
        **dict.fromkeys(UNSET, ""),
    }
    assert {one.origin for one in settings.found.values()} == {"default"}
    assert (settings.partitions, settings.records_recalls) == (None, True)


@pytest.mark.parametrize(
    ("name", "value", "other"),
    [
        ("data", "/a", "/b"),
        ("log", "kafka://a:1", "kafka://b:1"),
        ("tenant", "acme", "北京"),
        ("partitions", "3", "4"),
        ("embedder", "fast", "hashing"),
        ("event_bytes_max", "4096", "1048576"),
        ("blobs", "no", "yes"),
        ("blobs_folder", "/a", "/b"),
        ("blob_text_bytes", "16384", "1048576"),
        ("blob_data_uri_bytes", "4096", "1048576"),
        ("record_recalls", "no", "yes"),
        ("disk_warn_percent", "70", "90"),
        ("disk_refuse_percent", "90", "100"),
    ],
)
def test_an_argument_goes_before_the_environment_which_goes_before_the_default(
    monkeypatch, name, value, other
):
    variable = KNOWN[name][0]
    monkeypatch.setenv(variable, value)
    found = Settings.resolve().found[name]
    assert (found.value, found.origin) == (value, f"environment {variable}")
    found = Settings.resolve(**{name: other}).found[name]
    assert (found.value, found.origin) == (other, "argument")


def test_an_empty_variable_is_as_good_as_none(monkeypatch):
    monkeypatch.setenv("MNEMOLOG_TENANT", "")
    assert Settings.resolve().found["tenant"].origin == "default"


def test_an_argument_may_undo_what_the_environment_says(monkeypatch):
    monkeypatch.setenv("MNEMOLOG_LOG", "kafka://host:9092")
    found = Settings.resolve(log="").found["log"]
    assert (found.value, found.origin) == ("", "argument")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("partitions", "0"),
        ("partitions", "-1"),
        ("partitions", "1025"),
        ("partitions", "four"),
        ("record_recalls", "maybe"),
        ("blobs", "some"),
        ("blobs_folder", "a\0b"),
        ("blob_text_bytes", "16383"),
        ("blob_text_bytes", "1048577"),
        ("blob_data_uri_bytes", "4095"),
        ("blob_data_uri_bytes", "64 KiB"),
        ("tenant", "../x"),
        ("tenant", ""),
        ("data", ""),
        ("data", " "),
        ("kafka_security_protocol", "TLS"),
        ("kafka_ssl_ca_file", "/ca.pem"),
    ],
)
def test_a_value_that_can_not_be_used_is_refused_by_name_and_kept_for_showing(name, value):
    with pytest.raises(InvalidSetting) as raised:
        Settings.resolve(**{name: value})
    assert (raised.value.name, raised.value.value) == (name, value)
    assert Settings.unchecked(**{name: value})[name] == value


def test_a_tenants_folder_is_below_the_data_folder_whatever_its_name():
    data = Path("/data")
    for tenant in ("acme", "Acme", "北京", "a/b"):
        folder = Settings.resolve(tenant=tenant).tenant_folder(data)
        assert folder.parent == data
    assert Settings.resolve(tenant="Acme").tenant_folder(data).name == "_41cme"


@pytest.mark.parametrize("value", ["1023", "1048577", "1 MB", "-1"])
def test_an_event_is_bound_by_the_topic_whatever_is_set(value):
    with pytest.raises(InvalidSetting, match="1024 to 1048576"):
        Settings.resolve(event_bytes_max=value)


def test_an_event_over_the_setting_is_refused_with_both_sizes(monkeypatch):
    monkeypatch.setenv("MNEMOLOG_EVENT_BYTES_MAX", "2048")
    with Memory(":memory:", embedder="hashing", projects=False) as memory:
        with pytest.raises(InvalidEvent, match="the limit is 2048"):
            memory.observe("x" * 2048)
        memory.observe("x")
