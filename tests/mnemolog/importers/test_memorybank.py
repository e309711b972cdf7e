"""Days of talk in MemoryBank become messages that can be found again by user, day and number."""

from datetime import UTC, datetime

import pytest

from mnemolog.importers.memorybank import MemoryBank, message_id
from mnemolog.schemas.events.experience import MessageExchanged, SessionStarted
from support.import_log import ImportLog, json_file


def pair(query, response="好的。") -> dict:
    return {"query": query, "response": response}


def bank(**users) -> dict:
    days = {
        "2023-04-27": [pair("我买了风筝。"), pair("It is red.", "Lovely!")],
        "2023-04-28": [pair("风筝破了。")],
    }
    known = {"小明": days, " Kari ": {"2023-05-01": [pair("I sail.", "Where?")]}, **users}
    return {
        name: {
            "name": name,
            "summary": {"x": "secret"},
            "personality": "secret",
            "history": history,
        }
        for name, history in known.items()
    }


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


@pytest.fixture
def take(log, tmp_path):
    def taken(value, name="bank.json", **how):
        return log.take(json_file(tmp_path, value, name=name), format="memorybank", **how)

    return taken


def said(log: ImportLog) -> list[tuple[str, str, str | None]]:
    events = [found.recorded.event for found in log.of(MessageExchanged)]
    return [(event.role, event.text, event.speaker) for event in events]


def test_only_what_was_said_becomes_events(log, take):
    report = take(bank())
    assert report.problems == []
    assert report.by_type == {"session.started": 3, "message.exchanged": 8}
    assert said(log)[:4] == [
        ("user", "我买了风筝。", "小明"),
        ("assistant", "好的。", None),
        ("user", "It is red.", "小明"),
        ("assistant", "Lovely!", None),
    ]
    assert not any("secret" in f.recorded.event.model_dump_json() for f in log.events())


def test_a_day_is_a_session_of_its_user_with_the_companion(log, take):
    take(bank())
    envelopes = [found.envelope for found in log.of(SessionStarted)]
    assert [(e.agent, e.user, e.session) for e in envelopes] == [
        ("ai-companion", "小明", "小明/2023-04-27"),
        ("ai-companion", "小明", "小明/2023-04-28"),
        ("ai-companion", "Kari", "Kari/2023-05-01"),
    ]


def test_the_names_that_are_asked_for_come_first(log, take):
    take(bank(), agent="friend", user="someone", project="trial")
    envelopes = [found.envelope for found in log.events()]
    assert {(e.agent, e.user, e.project) for e in envelopes} == {("friend", "someone", "trial")}


def test_messages_are_a_minute_apart_from_midnight_on_and_flagged(log, take):
    take(bank())
    envelopes = [found.envelope for found in log.of(MessageExchanged)][:5]
    assert [e.occurred_at for e in envelopes] == [
        *(datetime(2023, 4, 27, 0, minute, tzinfo=UTC) for minute in range(4)),
        datetime(2023, 4, 28, tzinfo=UTC),
    ]
    assert all(e.assumed_utc for e in envelopes)


def test_a_very_long_day_stays_a_day(log, take):
    take(bank(Ola={"2023-05-01": [pair("hi")] * 800}))
    last = log.events()[-1].envelope.occurred_at
    assert last == datetime(2023, 5, 1, 23, 59, 59, tzinfo=UTC)


def test_a_message_is_caused_by_the_one_before_and_the_first_by_its_day(log, take):
    take(bank())
    ids = [found.envelope.id for found in log.events()][:6]
    causes = [found.envelope.cause for found in log.events()][:7]
    assert causes == [None, *ids[:4], None, ids[5]]


def test_messages_are_found_again_by_user_day_number_and_side(log, take):
    take(bank())
    found = [f.envelope.id for f in log.of(MessageExchanged) if f.envelope.user == "小明"]
    assert found == [
        message_id("小明", day, number, side)
        for day, number in (("2023-04-27", 1), ("2023-04-27", 2), ("2023-04-28", 1))
        for side in ("query", "response")
    ]


def test_importing_twice_adds_nothing_and_a_new_day_its_tail(log, take):
    first = take(bank())
    again = take(bank(), name="other.json")
    assert (again.added, again.already_there) == (0, first.added)
    grown = bank()
    grown["小明"]["history"]["2023-04-29"] = [pair("新风筝！")]
    grown["小明"]["history"]["2023-04-28"].append(pair("修好了。"))
    assert (take(grown).added, len(said(log))) == (5, 12)


@pytest.mark.parametrize(
    ("user", "history"),
    [
        ("x", None),
        ("x", [1]),
        ("x", {"yesterday": []}),
        ("x", {"2023-02-30": []}),
        ("x", {"2023-04-27": "hi"}),
        ("x", {"2023-04-27": [7]}),
        ("x", {"2023-04-27": [{"query": 7, "response": None}]}),
        ("../x", {}),
        (" ", {}),
        ("小明 ", {}),
    ],
)
def test_what_is_bad_is_named_and_passed_over(log, take, user, history):
    report = take(bank(**{user: history}))
    assert report.problems
    assert all(repr(user)[1:-1] in problem.place for problem in report.problems)
    assert len(said(log)) == 8


@pytest.mark.parametrize("value", [[1], 7, "x"])
def test_a_file_that_holds_no_users_is_a_problem(log, take, value):
    assert len(take(value).problems) == 1
    assert log.events() == []


@pytest.mark.parametrize(
    ("head", "is_ours"),
    [
        ('{"小明": {"name": "小明", "history": {"2023-04-27": [{"query": "hi"'.encode(), True),
        (b'{"a": {"history": {"2023-04-27": []}}}', True),
        (b'{"a": {"history": [{"role": "user"}]}}', False),
        ('{"小明": ["我买了什么？"]}\n'.encode(), False),
    ],
)
def test_a_history_is_recognised_and_questions_are_not(head, is_ours):
    assert MemoryBank().recognises("x.json", head) is is_ours
