"""The sample traces come in whole: counts are worked out from their JSON, or by reading them."""

import json
from collections import Counter
from dataclasses import dataclass

import pytest

from mnemolog.schemas.events.experience import (
    ActionFinished,
    ActionStarted,
    FeedbackGiven,
    MessageExchanged,
    SessionStarted,
)
from support.import_log import ImportLog
from support.sources import ROOT

DATA = ROOT.parent / "shared" / "data" / "langfuse"
FILES = sorted(DATA.glob("*.json"))


@dataclass(frozen=True)
class Read:
    """What a person finds in a trace: system and user messages, answers, calls with an answer."""

    user: int
    assistant: int = 0
    system: int = 0
    calls: int = 0
    answered: int = 0


READ = {
    "agno": Read(user=1, assistant=1, system=1, calls=1, answered=1),
    "beeai": Read(
        user=1, assistant=3, system=1, calls=1, answered=1
    ),  # two thoughts and the answer
    "crewai": Read(user=1, assistant=1, system=1),
    "google": Read(user=1, assistant=1, system=1, calls=1, answered=1),
    "koog": Read(user=1, assistant=1, system=1, calls=2, answered=2),
    "langgraph": Read(user=2, assistant=1, calls=1, answered=1),
    "microsoft": Read(user=1, assistant=1, system=1, calls=1, answered=1),
    "pydantic-ai-2025": Read(user=1, assistant=1, system=1),
    # a second agent has instructions and a question of its own, and calls a tool that never runs
    "pydantic-ai-tools": Read(user=3, assistant=2, system=2, calls=4, answered=3),
    "vercel": Read(user=1, calls=1, answered=1),
}

pytestmark = pytest.mark.skipif(
    not FILES, reason=f"no trace in {DATA}: the samples are not beside this checkout"
)


@pytest.fixture(scope="module", params=FILES, ids=lambda path: path.name)
def told(request) -> tuple[str, dict, ImportLog]:
    log = ImportLog()
    report = log.take(request.param)
    assert (report.problems, report.files) == ([], 1)
    return request.param.name, json.loads(request.param.read_bytes()), log


def leaves(observations: list[dict]) -> list[dict]:
    """Return the calls of models that hold no other call of a model."""
    by_id = {o["id"]: o for o in observations}
    holding = set()
    for made in observations:
        above = by_id.get(made["parentObservationId"])
        while made["type"] == "GENERATION" and above is not None:
            holding.add(above["id"])
            above = by_id.get(above["parentObservationId"])
    return [o for o in observations if o["type"] == "GENERATION" and o["id"] not in holding]


def test_each_message_and_call_is_there_once(told):
    name, _, log = told
    (read,) = [read for start, read in READ.items() if name.startswith(start)]
    roles = Counter(found.recorded.event.role for found in log.of(MessageExchanged))
    made = Read(
        user=roles["user"],
        assistant=roles["assistant"],
        system=roles["system"],
        calls=len(log.of(ActionStarted)),
        answered=len(log.of(ActionFinished)),
    )
    assert made == read
    texts = [found.recorded.event.text for found in log.of(MessageExchanged)]
    assert len(texts) == len(set(texts))


def test_the_tokens_and_the_costs_are_those_of_the_innermost_calls(told):
    _, source, log = told
    uses = [e.recorded.event.model_use for e in log.events() if e.recorded.event.model_use]
    spent = leaves(source["observations"])
    assert sum(u.tokens_in for u in uses) == sum(o["usageDetails"].get("input", 0) for o in spent)
    assert sum(u.tokens_out for u in uses) == sum(o["usageDetails"].get("output", 0) for o in spent)
    assert sum(u.cost_usd or 0 for u in uses) == pytest.approx(
        sum(o.get("totalCost") or 0 for o in spent)
    )
    assert {u.model for u in uses} == {o["model"] for o in spent if o["usageDetails"]}


def test_each_tool_is_told_by_its_own_record(told):
    _, source, log = told
    typed = {o["id"]: o for o in source["observations"] if o["type"] == "TOOL"}
    started = {e.envelope.extensions["sourceitem"]: e for e in log.of(ActionStarted)}
    finished = {e.envelope.extensions["sourceitem"]: e for e in log.of(ActionFinished)}
    assert typed.keys() <= started.keys()
    for item, made in typed.items():
        begun = started[item].envelope.occurred_at.isoformat(timespec="milliseconds")
        assert begun.replace("+00:00", "Z") == made["startTime"]
        assert finished[item].envelope.cause == started[item].envelope.id


def test_every_cause_is_an_event_that_came_before(told):
    _, _, log = told
    seen: set[str] = set()
    for found in log.events():
        assert (found.envelope.cause is None) == isinstance(found.recorded.event, SessionStarted)
        assert found.envelope.cause in {None, *seen}
        seen.add(found.envelope.id)


def test_every_score_and_correction_is_feedback_on_an_event_that_is_there(told):
    _, source, log = told
    judged = [found.recorded.event for found in log.of(FeedbackGiven)]
    trace = source["trace"]
    assert len(judged) == len(trace["scores"]) + len(trace.get("corrections") or [])
    assert {made.target for made in judged} <= {found.envelope.id for found in log.events()}
    for score in trace["scores"]:  # hallucination and toxicity count a fault, correctness does not
        value = score["value"] if score["name"] == "correctness" else 1 - score["value"]
        (made,) = [m for m in judged if m.label == f"{score['name']}: {score['value']:g}"]
        assert made.score == pytest.approx(2 * value - 1)


def test_a_second_import_adds_nothing(told):
    name, _, log = told
    there = log.size()
    report = log.take(DATA / name)
    assert (report.added, report.already_there, log.size()) == (0, there, there)


def test_the_folder_is_read_by_one_importer():
    report = ImportLog().take(DATA, dry_run=True)
    assert (report.files, report.problems) == (len(FILES), [])
    assert [path.rpartition("/")[2] for path in report.skipped] == ["LICENSE"]
