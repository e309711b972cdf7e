"""recall, why, resume, checkpoints, timeline, sql: answers for people, and as JSON for programs."""

import json

import pytest

from support.remembering import opened, recorded


@pytest.fixture
def auth(cli, data):
    """A history of one task, and the ids of what is in it."""
    with opened(data, agent="ops-1", project="shop") as mem:
        seen = mem.observe("the pool of auth is exhausted", task="auth", tags=["db"])
        saved = mem.checkpoint("keep auth up", plan_summary="raise the pool", task="auth")
        call = mem.act("psql", task="auth", costly=True)
        running = call.__enter__()
        decided = mem.decide("raise it", because=[seen.memory_id], task="auth", caused_by=seen)
        mem.wait_for(mem.end(), vectors=True)
        ids = {"seen": seen, "saved": saved, "running": running, "decided": decided}
        mem.engine.close()  # the action never ends: the process dies here
        with pytest.raises(Exception, match="closed"):
            call.__exit__(None, None, None)
    return ids


def test_recall_shows_each_memory_with_its_source(cli, auth):
    done = cli("recall", "which pool?", "--kind", "episode", "--no-record")
    assert done.code == 0
    first, source = done.out.splitlines()[:2]
    assert first.startswith(" 1. ")
    assert first.endswith("the pool of auth is exhausted")
    for part in ("episode", "ops-1", "mnemolog.default.events 0@0", auth["seen"].id):
        assert part in source
    assert auth["seen"].memory_id in source


def test_recall_as_json_says_everything(cli, auth):
    told = cli("recall", "which pool?", "--json", "--explain", "--no-record").json
    found = next(one for one in told["memories"] if one["id"] == auth["seen"].memory_id)
    assert found["provenance"]["event_id"] == auth["seen"].id
    assert found["signals"]["lexical"]["rank"] >= 1
    assert told["missing"] == []
    assert "the pool of auth is exhausted" in told["text"]


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (("--agent", "ops-1"), True),
        (("--agent", "ops-2"), False),
        (("--project", "shop"), True),
        (("--project", "bank"), False),
        (("--user", "Ana"), False),
        (("--task", "auth"), True),
        (("--task", "jwt"), False),
        (("--tag", "db"), True),
        (("--tag", "db", "--tag", "other"), False),
        (("--kind", "episode", "--kind", "fact"), True),
        (("--kind", "fact"), False),
        (("--importance-min", "0.99"), False),
        (("--until", "2020-01-01"), False),
        (("--since", "2020-01-01"), True),
        (("--as-of", "2020-01-01"), False),
        (("--tenant", "other"), False),
    ],
)
def test_recalls_options_let_through_what_they_say(cli, auth, options, found):
    told = cli("recall", "which pool?", "--json", "--no-record", *options)
    assert told.code == 0, told.err
    ids = [memory["id"] for memory in told.json["memories"]]
    assert (auth["seen"].memory_id in ids) is found


def test_a_recall_is_recorded_unless_it_is_said_not_to(cli, auth, data):
    cli("recall", "which pool?")
    cli("recall", "and now?", "--no-record")
    cli("recall", "never?", MNEMOLOG_RECORD_RECALLS="no")
    cli("recall", "ever?", "--record", MNEMOLOG_RECORD_RECALLS="no")
    with opened(data, projects=False) as mem:
        questions = [e.event.question for e in recorded(mem) if hasattr(e.event, "question")]
    assert questions == ["which pool?", "ever?"]


def test_an_empty_answer_says_so_beside_the_answers(cli):
    done = cli("recall", "anything?")
    assert (done.code, done.out) == (0, "")
    assert done.err == "nothing is remembered that bears on it\n"


@pytest.mark.parametrize(
    "options",
    [("--hits", "0"), ("--focus", "all"), ("--tokens", "0"), ("--since", "noon"), ("--tag", "")],
)
def test_a_question_out_of_bounds_ends_with_2(cli, auth, options):
    done = cli("recall", "x", *options)
    assert (done.code, done.out) == (2, "")
    assert options[0].strip("-")[:4] in done.err or "occurred_from" in done.err


def test_why_shows_the_tree_down_to_the_log(cli, auth):
    done = cli("why", auth["decided"].id)
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0].startswith("asked: [decision.made]")
    assert any("because of: [memory]" in line for line in lines)
    assert any("mnemolog.default.events 0@0" in line for line in lines)
    told = cli("why", auth["seen"].memory_id, "--json").json
    assert told["causes"][0]["id"] == auth["seen"].id


def test_what_is_not_known_ends_with_3(cli, auth):
    for arguments in (("why", "e-7"), ("resume", "jwt")):
        done = cli(*arguments)
        assert (done.code, done.out) == (3, "")
        assert done.err.startswith("mnemolog: no ")


def test_resume_says_where_a_task_stands(cli, auth):
    assert "keep auth up" in cli("resume", "auth").out
    told = cli("resume", "auth", "--json").json
    assert told["checkpoint"]["id"] == auth["saved"].id
    assert told["pending"] == [auth["running"].action]
    assert [event["event_id"] for event in told["events_after"]] == [
        auth["running"].id,
        auth["decided"].id,
    ]
    assert told["seconds_ago"] >= 0


def test_checkpoints_and_timeline_list_what_is_there(cli, auth):
    (saved,) = cli("checkpoints", "--task", "auth", "--json").json
    assert (saved["checkpoint"], saved["agent"]) == (auth["saved"].id, "ops-1")
    told = cli("timeline", "--task", "auth", "--json").json
    assert [row["type"] for row in told] == [
        "observation.recorded",
        "checkpoint.saved",
        "action.started",
        "decision.made",
    ]
    last = cli("timeline", "--agent", "ops-1", "--rows", "1", "--json").json
    assert [row["event"] for row in last] == [auth["decided"].id]
    assert cli("timeline", "--agent", "ops-2", "--json").json == []
    table = cli("timeline", "--task", "auth").out.splitlines()
    assert table[0].split("\t")[:3] == ["occurred_at", "agent", "type"]
    assert len(table) == 5


def test_sql_answers_from_the_published_tables(cli, auth):
    done = cli("sql", "SELECT agent, count(*) AS n FROM events GROUP BY ALL", "--json")
    assert done.json == [{"agent": "ops-1", "n": 4}]
    assert cli("sql", "SELECT 1 AS one, NULL AS nothing").out == "one\tnothing\n1\t\n"


def test_sql_may_be_asked_of_what_is_published_already(cli, auth, data):
    cli("sql", "SELECT 1")
    with opened(data, projects=False, agent="ops-1") as mem:
        mem.observe("later")
    count = ("sql", "SELECT count(*) AS n FROM events", "--json")
    assert cli(*count, "--stale").json == [{"n": 4}]
    assert cli(*count).json == [{"n": 5}]


@pytest.mark.parametrize(
    "statement",
    [
        "SELEC 1",
        "SELECT 1; SELECT 2",
        "DELETE FROM events",
        "COPY events TO '/tmp/x.csv'",
        "SELECT * FROM read_csv('/etc/passwd')",
        "INSTALL httpfs",
        "",
    ],
)
def test_sql_that_does_not_ask_ends_with_2(cli, auth, statement):
    done = cli("sql", statement)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("mnemolog: sql = ")


def test_json_is_json_whatever_the_texts_hold(cli, say):
    text = 'a "quoted" \\ line\nand 中文 \u2028 \x1b[31m'
    say(text)
    assert cli("timeline", "--agent", "ops-1", "--json").json[0]["agent"] == "ops-1"
    assert json.loads(cli("recall", "quoted", "--json").out)["memories"][0]["text"]
    first, second = cli("tail", "--json").out.split("\n")[:2]
    assert json.loads(first)["data"]["text"] == text
    assert json.loads(second)["data"]["question"] == "quoted"
