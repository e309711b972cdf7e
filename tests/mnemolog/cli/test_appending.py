"""append: what went in, and what is wrong with what did not."""

import pytest

from support.remembering import opened, recorded


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
