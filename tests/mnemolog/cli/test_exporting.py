"""The export command: a log out, and another made of it by the import command."""

import gzip
import json
import subprocess
import sys
from datetime import timedelta

import pytest

from mnemolog.schemas.blobs import digest_of
from support.remembering import opened, recorded

EVENTS = 300


def lines_of(content):
    return [json.loads(line) for line in content.splitlines()]


@pytest.fixture
def filled(cli, say):
    """A log of two observations and a policy."""
    say("the pool of auth", "--task", "t-1")
    policy = '{"revision": 1, "policy": {"write": {"importance": 0.25}}}'
    assert cli("append", "policy.changed", policy).code == 0
    say("the pool of order")


def test_events_go_to_standard_output_and_what_was_written_to_standard_error(cli, filled):
    done = cli("export")
    assert done.code == 0
    types = [line["type"].removeprefix("mnemolog.") for line in lines_of(done.out)]
    assert types == [
        "export.begun",
        *("observation.recorded", "policy.changed", "observation.recorded"),
        "export.ended",
    ]
    assert done.err == "3 events, 0 other records, 0 blobs\n"
    assert json.loads(cli("export", "--json").err)["events"] == 3


def test_a_file_is_written_once_and_told_on_standard_output(cli, filled, tmp_path):
    path = tmp_path / "x.jsonl.gz"
    done = cli("export", "--to", path)
    assert (done.code, done.out) == (0, f"3 events, 0 other records, 0 blobs: {path}\n")
    first = path.read_bytes()
    assert len(lines_of(gzip.decompress(first))) == 5
    again = cli("export", "--to", path)
    assert again.code == 2
    assert "--force" in again.err
    told = cli("export", "--to", path, "--force", "--json").json
    assert (told["target"], told["events"], told["by_type"]["policy.changed"]) == (str(path), 3, 1)
    assert path.read_bytes() == first


def test_an_export_that_is_interrupted_leaves_the_file_as_it_was_and_says_so(
    cli, filled, tmp_path, monkeypatch
):
    path = tmp_path / "x.jsonl"
    path.write_text("mine")

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as around:
        around.setattr("mnemolog.exporting.document_bytes", interrupted)
        done = cli("export", "--to", path, "--force")
    assert (done.code, "interrupted: what was written is nothing" in done.err) == (130, True)
    assert path.read_text() == "mine"
    assert [p.name for p in tmp_path.iterdir() if "draft" in p.name] == []


def test_an_export_is_imported_into_another_folder_and_tenant(cli, filled, tmp_path):
    path, other = tmp_path / "x.jsonl", str(tmp_path / "other")
    assert cli("export", "--to", path).code == 0
    done = cli("import", path, "--data", other, "--tenant", "elsewhere")
    assert done.code == 0, done.err
    assert done.out.startswith("3 events added, 0 were there")
    assert (
        cli("import", path, "--data", other, "--tenant", "elsewhere", "--json").json["added"] == 0
    )
    asked = ("recall", "which pool?", "--data", other, "--tenant", "elsewhere", "--json")
    hits = {hit["text"] for hit in cli(*asked).json["memories"]}
    assert hits == {"the pool of auth", "the pool of order"}
    assert cli("verify", "--data", other, "--tenant", "elsewhere").code == 0


def test_an_export_may_be_piped_into_an_import(cli, filled, tmp_path):
    piped = cli("export").out.encode()
    done = cli("import", "-", "--data", str(tmp_path / "other"), stdin=piped)
    assert done.out.startswith("3 events added, 0 were there, 1 file(s)")


def test_an_export_comes_back_to_its_own_log_and_adds_nothing(cli, filled, tmp_path):
    path = tmp_path / "x.jsonl"
    cli("export", "--to", path)
    told = cli("import", path, "--json").json
    assert (told["added"], told["already_there"], told["problems"]) == (0, 3, [])


def test_an_agent_and_a_time_narrow_it(cli, filled):
    by = cli("export", "--agent", "nobody")
    assert [line["type"] for line in lines_of(by.out)[1:-1]] == ["mnemolog.policy.changed"]
    assert cli("export", "--until", "2001-01-01").err.startswith("0 events")
    assert cli("export", "--from", "2001-01-01").err.startswith("3 events")
    wrong = cli("export", "--from", "yesterday")
    assert (wrong.code, "recorded_from" in wrong.err) == (2, True)


def test_a_log_that_is_not_there_is_not_made(cli, data):
    assert cli("export").code == 3
    assert not data.exists()


def test_a_folder_that_can_not_be_is_told(cli, filled, tmp_path):
    done = cli("export", "--to", tmp_path / "missing" / "x")
    assert done.code == 2
    assert "No such file" in done.err


def test_a_text_beside_the_log_comes_along_and_a_missing_one_is_told(cli, data, say, tmp_path):
    long = "long " * 100_000
    say(long)
    say("short")
    path, other = tmp_path / "x.jsonl", tmp_path / "other"
    assert cli("export", "--to", path).out.startswith("2 events, 0 other records, 1 blobs")
    told = cli("import", path, "--data", str(other), "--json").json
    assert (told["blobs"], told["added"], told["problems"]) == (1, 2, [])
    sha256 = digest_of(long.encode())
    with opened(other) as memory:
        assert memory.engine.blobs.get(sha256) == long.encode()
        assert recorded(memory)[0].event.text != long
    with opened(data) as memory:
        [stored] = memory.engine.blobs.stored()
        assert memory.engine.blobs.discard(sha256, put_before=stored.put_at + timedelta(days=1))
    done = cli("export", "--to", path, "--force")
    assert done.code == 1
    assert f"missing: blob {sha256}" in done.err
    assert done.out.startswith("2 events, 0 other records, 0 blobs")


def test_a_reader_that_goes_away_ends_it_quietly(data, cli):
    with opened(data, agent="ops-1") as memory:
        for number in range(EVENTS):
            memory.observe(f"{number}: " + "x" * 2_000)
    export = [sys.executable, "-m", "mnemolog.cli.main", "export", "--data", str(data)]
    with subprocess.Popen(export, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        first = process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()
    assert json.loads(first)["type"] == "mnemolog.export.begun"
    assert (process.returncode, said) == (0, b"")
