"""tail shows the log as it stands; config each setting and where it came from."""

import json

import pytest

from mnemolog.schemas.records import NewRecord
from support.remembering import opened


def test_tail_prints_the_last_records_one_a_line(cli, say):
    for number in range(5):
        say(f"reading {number}")
    lines = cli("tail", "-n", "2").out.splitlines()
    assert [line.split("  ")[0] for line in lines] == ["0@3", "0@4"]
    assert "observation.recorded" in lines[1]
    assert "reading 4" in lines[1]
    assert len(cli("tail").out.splitlines()) == 5
    assert cli("tail", "-n", "0").out == ""


def test_tail_shows_the_last_of_all_partitions_in_the_order_in_which_they_came(data, cli):
    said = [f"{number}" for number in range(12)]
    with opened(data, partitions=4, projects=False) as mem:
        for number, text in enumerate(said):
            mem.observe(text, agent=f"ops-{0 if number < 8 else number}")
    for count in (1, 3, 6, 12):
        lines = cli("tail", "-n", str(count), "--json").out.splitlines()
        assert [json.loads(line)["data"]["text"] for line in lines] == said[-count:]


def test_tail_may_show_one_agents_records_only(cli, say):
    say("mine")
    cli("append", "observation.recorded", '{"text": "theirs"}', "--agent", "ops-2")
    out = cli("tail", "--agent", "ops-2").out
    assert "theirs" in out
    assert "mine" not in out


def test_tail_shows_what_is_no_event_too(cli, say, data):
    say("sound")
    with opened(data, projects=False) as mem:
        mem.engine.log.append([NewRecord(b"k", b"no event", (), "0" * 32, "0" * 32)])
    lines = cli("tail").out.splitlines()
    assert lines[1].startswith("0@1  not applicable: ")


def test_tail_of_a_negative_number_and_of_nothing(cli):
    assert cli("tail", "-n", "-5").code == 2
    done = cli("tail")
    assert (done.code, done.out) == (0, "")


def test_tail_projects_nothing(cli, data):
    cli("append", "observation.recorded", '{"text": "x"}', "--no-wait")
    cli("tail")
    assert [path.name for path in (data / "default").iterdir()] == ["log"]


def origins(done):
    return {row["setting"]: (row["value"], row["origin"]) for row in done.json}


def test_config_says_where_each_setting_came_from(cli, data, monkeypatch):
    monkeypatch.setenv("MNEMOLOG_TENANT", "acme")
    found = origins(cli("config", "--json", "--log", "kafka://host:9092"))
    assert found["data"] == (str(data), "environment MNEMOLOG_DATA")
    assert found["tenant"] == ("acme", "environment MNEMOLOG_TENANT")
    assert found["log"] == ("kafka://host:9092", "argument")
    assert found["embedder"] == ("hashing", "environment MNEMOLOG_EMBEDDER")
    assert found["partitions"] == ("", "default")
    assert origins(cli("config", "--json", "--tenant", "other"))["tenant"] == ("other", "argument")
    assert not data.exists()


def test_config_explains_each_setting(cli):
    table = cli("config").out.splitlines()
    assert table[0].split("\t") == ["setting", "value", "origin", "meaning"]
    assert all(line.split("\t")[3] for line in table[1:])


@pytest.mark.parametrize(
    ("variable", "value", "name"),
    [
        ("MNEMOLOG_PARTITIONS", "four", "partitions"),
        ("MNEMOLOG_RECORD_RECALLS", "maybe", "record_recalls"),
        ("MNEMOLOG_TENANT", "../x", "tenant"),
    ],
)
def test_config_shows_a_wrong_setting_and_then_complains(cli, monkeypatch, variable, value, name):
    monkeypatch.setenv(variable, value)
    done = cli("config", "--json")
    assert done.code == 2
    assert origins(done)[name] == (value, f"environment {variable}")
    assert name in done.err
    other = cli("recall", "x")
    assert (other.code, other.out) == (2, "")
    assert "mnemolog config" in other.err
