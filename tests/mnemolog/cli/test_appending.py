"""append and import: what went in, what was there, and what is wrong with what did not."""

import json

import pytest

from support.remembering import opened, recorded

CHAT = [{"role": "user", "content": "where is order 7?"}, {"role": "assistant", "content": "here"}]


def events(data):
    with opened(data, projects=False) as mem:
        return recorded(mem)


def test_an_event_is_appended_with_all_its_options_and_can_be_recalled(cli, data):
    done = cli(
        *("append", "observation.recorded", '{"text": "the pool is exhausted", "success": false}'),
        *("--agent", "ops-1", "--user", "Ana", "--project", "shop", "--session", "s-1"),
        *("--task", "t-1", "--occurred-at", "2030-01-01T00:00:00Z", "--caused-by", "e-0"),
        *("--id", "e-1", "--json"),
    )
    assert done.code == 0
    assert done.json == {"id": "e-1", "partition": 0, "offset": 0, "token": "0@0"}
    (event,) = events(data)
    around = event.envelope
    assert (around.agent, around.user, around.project) == ("ops-1", "Ana", "shop")
    assert (around.session, around.task, around.cause) == ("s-1", "t-1", "e-0")
    assert f"{around.occurred_at:%Y-%m-%d}" == "2030-01-01"
    assert event.event.success is False
    assert cli("recall", "which pool?", "--json").json["memories"][0]["text"] == (
        "the pool is exhausted"
    )


def test_fields_may_come_from_standard_input_and_types_with_their_prefix(cli, data):
    fields = '{"text": "连接池耗尽", "role": "user"}'.encode()
    for form in ("-", None):
        name = "mnemolog.message.exchanged"
        done = cli("append", name, *([form] if form else []), stdin=fields)
        assert (done.code, done.err) == (0, "")
    assert [event.event.text for event in events(data)] == ["连接池耗尽"] * 2


def test_the_same_id_again_adds_nothing(cli, data):
    arguments = ("append", "observation.recorded", '{"text": "x"}', "--id", "e-1")
    first = cli(*arguments, "--occurred-at", "2030-01-01")
    assert cli(*arguments, "--occurred-at", "2030-01-01").out == first.out == "e-1 at 0@0\n"
    assert len(events(data)) == 1


def test_without_waiting_nothing_is_projected(cli, data):
    done = cli("append", "observation.recorded", '{"text": "x"}', "--no-wait")
    assert done.code == 0
    assert [p.name for p in (data / "default").iterdir()] == ["log"]
    assert cli("sql", "SELECT count(*) AS n FROM events", "--json").json == [{"n": 1}]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("observation.noticed", "{}"), "no such event type"),
        (("observation.recorded", "{"), "not JSON"),
        (("observation.recorded", '{"text": NaN}'), "not JSON"),
        (("observation.recorded", '{"text": "a", "text": "b"}'), "stands twice"),
        (("observation.recorded", '["text"]'), "a JSON object"),
        (("observation.recorded", "{}"), "text"),
        (("observation.recorded", '{"text": "x", "txt": "y"}'), "txt"),
        (("observation.recorded", '{"text": 7}'), "text"),
        (("observation.recorded", '{"text": "x"}', "--agent", "../x"), "agent"),
        (("observation.recorded", '{"text": "x"}', "--occurred-at", "noon"), "occurred_at"),
        (("observation.recorded", '{"text": "x"}', "--embedder", "large"), "embedder"),
        (("observation.recorded", '{"text": "x"}', "--tenant", ".."), "tenant"),
    ],
)
def test_what_is_wrong_is_named_in_one_message_with_a_hint(cli, data, arguments, named):
    done = cli("append", *arguments)
    assert (done.code, done.out) == (2, "")
    first, hint = done.err.splitlines()
    assert first.startswith("mnemolog: ")
    assert named in first
    assert hint.startswith("  ")
    assert not data.exists() or events(data) == []


# Import


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


def test_a_dry_run_says_what_it_would_do_and_does_not(cli, chat, data):
    done = cli("import", chat, chat, "--dry-run")
    assert done.code == 0
    assert done.out.startswith("3 events would be added to an empty log, 3 repeat them, 2 file(s)")
    assert "events would be added" in done.out
    assert events(data) == []


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
