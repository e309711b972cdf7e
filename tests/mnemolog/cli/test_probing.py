"""probe asks golden queries: how many found what they must decides the exit code."""

import pytest

from support.remembering import opened, recorded

HIT = '{"ask": "which pool is full?", "text": "pool of auth"}\n'
MISS = '{"ask": "which pool is full?", "text": "the sky is blue"}\n'


@pytest.fixture
def golden(tmp_path):
    def write(text, name="asked.jsonl"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_enough_that_is_found_is_well(cli, say, golden):
    say("the connection pool of auth is full")
    done = cli("probe", golden(HIT * 4 + MISS))
    assert done.code == 0, done.err
    *_, missed, wanted, first, last = done.out.splitlines()
    assert missed.split() == ["missed", "which", "pool", "is", "full?"]
    assert wanted.strip() == "must be found: the sky is blue"
    assert first.strip() == "came first: the connection pool of auth is full"
    assert last == "4 of 5 found, 80%"


def test_less_than_enough_exits_with_1(cli, say, golden):
    say("the connection pool of auth is full")
    done = cli("probe", golden(HIT * 3 + MISS), "--json")
    assert done.code == 1
    assert done.json["rate"] == 0.75
    assert [one["found"] for one in done.json["questions"]] == [True, True, True, False]


def test_the_file_may_stand_in_the_tenants_folder_or_be_named_by_a_variable(cli, say, data, golden):
    say("the connection pool of auth is full")
    assert cli("probe").code == 3
    (data / "default" / "golden.jsonl").write_text(HIT)
    assert cli("probe").code == 0
    assert cli("probe", MNEMOLOG_PROBE_FILE=str(golden(MISS))).code == 1


def test_a_file_that_is_none_exits_with_2_and_names_the_place(cli, golden):
    done = cli("probe", golden("nonsense"))
    assert done.code == 2
    assert "line 1 of asked.jsonl" in done.err
    missing = cli("probe", golden("").with_name("not-there.toml"))
    assert (missing.code, "Name a file" in missing.err) == (3, True)
    assert "Name a file" in cli("probe").err


def test_asking_appends_nothing(cli, say, data, golden):
    say("the connection pool of auth is full")
    cli("probe", golden(HIT), MNEMOLOG_RECORD_RECALLS="yes")
    with opened(data, projects=False) as memory:
        assert len(recorded(memory)) == 1
