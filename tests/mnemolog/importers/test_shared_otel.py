"""The sample spans come in whole: counts are worked out from their JSON alone."""

import json
from collections import Counter

import pytest

from mnemolog.schemas.events.experience import MessageExchanged, ObservationRecorded
from support.import_log import ImportLog
from support.sources import ROOT

DATA = ROOT.parent / "shared" / "data" / "otel-spans"


@pytest.fixture(scope="module")
def told() -> tuple[list[dict], ImportLog]:
    path = DATA / "all-spans.json"
    if not path.exists():
        pytest.skip(f"no spans in {DATA}: the samples are not beside this checkout")
    log = ImportLog()
    report = log.take(DATA)
    assert (report.problems, report.files) == ([], 1)
    # Each call was recorded twice, in traces of their own: by the SDK, and by its call of a model.
    inner = [span for span in json.loads(path.read_bytes()) if ".do" in span["name"]]
    return inner, log


def test_each_call_of_a_model_is_told_once(told):
    inner, log = told
    asked = [json.loads(s["attributes"].get("ai.prompt.messages", "[]")) for s in inner]
    words = Counter(message["role"] for messages in asked for message in messages)
    answers = sum("ai.prompt.messages" in span["attributes"] for span in inner)
    roles = Counter(found.recorded.event.role for found in log.of(MessageExchanged))
    assert roles == {**words, "assistant": words["assistant"] + answers}
    assert len(log.of(ObservationRecorded)) == len(inner) - answers  # an embedding says nothing
    assert log.types().count("session.started") == len(inner)
    assert log.types().count("session.ended") == len(inner)


def test_the_answers_are_those_that_the_spans_hold(told):
    inner, log = told
    given = [span["attributes"] for span in inner if "ai.prompt.messages" in span["attributes"]]
    texts = [a.get("ai.response.text") or a["ai.response.object"] for a in given]
    said = [e.recorded.event for e in log.of(MessageExchanged) if e.recorded.event.model_use]
    assert [event.text for event in said] == texts


def test_the_tokens_are_those_of_the_inner_calls(told):
    inner, log = told
    uses = [e.recorded.event.model_use for e in log.events() if e.recorded.event.model_use]
    counted = [span["attributes"] for span in inner]
    assert [use.tokens_in for use in uses] == [
        a.get("gen_ai.usage.input_tokens", a.get("ai.usage.tokens")) for a in counted
    ]
    assert [use.tokens_out for use in uses] == [
        a.get("gen_ai.usage.output_tokens", 0) for a in counted
    ]


def test_times_are_the_spans_to_the_microsecond(told):
    inner, log = told
    ends = [e.envelope.occurred_at for e in log.events() if e.recorded.event.model_use]
    for moment, span in zip(ends, inner, strict=True):
        seconds, nanoseconds = span["endTime"]
        assert (int(moment.timestamp()), moment.microsecond) == (seconds, nanoseconds // 1_000)


def test_a_second_import_adds_nothing(told):
    _, log = told
    there = log.size()
    report = log.take(DATA)
    assert (report.added, report.already_there, log.size()) == (0, there, there)
