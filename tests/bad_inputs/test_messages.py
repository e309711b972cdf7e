"""Messages of language models: arguments that are none, content in parts, content that is blank."""

import json

import pytest

from mnemolog.projections.memories.hashing_embedder import HashingModel
from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.events.experience import (
    ActionFinished,
    ActionStarted,
    MessageExchanged,
    ObservationRecorded,
)
from mnemolog.schemas.fields import is_blank
from support.chats import answer, asks, call, run, says, user
from support.import_log import TENANT, ImportLog, json_file, lines_file
from support.remembering import opened, texts

BLANK = ("", " ", "\n\t", "\u3000\u200b\n", "\ufeff", "\u2060\u200d", "\xa0" * 9)


@pytest.mark.bad_input(19)
@pytest.mark.parametrize(
    ("given", "arguments", "raw"),
    [("", {}, ""), (" \n", {}, " \n"), (None, {}, None), ("null", {}, "null"), ({}, {}, None)],
)
@pytest.mark.parametrize("shape", ["messages", "a judged run", "lines"])
def test_empty_arguments_are_no_arguments_and_what_was_written_is_kept(
    tmp_path, shape, given, arguments, raw
):
    messages = [user("go"), asks(call("list_seats", given)), says("done")]
    log = ImportLog()
    match shape:
        case "messages":
            report = log.take(json_file(tmp_path, messages))
        case "lines":
            report = log.take(lines_file(tmp_path, *messages))
        case _:
            report = log.take(json_file(tmp_path, [run(messages)]))
    assert report.problems == []
    (started,) = (found.recorded.event for found in log.of(ActionStarted))
    assert (started.arguments, started.raw) == (arguments, raw)
    assert len(log.of(MessageExchanged)) == 2


@pytest.mark.bad_input(19)
def test_an_action_without_arguments_is_an_action():
    with opened(agent="ops-1") as mem:
        for arguments in (None, {}):
            with mem.act("list_seats", arguments=arguments):
                pass
        mem.append("action.started", {"action": "a", "tool": "t", "arguments": {}, "raw": ""})
        rows = mem.sql("SELECT arguments, raw FROM actions ORDER BY started_at, raw NULLS FIRST")
        assert [(arguments or "{}", raw) for arguments, raw in rows.rows] == [
            ("{}", None),
            ("{}", None),
            ("{}", ""),
        ]


PARTS = [
    {"type": "text", "text": "I love hiking"},
    {"type": "image_url", "image_url": {"url": "https://example.invalid/a.png"}},
    {"type": "text", "text": "in the fjords"},
]


@pytest.mark.bad_input(21)
@pytest.mark.parametrize("role", ["user", "assistant", "system", "developer"])
def test_content_in_parts_is_joined_and_what_is_no_text_is_kept_as_a_reference(tmp_path, role):
    with opened(tenant=TENANT) as mem:
        log = ImportLog(mem.engine.log)
        messages = [user("hello"), {"role": role, "content": PARTS}]
        assert log.take(json_file(tmp_path, messages), agent="ops-1").problems == []
        (said,) = (m for m in log.of(MessageExchanged) if m.recorded.event.parts)
        assert "I love hiking" in said.recorded.event.text
        assert "in the fjords" in said.recorded.event.text
        (part,) = said.recorded.event.parts
        assert part.reference == "https://example.invalid/a.png"
        mem.wait_for(mem.end())
        if role in {"user", "assistant"}:
            assert any("hiking" in text for text in texts(mem.recall("hiking")))
        rows = mem.sql("SELECT count(*) FROM messages WHERE text LIKE '%hiking%'").rows
        assert rows == [(1,)]


@pytest.mark.bad_input(21)
def test_a_tools_answer_in_parts_is_joined_too(tmp_path):
    log = ImportLog()
    messages = [user("go"), asks(call("look")), answer(PARTS), says("done")]
    assert log.take(json_file(tmp_path, messages)).problems == []
    (finished,) = (found.recorded.event for found in log.of(ActionFinished))
    assert "I love hiking" in finished.result
    assert "in the fjords" in finished.result
    assert "https://example.invalid/a.png" in json.dumps(finished.data)


@pytest.mark.bad_input(21)
@pytest.mark.parametrize("parts", [[], [{"type": "text"}], [None], [[]], [{}], [{"text": 5}], [7]])
def test_odd_parts_cost_no_neighbour(tmp_path, parts):
    log = ImportLog()
    log.take(json_file(tmp_path, [user("one"), {"role": "user", "content": parts}, user("two")]))
    said = [found.recorded.event.text for found in log.of(MessageExchanged)]
    assert [text for text in said if text] == ["one", "two"]


@pytest.mark.bad_input(23, 69)
def test_blank_text_is_kept_and_shown_to_no_model_and_all_work_goes_on(monkeypatch):
    shown, vectors = [], HashingModel.vectors

    def noting(model, texts, *, role):
        shown.extend(texts)
        return vectors(model, texts, role=role)

    monkeypatch.setattr(HashingModel, "vectors", noting)
    with opened(agent="ops-1") as mem:
        for text in BLANK:
            mem.observe(text)
            mem.message(text, role="assistant")
        mem.wait_for(mem.end(), vectors=True)
        assert mem.recall("anything").memories == ()
        last = mem.observe("the eleventh has text")
        mem.wait_for(last.token, vectors=True)
        assert texts(mem.recall("text")) == ["the eleventh has text"]
        with mem.engine.dispatcher.paused() as projector:
            (memories,) = (one for one in projector.projections if one.name == "memories")
            memories.maintenance._run()  # compaction finishes
            assert memories.maintenance.failures == 0
        count = "SELECT count(*) FROM events WHERE type IN (?, ?)"
        kinds = [ObservationRecorded.event_type, MessageExchanged.event_type]
        assert mem.sql(count, parameters=kinds).rows == [(2 * len(BLANK) + 1,)]
        assert all(built.comparison.is_equal for built in mem.rebuild())
    assert shown
    assert not any(is_blank(text) for text in shown)


@pytest.mark.bad_input(23)
@pytest.mark.parametrize("text", BLANK, ids=ascii)
def test_where_a_text_has_to_say_something_a_blank_one_is_refused_by_its_field(text):
    with opened(agent="ops-1", projects=False) as mem:
        for field, call_ in {
            "text": lambda: mem.remember(text),
            "what": lambda: mem.decide(text),
            "plan": lambda: mem.plan(text),
            "goal": lambda: mem.checkpoint(text, plan_summary="x"),
            "tool": lambda: mem.act(text).__enter__(),
        }.items():
            with pytest.raises(InvalidEvent, match=f"{field}.*blank"):
                call_()
