"""Scenario 2, on the default embedder: a tracker asked on days 3, 7 and 10 of two weeks."""

from datetime import UTC, datetime, timedelta

import pytest

from mnemolog import Memory
from mnemolog.demo import tracker
from mnemolog.demo.stage import events_of
from mnemolog.demo.tracker_part import CHINESE, ENGLISH, ask_tracker, tell_until

NOW = datetime(2026, 3, 20, 10, 0, tzinfo=UTC)
START = tracker.first_day(NOW)
LANGUAGES = pytest.mark.parametrize("language", [CHINESE, ENGLISH], ids=["Chinese", "English"])


@pytest.fixture(scope="module")
def live():
    """Yield a function that tells the history on to a moment, as it went, and gives the memory."""
    names = {"agent": tracker.AGENT, "project": tracker.PROJECT}
    with Memory(":memory:", embedder="auto", record_recalls=False, **names) as memory:

        def at(moment, told=[timedelta(0)]):  # noqa: B006 - it remembers how far it has told
            if moment.when > told[0]:
                tell_until(memory, moment, start=START, since=told[0])
                told[0] = moment.when
            return memory

        yield at


@LANGUAGES
def test_on_day_3_the_pool_exhaustion_recalls_what_day_1_said(live, language):
    memory = live(tracker.ON_DAY_3)
    answer = ask_tracker(memory, tracker.ON_DAY_3, start=START, language=language)
    assert answer.missing == ()
    assert set(events_of(answer[:2])) == {"day-1-connections", "day-1-operations"}


def test_day_1_leaves_at_least_seven_memories_of_importance_eight_tenths(live):
    memory = live(tracker.ON_DAY_3)
    important = memory.recall("", at=START + tracker.ON_DAY_3.when, importance_min=0.8, hits_max=50)
    of_day_1 = [m for m in important if m.occurred_at < START + timedelta(days=1)]
    assert len(of_day_1) >= 7
    told = " ".join(memory.text for memory in of_day_1)
    for said in ("第二个周三", "must not touch live sessions", "TypeScript", "陈晨负责"):
        assert said in told


@LANGUAGES
def test_on_day_7_the_report_finds_day_3s_pool_and_day_5s_load_test(live, language):
    memory = live(tracker.ON_DAY_7)
    answer = ask_tracker(memory, tracker.ON_DAY_7, start=START, language=language)
    assert answer.missing == ()
    assert {tracker.POOL, tracker.LOAD_TEST} <= set(events_of(answer))


def test_the_report_that_rests_on_both_can_be_traced_to_both_days(live):
    memory = live(tracker.ON_DAY_7)
    answer = ask_tracker(memory, tracker.ON_DAY_7, start=START, language=ENGLISH)
    both = [m for m in answer if m.provenance.event_id in {tracker.POOL, tracker.LOAD_TEST}]
    report = memory.decide(
        "周报", because=both, occurred_at=START + tracker.ON_DAY_7.when, task=tracker.REPORT
    )
    memory.wait_for(report.token)
    causes = memory.why(report).causes
    days = {1 + (cause.occurred_at - START).days for cause in causes}
    assert days == {3, 5}


@LANGUAGES
def test_on_day_10_the_constraints_of_day_1_still_come_first(live, language):
    memory = live(tracker.ON_DAY_10)
    answer = ask_tracker(memory, tracker.ON_DAY_10, start=START, language=language)
    assert answer.missing == ()
    first = answer[:3]
    assert {one.kind for one in first} == {"constraint"}
    assert all(one.occurred_at < START + timedelta(days=1) for one in first)
    assert {"day-1-deadline", "day-1-sessions"} & set(events_of(first))


def test_there_are_three_teams_of_twelve_who_all_speak():
    people = {name for team in tracker.TEAMS.values() for name in team}
    speakers = {told.fields.get("speaker") for told in tracker.TRACKER.events}
    assert (len(tracker.TEAMS), len(people), len(tracker.SERVICES)) == (3, 12, 5)
    assert people <= speakers


def test_every_service_is_spoken_of():
    texts = " ".join(str(told.fields) for told in tracker.TRACKER.events)
    names = {
        "auth": ("auth",),
        "order": ("order",),
        "payment": ("payment", "支付"),
        "inventory": ("inventory", "库存"),
        "notification": ("notification", "通知"),
    }
    assert names.keys() == set(tracker.SERVICES)
    assert all(any(name in texts for name in spelled) for spelled in names.values())


@pytest.mark.parametrize("day", range(7))
def test_day_10_is_the_second_wednesday_and_the_two_weeks_are_over(day):
    now = NOW + timedelta(days=day)
    start = tracker.first_day(now)
    assert (start + timedelta(days=9)).strftime("%A") == "Wednesday"
    assert start + tracker.END <= now
    assert max(told.when for told in tracker.TRACKER.events) < tracker.END
