"""import: what went in, what was there, what is wrong with what did not, and how far it came."""

import hashlib
import json
import os
import signal
import sys

import pytest

from mnemolog.cli.import_progress import Pace
from mnemolog.importers.report import HowFar
from support.remembering import opened, recorded

CHAT = [{"role": "user", "content": "where is order 7?"}, {"role": "assistant", "content": "here"}]


def events(data):
    with opened(data, projects=False) as mem:
        return recorded(mem)


@pytest.fixture
def chat(tmp_path):
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(CHAT))
    return path


def test_importing_twice_adds_nothing_and_says_so(cli, chat):
    first = cli("import", chat, "--agent", "ops-1", "--json").json
    assert first["added"] == sum(first["by_type"].values()) > 0
    again = cli("import", chat, "--agent", "ops-1", "--json").json
    assert (again["added"], again["already_there"]) == (0, first["added"])
    assert cli("import", chat, "--agent", "ops-1").out.startswith(
        f"0 events added, {first['added']} were there, 1 file(s)"
    )


def test_what_was_imported_can_be_recalled_and_queried_at_once(cli, chat):
    assert cli("import", chat, "--agent", "ops-1").code == 0
    found = cli("recall", "where is order 7?", "--json").json["memories"]
    assert any("order 7" in memory["text"] for memory in found)
    rows = cli("sql", "SELECT count(*) AS n FROM messages", "--stale", "--json").json
    assert rows == [{"n": 2}]


def test_what_is_parked_of_an_import_is_told(cli, tmp_path):
    said = {"specversion": "1.0", "source": "/acme", "time": "2030-01-01T00:00:00Z"}
    later = {"id": "1", "type": "mnemolog.future.happened", "agent": "a", "data": {}}
    sound = {
        "id": "2",
        "type": "mnemolog.observation.recorded",
        "agent": "b",
        "data": {"text": "x"},
    }
    recorded_at = {"recordedtime": "2030-01-01T00:00:00Z"}
    path = tmp_path / "events.jsonl"
    lines = (json.dumps(said | one | recorded_at) for one in (later, sound))
    path.write_text("\n".join(lines))
    done = cli("import", path)
    assert (done.code, "parked" in done.err) == (0, True)
    assert "future.happened" in cli("parked", "list").out


def test_a_dry_run_says_what_it_would_do_and_does_not(cli, chat, data):
    done = cli("import", chat, chat, "--dry-run")
    assert (done.code, data.exists()) == (0, False)
    assert done.out.startswith("3 events would be added, 3 are there or come twice, 2 file(s)")


def test_without_waiting_an_import_projects_nothing(cli, chat, data):
    assert cli("import", chat, "--no-wait").code == 0
    assert [path.name for path in (data / "default").iterdir()] == ["log"]


def test_a_history_may_come_from_standard_input(cli, data):
    done = cli("import", "-", "--format", "openai-chat", stdin=json.dumps(CHAT).encode())
    assert done.code == 0, done.err
    assert {"where is order 7?", "here"} <= {getattr(e.event, "text", "") for e in events(data)}


def test_a_bad_item_is_named_and_the_rest_goes_in(cli, tmp_path):
    path = tmp_path / "chat.jsonl"
    path.write_text('{"messages": [{"role": "user", "content": "hello there"}]}\n{"messages": 7}\n')
    done = cli("import", path, "--format", "openai-chat")
    assert "skipped: " in done.err
    assert str(path) in done.err
    assert "message.exchanged" in done.out


def test_an_unknown_format_and_a_missing_file_are_refused_by_name(cli, chat, tmp_path):
    done = cli("import", chat, "--format", "csv")
    assert done.code == 2
    assert "openai-chat" in done.err
    done = cli("import", tmp_path / "none.json", "--json")
    named = done.err + done.out
    assert "none.json" in named


@pytest.mark.parametrize("beside", ["none.json", "no*.json", "notes.txt"])
def test_a_path_that_gives_nothing_to_read_fails_the_command_and_not_its_neighbours(
    cli, chat, tmp_path, beside
):
    (tmp_path / "notes.txt").write_text("Nobody's format.")
    done = cli("import", tmp_path / beside, chat)
    assert (done.code, beside in done.err) == (2, True)
    assert done.out.startswith("3 events added, 0 were there, 1 file(s)")


def test_what_lies_in_a_folder_unread_and_what_is_empty_does_not_fail_it(cli, chat, tmp_path):
    (tmp_path / "notes.txt").write_text("Nobody's format.")
    (tmp_path / "new.jsonl").touch()
    done = cli("import", tmp_path, tmp_path / "new.jsonl", "-")
    assert (done.code, done.err.count("an empty file")) == (0, 2)


# A dry run


def contents(folder) -> dict[str, str]:
    """Return the digest of each file of *folder*, without what SQLite keeps while it reads."""
    reading = (".db-shm", ".db-wal")
    files = (p for p in folder.rglob("*") if p.is_file() and not p.name.endswith(reading))
    return {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def test_a_dry_run_tells_what_is_there_from_what_is_new_and_writes_nothing(
    cli, chat, data, tmp_path
):
    longer = tmp_path / "longer.json"
    longer.write_text(json.dumps([*CHAT, {"role": "user", "content": "thanks"}]))
    assert cli("import", chat, "--no-wait").code == 0
    before = contents(data)
    told = cli("import", longer, "--dry-run", "--json").json
    assert (told["added"], told["already_there"], told["tells_repeats"]) == (1, 3, True)
    assert told["added_by_type"] == {"message.exchanged": 1}
    assert contents(data) == before
    done = cli("import", longer)
    assert done.out.startswith("1 events added, 3 were there, 1 file(s)")


def test_a_dry_run_of_another_tenant_knows_nothing_of_this_one_and_makes_nothing(cli, chat, data):
    assert cli("import", chat, "--no-wait").code == 0
    told = cli("import", chat, "--dry-run", "--json", "--tenant", "other").json
    assert (told["added"], told["already_there"]) == (3, 0)
    assert [path.name for path in data.iterdir()] == ["default"]


# What is said


def test_the_counts_of_a_type_say_which_were_added_and_which_were_there(cli, chat, tmp_path):
    cli("import", chat, "--no-wait")
    longer = tmp_path / "longer.json"
    longer.write_text(json.dumps([*CHAT, {"role": "user", "content": "thanks"}]))
    rows = [line.split() for line in cli("import", longer, "--no-wait").out.splitlines()[1:]]
    assert rows == [
        ["new", "there"],
        ["1", "2", "message.exchanged"],
        ["0", "1", "session.started"],
    ]


def test_files_that_are_passed_over_are_named_twenty_of_them_and_the_rest_counted(
    cli, chat, tmp_path
):
    (tmp_path / "in").mkdir()
    chat.rename(tmp_path / "in" / chat.name)
    for number in range(23):
        (tmp_path / "in" / f"note-{number:02}.txt").write_text("Nobody's format.")
    done = cli("import", tmp_path / "in", "--no-wait")
    named = [line for line in done.err.splitlines() if "note-" in line]
    assert (done.code, len(named)) == (0, 20)
    assert str(tmp_path / "in" / "note-00.txt") in named[0]
    assert "and 3 more files that were passed over" in done.err


@pytest.mark.parametrize("format_name", ["locomo", "codex", "aider", "inspect", "cloudevents"])
def test_a_file_of_another_format_than_was_said_fails_the_command_with_what_it_looks_like(
    cli, chat, format_name
):
    done = cli("import", chat, "--format", format_name, "--no-wait")
    assert done.code == 2
    assert f"nothing in it could be read as {format_name}; it looks like openai-chat" in done.err


def test_a_folder_of_which_no_file_fits_fails_the_command_and_an_empty_one_does_not(
    cli, chat, tmp_path
):
    done = cli("import", chat.parent, "--format", "locomo", "--no-wait")
    assert (done.code, "none of them is of the format locomo" in done.err) == (2, True)
    (tmp_path / "empty").mkdir()
    done = cli("import", tmp_path / "empty", "--no-wait")
    assert (done.code, "none that has any content" in done.err) == (0, True)


# Interruption and progress


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_import_that_is_interrupted_says_how_much_went_in_and_is_completed_later(
    cli, data, tmp_path, number, monkeypatch
):
    path = tmp_path / "long.jsonl"
    lines = ({"id": f"s{n}", "messages": CHAT} for n in range(400))
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    tell = Pace.tell

    def interrupted(self, far):
        tell(self, far)
        os.kill(os.getpid(), number)

    with monkeypatch.context() as around:
        around.setattr(Pace, "tell", interrupted)
        done = cli("import", path, "--no-wait", "--agent", "ops-1")
    there = len(events(data))
    assert done.code == 130
    assert f"interrupted: {there} events went in at least, 0 were there" in done.err
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    again = cli("import", path, "--no-wait", "--agent", "ops-1", "--json").json
    assert (again["added"], again["already_there"]) == (1_200 - there, there)


def test_an_import_that_is_interrupted_while_it_waits_says_that_all_went_in(
    cli, chat, data, monkeypatch
):
    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as around:
        around.setattr("mnemolog.cli.writing.settle", interrupted)
        done = cli("import", chat)
    assert (done.code, "interrupted: all went in" in done.err) == (130, True)
    assert len(events(data)) == 3


@pytest.mark.parametrize("dry", [[], ["--dry-run"]])
def test_an_import_that_is_interrupted_at_once_says_that_nothing_went_in(
    cli, chat, monkeypatch, dry
):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as around:
        around.setattr("mnemolog.memory.Memory.import_histories", interrupted)
        done = cli("import", chat, "--no-wait", *dry)
    told = "nothing was to be added, and nothing was" if dry else "nothing went in yet"
    assert (done.code, told in done.err) == (130, True)


def test_where_there_is_no_terminal_it_is_silent_unless_progress_is_asked_for(capsys):
    far = HowFar("logs/a.jsonl", 5, 10, 700, 2, added=600, files=3)
    for always in (False, True):
        pace = Pace(always=always, every_seconds=0)
        with pace.shown():
            pace.tell(far)
        assert (capsys.readouterr().err != "") is always
    pace.tell(far)
    assert capsys.readouterr().err == (
        "700 events of 3 file(s), 2 problems; at logs/a.jsonl (50 %)\n"
    )


def test_on_a_terminal_any_number_of_files_has_one_bar_whatever_they_are_called(
    capsys, monkeypatch
):
    monkeypatch.setattr("mnemolog.cli.import_progress.BAR_AFTER_SECONDS", -1)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    pace = Pace()
    with pace.shown():
        for number in range(300):
            pace.tell(HowFar(f"[/red]\x1b[2J{number}", 1, None, number, 0, files=number))
        assert len(pace._bars._progress.tasks) == 1
    assert "\x1b[2J2" not in capsys.readouterr().err
