"""Logs that come twice, in older shapes, with references, and with bad parts."""

import json

import pytest

from mnemolog.schemas.events.experience import MessageExchanged, TaskStarted
from support.evaluations import at, evaluation, event, model, sample, says, score, tool, user
from support.import_log import ImportLog, json_file


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


def texts(log: ImportLog) -> list[str]:
    return [found.recorded.event.text for found in log.of(MessageExchanged)]


def row() -> list[dict]:
    return [model([user("Go")], says("Gone.")), tool("look", "blue", begun=3, ended=4), score("C")]


def test_importing_twice_adds_nothing(log, tmp_path):
    made = evaluation(sample(*row()), sample(*row(), uuid="sample-2", epoch=2))
    first = log.take(json_file(tmp_path, made, name="a.json"))
    again = log.take(json_file(tmp_path, made, name="b.json"))
    assert (again.added, again.already_there) == (0, first.added)


def test_a_sample_that_a_retried_evaluation_took_over_is_the_same(log, tmp_path):
    log.take(json_file(tmp_path, evaluation(sample(*row()))))
    retried = evaluation(sample(*row()))
    retried["eval"]["run_id"] = "run-2"
    report = log.take(json_file(tmp_path, retried))
    assert report.added == 3  # the evaluation's own start, results and end


def test_samples_without_a_uuid_are_told_apart_by_run_id_and_epoch(log, tmp_path):
    made = [sample(*row(), uuid=None, id=n, epoch=e) for n, e in ((1, 1), (1, 2), ("a/../b", 1))]
    report = log.take(json_file(tmp_path, evaluation(*made)))
    assert report.problems == []
    assert len({found.envelope.session for found in log.of(TaskStarted)}) == 3
    assert {found.envelope.task for found in log.of(TaskStarted)} >= {"trains-1"}


def test_events_of_older_logs_stand_in_a_transcript(log, tmp_path):
    content = {"t1": "A long question"}
    held = [model([user("tc://t1")], says("Short."))]
    older = sample(transcript={"events": held, "content": content}, events=None)
    older.pop("events")
    older.pop("attachments", None)
    report = log.take(json_file(tmp_path, evaluation(older)))
    assert (report.problems, texts(log)) == ([], ["A long question", "Short."])


def test_attachments_are_put_in_their_places_and_missing_ones_are_named(log, tmp_path):
    made = sample(
        model([user("attachment://a1"), user("attachment://none")], says("attachment://a2")),
        attachments={"a1": "One", "a2": "Two"},
        input="attachment://a1",
    )
    report = log.take(json_file(tmp_path, evaluation(made)))
    assert texts(log) == ["One", "attachment://none", "Two"]
    assert log.of(TaskStarted)[0].recorded.event.goal == "One"
    assert [problem.place for problem in report.problems] == ["sample 1"]
    assert "attachment://none" in report.problems[0].reason


def test_an_image_is_a_reference(log, tmp_path):
    image = {"type": "image", "image": "data:image/png;base64,AAAA", "detail": "auto"}
    said = user([{"type": "text", "text": "What is this?"}, image])
    log.take(json_file(tmp_path, evaluation(sample(model([said], says("A dot."))))))
    first = log.of(MessageExchanged)[0].recorded.event
    assert first.text == "What is this?"
    assert [(p.kind, p.reference) for p in first.parts] == [("image", image["image"])]


def test_each_epoch_of_a_sample_is_a_task_of_its_own(log, tmp_path):
    epochs = [sample(*row(), epoch=epoch, uuid=f"u{epoch}") for epoch in (1, 2, 3)]
    log.take(json_file(tmp_path, evaluation(*epochs)))
    tasks = [started.envelope.task for started in log.of(TaskStarted)]
    assert tasks == ["trains-1", "trains-1-epoch-2", "trains-1-epoch-3"]


@pytest.mark.parametrize("epoch", [None, "2", [], {}, True, 0, -1])
def test_an_epoch_that_is_no_later_one_is_no_part_of_the_name(log, tmp_path, epoch):
    log.take(json_file(tmp_path, evaluation(sample(*row(), epoch=epoch))))
    assert [started.envelope.task for started in log.of(TaskStarted)] == ["trains-1"]


def test_events_alone_are_a_sample(log, tmp_path):
    begun = event("span_begin", 0, id="s", span_id="s", type="agent", name="a")
    report = log.take(json_file(tmp_path, {"events": [begun, *row()]}))
    assert report.problems == []
    assert texts(log) == ["Go", "Gone."]
    assert "session.ended" not in log.types()


def test_events_alone_are_a_task_of_their_own_about_what_the_sample_asks(log, tmp_path):
    for question in ("Which train?", "Which bus?"):
        begun = event("sample_init", 0, working_start=0.1, sample={"input": question, "id": 7})
        path = json_file(tmp_path, {"events": [begun, *row()]})
        assert log.take(path).problems == []  # it is recognised, without a span or a step
    first, second = log.of(TaskStarted)
    goals = [task.recorded.event.goal for task in (first, second)]
    assert goals == ["Which train?", "Which bus?"]
    for task in (first, second):
        assert task.envelope.task == task.envelope.session
    assert first.envelope.task != second.envelope.task


def test_a_sample_s_own_input_comes_before_that_of_its_beginning(log, tmp_path):
    begun = event("sample_init", 0, sample={"input": "Something else"})
    log.take(json_file(tmp_path, evaluation(sample(begun, *row()))))
    (task,) = log.of(TaskStarted)
    assert task.recorded.event.goal == "Which trains leave today?"


@pytest.mark.parametrize("odd", [None, 7, "text", [7], {"input": 7}, {"input": [{"a": 1}]}])
def test_a_beginning_of_any_shape_leaves_a_goal(log, tmp_path, odd):
    events = [7, event("sample_init", 0, working_start=0, sample=odd), *row()]
    log.take(json_file(tmp_path, {"events": events}))
    assert [task.recorded.event.goal for task in log.of(TaskStarted)] == [
        "A sample of an evaluation"
    ]


@pytest.mark.parametrize("names", [{"agent": "me", "user": "ann", "project": "p"}])
def test_names_that_are_asked_for_are_taken(log, tmp_path, names):
    log.take(json_file(tmp_path, evaluation(sample(*row()))), **names)
    (scope,) = {(e.key, e.envelope.user, e.envelope.project) for e in log.events()}
    assert scope == ("me", "ann", "p")


# What is bad


@pytest.mark.parametrize(
    "bad",
    [
        7,
        {},
        event("model", 2, timestamp=None),
        event("model", 2, timestamp=1_757_015_076_651),
        event("tool", 2, id="c", function=" "),
        event("tool", 2, id="c", function="x", completed="soon"),
        event("wish", 2),
    ],
)
def test_a_bad_event_is_named_and_its_neighbours_come(log, tmp_path, bad):
    made = sample(model([user("Go")], says("Gone.")), bad, model([user("On")], says("So.")))
    report = log.take(json_file(tmp_path, evaluation(made)))
    assert [problem.place for problem in report.problems] == ["sample 1, event 2"]
    assert texts(log) == ["Go", "Gone.", "On", "So."]


def test_unknown_events_are_named_once_each(log, tmp_path):
    made = sample(*(event("wish", n) for n in range(5)), event("hope", 6))
    report = log.take(json_file(tmp_path, evaluation(made)))
    assert len(report.problems) == 2
    assert "5 line(s)" in report.problems[0].reason


@pytest.mark.parametrize(
    "odd", [None, 7, "text", [], [7], {"a": 1}, [[{}]], {"choices": [7]}, {"message": []}]
)
def test_fields_of_any_shape_harm_nothing(log, tmp_path, odd):
    bad = [
        {"event": kind, "timestamp": at(2), **dict.fromkeys(("input", "output", "result"), odd)}
        | dict.fromkeys(("changes", "score", "call", "state", "arguments", "error", "data"), odd)
        | {"function": "f", "id": odd, "span_id": odd, "action": odd, "events": odd}
        for kind in ("model", "sandbox", "sample_init", "score", "approval", "info", "error")
    ]
    rest = dict.fromkeys(("messages", "scores", "attachments", "model_usage", "limit"), odd)
    made = evaluation(sample(*bad, **rest), sample(*row(), uuid="sample-2"))
    made |= {"results": odd, "plan": odd}
    log.take(json_file(tmp_path, made))
    assert texts(log)[-2:] == ["Go", "Gone."]


@pytest.mark.parametrize(
    ("header", "place"),
    [
        ({"eval": {}}, "eval"),
        ({"eval": {"run_id": "r", "created": "soon", "task": "t"}, "stats": {}}, "eval"),
        ({"eval": 7, "stats": 7}, "eval"),
    ],
)
def test_a_bad_header_is_named_and_the_samples_come(log, tmp_path, header, place):
    report = log.take(json_file(tmp_path, {**evaluation(sample(*row())), **header}))
    assert {problem.place for problem in report.problems} == {place}
    assert texts(log) == ["Go", "Gone."]


@pytest.mark.parametrize("bad", [b"", b"[1]", b"7", b'{"eval": {', b"\xff\xfe", b'{"a": ' * 5000])
def test_what_is_no_log_is_a_problem(log, tmp_path, bad):
    path = tmp_path / "in.json"
    path.write_bytes(bad)
    assert len(log.take(path, format="inspect").problems) >= 1


def test_a_bad_sample_is_named_and_its_neighbours_come(log, tmp_path):
    made = evaluation(7, sample(*row()), "x")
    report = log.take(json_file(tmp_path, made))
    assert [problem.place for problem in report.problems] == ["sample 1", "sample 3"]
    assert json.dumps(texts(log)) == '["Go", "Gone."]'
