"""Scores are feedback on what they judge; where the scale is unknown they weigh nothing."""

import pytest

from mnemolog.schemas.events.experience import ActionStarted, FeedbackGiven, MessageExchanged
from support.import_log import ImportLog, json_file
from support.traces import asks, assistant, generation, score, trace, user


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


def judged(log: ImportLog, tmp_path, *scores, **rest) -> list:
    made = generation("g1", heard=[user("Hi")], said=assistant("Hello"))
    report = log.take(json_file(tmp_path, trace(made, scores=scores, **rest)))
    assert report.problems == []
    return [found.recorded.event for found in log.of(FeedbackGiven)]


@pytest.mark.parametrize(
    ("given", "value", "label"),
    [
        (score("helpful", 1), 1.0, "helpful: 1"),
        (score("helpful", 0.75), 0.5, "helpful: 0.75"),
        (score("helpful", 0), -1.0, "helpful: 0"),
        (score("Toxicity", 0), 1.0, "Toxicity: 0"),
        (score("prompt_injection", 0.9), -0.8, "prompt_injection: 0.9"),
        (score("polite", 1, dataType="BOOLEAN", stringValue="True"), 1.0, "polite: True"),
        (score("stars", 4), 0.0, "stars: 4"),
        (score("gain", -0.5), 0.0, "gain: -0.5"),
        (score("tone", 2, dataType="CATEGORICAL", stringValue="dry"), 0.0, "tone: dry"),
        (score("tone", None, dataType="CATEGORICAL", stringValue="dry"), 0.0, "tone: dry"),
        (score("output", 0, dataType="CORRECTION", longStringValue="Bye"), 0.0, "output"),
    ],
)
def test_a_score_goes_from_worst_to_best(log, tmp_path, given, value, label):
    (feedback,) = judged(log, tmp_path, given)
    assert (feedback.score, feedback.label) == (value, label)


def test_a_score_of_the_trace_is_of_its_answer(log, tmp_path):
    (feedback,) = judged(log, tmp_path, score("helpful", 1, comment="Kind."))
    answer = log.of(MessageExchanged)[-1].envelope.id
    given = log.of(FeedbackGiven)[0].envelope
    assert (feedback.target, given.cause) == (answer, answer)
    assert (feedback.comment, feedback.given_by) == ("Kind.", "EVAL")
    assert given.occurred_at.isoformat() == "2025-03-01T10:00:30+00:00"
    assert given.extensions["sourceitem"] == "score-helpful"


def test_a_score_of_an_observation_is_of_what_it_told(log, tmp_path):
    made = [
        generation("g1", heard=[user("Hi")], said=assistant(None, asks("look"))),
        generation("g2", heard=[user("Well?")], said=assistant("Blue."), begun=3, ended=4),
    ]
    given = [score("a", 1, observationId="g1"), score("b", 1, observationId="unknown")]
    log.take(json_file(tmp_path, trace(*made, scores=given)))
    first, second = [found.recorded.event.target for found in log.of(FeedbackGiven)]
    assert first == log.of(ActionStarted)[0].envelope.id
    assert second == log.of(MessageExchanged)[-1].envelope.id


@pytest.mark.parametrize(("text", "comment"), [("Hello", None), ("Good day", "Good day")])
def test_a_correction_says_what_would_have_been_right(log, tmp_path, text, comment):
    right = score("output", 0, dataType="CORRECTION", longStringValue=text, authorUserId="ann")
    (feedback,) = judged(log, tmp_path, corrections=[right])
    assert (feedback.comment, feedback.given_by) == (comment, "ann")


def test_a_score_that_comes_later_is_added(log, tmp_path):
    judged(log, tmp_path, score("helpful", 1))
    made = generation("g1", heard=[user("Hi")], said=assistant("Hello"))
    later = trace(made, scores=[score("helpful", 1), score("short", 1)])
    assert log.take(json_file(tmp_path, later)).added == 1


@pytest.mark.parametrize(
    "bad",
    [
        7,
        {},
        score("x", None),
        score("x", 1, id=None),
        score("x", 1, timestamp="yesterday"),
        score("x", 1, timestamp=1_757_015_076_651),
    ],
)
def test_a_bad_score_is_named_and_its_neighbours_come(log, tmp_path, bad):
    made = generation("g1", heard=[user("Hi")], said=assistant("Hello"))
    given = [score("a", 1), bad, score("b", 1)]
    report = log.take(json_file(tmp_path, trace(made, scores=given)))
    assert [problem.place for problem in report.problems] == ["line 1, score 2"]
    assert len(log.of(FeedbackGiven)) == 2


def test_scores_that_are_no_list_are_named(log, tmp_path):
    report = log.take(json_file(tmp_path, trace(generation("g1", heard="Hi"), scores={"x": 1})))
    assert [problem.place for problem in report.problems] == ["line 1, score"]


def test_scores_stay_in_the_order_of_the_source(log, tmp_path):
    late, early = (f"2025-03-01T1{hour}:00:00Z" for hour in (2, 1))
    given = [score("b", 1, timestamp=late), score("a", 1, timestamp=early)]
    assert [one.label for one in judged(log, tmp_path, *given)] == ["b: 1", "a: 1"]
