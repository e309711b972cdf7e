"""The questions of docs/analytics.md run as they stand, and have answers."""

import re
from datetime import timedelta

import pytest

from contracts.projection_contract import place_in
from mnemolog.projections.analytics.projection import AnalyticsProjection
from mnemolog.projections.analytics.publishing import published_file
from mnemolog.projections.analytics.query import query
from mnemolog.projections.analytics.tables import RELATIONS
from mnemolog.schemas.events import ModelUse
from mnemolog.schemas.events import experience as ex
from mnemolog.schemas.events import memory as mem
from support import markdown
from support.eventful import eventful_history
from support.histories import START, agents, batches, happened, memory_of, recorded
from support.sources import ROOT

PAGE = (ROOT / "docs" / "analytics.md").read_text()
QUESTIONS = [heading for heading in markdown.sections(PAGE) if re.match(r"\d+\. .*\?$", heading)]


def history():
    ann = agents(partitions=2)[0]
    at = START + timedelta(days=1)
    use = ModelUse(model="m-1", tokens_in=900, tokens_out=80, cost_usd=0.01)
    more = [
        ex.MessageExchanged(role="assistant", text="The pool was full.", model_use=use),
        ex.ObservationRecorded(text="Retried.", data={"retries": 3}),
        ex.ObservationRecorded(text="Retried again.", data={"retries": 1.5}),
        mem.MemoryFormed(text="The gate opens at nine.", kind="fact"),
        mem.MemoryFormed(text="The gate opens at eight.", kind="fact"),
        mem.MemorySuperseded(
            memory=memory_of("more-3", agent=ann), superseded_by=memory_of("more-4", agent=ann)
        ),
        mem.MemoryRecalled(
            question="When?", memories=({"memory": memory_of("more-4", agent=ann), "score": 0.7},)
        ),
    ]
    told = [
        happened(event, agent=ann, event_id=f"more-{number}", at=at, session="s1", cause="decision")
        for number, event in enumerate(more)
    ]
    ship = {"agent": ann, "task": "ship", "project": "shop"}
    return [
        *eventful_history(),
        *told,
        happened(ex.TaskStarted(goal="Ship it."), event_id="ship-1", at=at, **ship),
        happened(
            ex.TaskCompleted(outcome="Shipped.", lesson="Ask early."),
            event_id="ship-2",
            at=at + timedelta(hours=2),
            **ship,
        ),
    ]


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    projection = AnalyticsProjection.open(place_in(folder))
    for batch in batches(recorded(*history())):
        projection.apply(batch)
    assert list(projection.parked()) == []
    projection.publish(published_file(folder).parent)
    projection.close()
    return published_file(folder)


def test_there_are_twenty_questions_each_with_one_statement():
    assert [int(question.split(".")[0]) for question in QUESTIONS] == list(range(1, 21))
    for question in QUESTIONS:
        assert len(markdown.blocks(markdown.section(PAGE, question), "sql")) == 1, question


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_has_an_answer(published, question):
    [(_, statement)] = markdown.blocks(markdown.section(PAGE, question), "sql")
    table = query(published, statement)
    assert table.rows, question
    assert any(value is not None for row in table.rows for value in row)


def test_every_table_and_view_stands_on_the_page_and_no_other():
    rows = next(t for t in markdown.tables(PAGE) if t[0][0] == "table or view")[1:]
    assert {row[0].strip("`") for row in rows} == set(RELATIONS)
