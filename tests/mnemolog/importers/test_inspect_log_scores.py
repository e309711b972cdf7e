"""Scores, approvals and what graders cost, as feedback on what an agent did."""

import json

import pytest

from mnemolog.schemas.events.experience import (
    ActionStarted,
    FeedbackGiven,
    MessageExchanged,
    TaskStarted,
)
from support.evaluations import (
    asks,
    evaluation,
    event,
    model,
    sample,
    says,
    score,
    span,
    tool,
    user,
)
from support.import_log import ImportLog, json_file


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


def judged(log: ImportLog) -> list:
    return [found.recorded.event for found in log.of(FeedbackGiven)]


def taken(log: ImportLog, tmp_path, *events, **rest) -> None:
    report = log.take(json_file(tmp_path, evaluation(sample(*events, **rest))))
    assert report.problems == []


@pytest.mark.parametrize(
    ("value", "feedback", "label"),
    [
        ("C", 1.0, "match: C"),
        ("I", -1.0, "match: I"),
        ("P", 0.0, "match: P"),
        ("N", -1.0, "match: N"),
        (1, 1.0, "match: 1"),
        (0.25, -0.5, "match: 0.25"),
        (True, 1.0, "match: true"),
        (False, -1.0, "match: false"),
        (7, 0.0, "match: 7"),
        ("brown", 0.0, "match: brown"),
        (None, 0.0, "match: null"),
        ([1, 0], 0.0, "match: [1,0]"),
    ],
)
def test_a_value_goes_from_worst_to_best(log, tmp_path, value, feedback, label):
    taken(log, tmp_path, span("match", "scorer", score(value)))
    (made,) = judged(log)
    assert (made.score, made.label, made.given_by) == (feedback, label, "match")


def test_a_value_that_is_no_number_is_none(log, tmp_path):
    text = json.dumps(evaluation(sample(span("match", "scorer", score(float("nan"))))))
    path = tmp_path / "nan.json"
    path.write_text(text)
    assert "NaN" in text
    assert log.take(path).problems == []
    assert judged(log)[0].score == 0.0


def test_several_values_are_several_judgements(log, tmp_path):
    taken(log, tmp_path, span("rubric", "scorer", score({"tone": 1, "facts": 0})))
    assert [(made.label, made.score) for made in judged(log)] == [
        ("rubric/tone: 1", 1.0),
        ("rubric/facts: 0", -1.0),
    ]


def test_a_score_is_of_what_the_agent_said_last(log, tmp_path):
    made = model([user("Go")], says("Gone."))
    taken(log, tmp_path, made, score("C", explanation="It left.", answer="Gone."))
    (feedback,) = judged(log)
    assert feedback.target == log.of(MessageExchanged)[-1].envelope.id
    assert feedback.comment == "It left."


def test_an_explanation_that_is_the_answer_is_not_said_again(log, tmp_path):
    taken(log, tmp_path, model([user("Go")], says("Gone.")), score("C", explanation="Gone. "))
    assert judged(log)[0].comment is None


def test_without_an_answer_a_score_is_of_the_task(log, tmp_path):
    taken(log, tmp_path, score("I"))
    assert judged(log)[0].target == log.of(TaskStarted)[0].envelope.id


def test_a_score_of_the_sample_is_told_unless_an_event_told_it(log, tmp_path):
    same, other = {"value": "C", "answer": "x"}, {"value": 0.5}
    row = span("match", "scorer", score("C", answer="x"))
    taken(log, tmp_path, row, scores={"match": same, "length": other})
    assert [made.label for made in judged(log)] == ["match: C", "length: 0.5"]


def test_scores_in_between_are_told_each(log, tmp_path):
    taken(log, tmp_path, score(0, seconds=3), score(1, seconds=4), score(1, seconds=5))
    assert [made.score for made in judged(log)] == [-1.0, 1.0, 1.0]


@pytest.mark.parametrize("how", [{"role": "grader"}, {}])
def test_a_grader_s_words_are_not_the_agent_s_but_its_cost_is_told(log, tmp_path, how):
    graded = model([user("Is it right?")], says("GRADE: C"), begun=5, ended=6, **how)
    row = [model([user("Go")], says("Gone.")), span("facts", "scorer", graded, score("C"))]
    taken(log, tmp_path, *row)
    assert [found.recorded.event.text for found in log.of(MessageExchanged)] == ["Go", "Gone."]
    assert judged(log)[0].model_use.tokens_in == 12


def test_steps_of_older_logs_say_what_is_a_scorer_s(log, tmp_path):
    graded = model([user("Is it right?")], says("GRADE: C"), begun=5, ended=6)
    row = [
        event("step", action="begin", type="solver", name="generate"),
        model([user("Go")], says("Gone.")),
        event("step", action="end", type="solver", name="generate"),
        event("step", action="begin", type="scorer", name="facts"),
        *(graded, score("C")),
        event("step", action="end", type="scorer", name="facts"),
    ]
    taken(log, tmp_path, *row)
    assert [found.recorded.event.text for found in log.of(MessageExchanged)] == ["Go", "Gone."]
    assert judged(log)[0].given_by == "facts"


@pytest.mark.parametrize(
    ("decision", "value"), [("approve", 1.0), ("reject", -1.0), ("modify", 0.0)]
)
def test_an_approval_is_feedback_on_the_call(log, tmp_path, decision, value):
    approved = event(
        "approval",
        2,
        message="",
        call=asks("look"),
        approver="human",
        decision=decision,
        explanation="Mind the gap.",
    )
    called = model([user("Go")], says("", asks("look")))
    taken(log, tmp_path, called, approved, tool("look", "blue", begun=3, ended=4))
    (made,) = judged(log)
    assert (made.score, made.label, made.given_by) == (value, decision, "human")
    assert made.target == log.of(ActionStarted)[0].envelope.id
    assert made.comment == "Mind the gap."
