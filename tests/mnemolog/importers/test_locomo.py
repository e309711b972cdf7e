"""LoCoMo turns become messages that can be found again by their own ids."""

import json
from datetime import UTC, datetime

import pytest

from mnemolog.importers.base import Unreadable
from mnemolog.importers.locomo import LoCoMo, moment_of, turn_id
from mnemolog.schemas.events.experience import MessageExchanged, SessionStarted
from support.import_log import ImportLog, json_file


def turn(dia_id: str, text: str | None = "Hello.", *, speaker: str = "Ada", **fields) -> dict:
    return {"speaker": speaker, "dia_id": dia_id, "text": text, **fields}


def sample(sample_id="conv-1", **sessions) -> dict:
    dated = {
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [turn("D1:1", "I bought a kite."), turn("D1:2", "Lovely!", speaker="Bo")],
        "session_2_date_time": "12:09 am on 13 September, 2023",
        "session_2": [turn("D2:1", "The kite is torn.")],
    }
    conversation = {"speaker_a": "Ada", "speaker_b": "Bo", **dated, **sessions}
    return {
        "sample_id": sample_id,
        "qa": [{"question": "What did Ada buy?", "answer": "a kite", "evidence": ["D1:1"]}],
        "conversation": conversation,
        "event_summary": {"x": "Ada buys a kite"},
    }


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


def texts(log: ImportLog) -> list[str]:
    return [said.recorded.event.text for said in log.of(MessageExchanged)]


def test_only_what_was_said_becomes_events(log, tmp_path):
    report = log.take(json_file(tmp_path, [sample()]))
    assert report.problems == []
    assert report.by_type == {"session.started": 2, "message.exchanged": 3}
    assert texts(log) == ["I bought a kite.", "Lovely!", "The kite is torn."]


def test_the_conversation_is_the_agent_and_the_speaker_the_user(log, tmp_path):
    log.take(json_file(tmp_path, [sample()]))
    said = [found.envelope for found in log.of(MessageExchanged)]
    assert {names.agent for names in said} == {"conv-1"}
    assert [names.user for names in said] == ["Ada", "Bo", "Ada"]
    assert [names.session for names in said] == ["session_1", "session_1", "session_2"]
    assert [found.recorded.event.speaker for found in log.of(MessageExchanged)] == [
        "Ada",
        "Bo",
        "Ada",
    ]
    assert {found.recorded.event.role for found in log.of(MessageExchanged)} == {"user"}
    assert log.of(SessionStarted)[0].recorded.event.title == "Ada and Bo"


def test_under_a_named_agent_sessions_of_two_conversations_stay_apart(log, tmp_path):
    log.take(json_file(tmp_path, [sample(), sample("conv-2")]), agent="friend")
    assert {found.key for found in log.events()} == {"friend"}
    assert len({found.envelope.session for found in log.events()}) == 4
    assert len(log.of(MessageExchanged)) == 6


def test_evidence_is_found_again_by_its_id(log, tmp_path):
    log.take(json_file(tmp_path, [sample()]))
    said = log.of(MessageExchanged)
    assert [found.envelope.extensions["sourceitem"] for found in said] == ["D1:1", "D1:2", "D2:1"]
    assert [found.envelope.id for found in said] == [
        turn_id("conv-1", dia_id) for dia_id in ("D1:1", "D1:2", "D2:1")
    ]


def test_turns_are_a_minute_apart_from_the_session_on_and_flagged(log, tmp_path):
    log.take(json_file(tmp_path, [sample()]))
    said = [found.envelope for found in log.of(MessageExchanged)]
    assert [names.occurred_at for names in said] == [
        datetime(2023, 5, 8, 13, 56, tzinfo=UTC),
        datetime(2023, 5, 8, 13, 57, tzinfo=UTC),
        datetime(2023, 9, 13, 0, 9, tzinfo=UTC),
    ]
    assert all(names.assumed_utc for names in said)


def test_sessions_come_in_the_order_of_their_numbers(log, tmp_path):
    tenth = {
        "session_10_date_time": "1:00 pm on 1 October, 2023",
        "session_10": [turn("D10:1", "ten")],
    }
    log.take(json_file(tmp_path, [{**sample(**tenth), "sample_id": "c"}]))
    assert texts(log)[-1] == "ten"


def test_a_turn_is_caused_by_the_one_before_and_the_first_by_its_session(log, tmp_path):
    log.take(json_file(tmp_path, [sample()]))
    ids = [found.envelope.id for found in log.events()]
    causes = [found.envelope.cause for found in log.events()]
    assert causes == [None, ids[0], ids[1], None, ids[3]]


@pytest.mark.parametrize(
    ("fields", "text", "parts"),
    [
        ({"text": "Look!", "blip_caption": "a red kite"}, "Look!\n[image: a red kite]", []),
        ({"text": "", "blip_caption": "a red kite"}, "[image: a red kite]", []),
        ({"text": None, "blip_caption": "a red kite"}, "[image: a red kite]", []),
        ({"text": "", "img_url": ["https://e.invalid/k.jpg"]}, "", ["https://e.invalid/k.jpg"]),
        ({"text": "x", "img_url": "https://e.invalid/k.jpg"}, "x", ["https://e.invalid/k.jpg"]),
        ({"text": "x", "img_url": [None, 3]}, "x", []),
        ({"text": ""}, "", []),
        ({"text": "👩‍👩‍👧 hi"}, "👩‍👩‍👧 hi", []),
    ],
)
def test_images_are_told_by_their_caption_and_kept_as_references(
    log, tmp_path, fields, text, parts
):
    report = log.take(json_file(tmp_path, [sample(session_1=[{**turn("D1:1"), **fields}])]))
    assert report.problems == []
    said = log.of(MessageExchanged)[0].recorded.event
    assert said.text == text
    assert [part.reference for part in said.parts] == parts


def test_a_date_without_a_session_is_nothing(log, tmp_path):
    report = log.take(json_file(tmp_path, [sample(session_3_date_time="1:00 pm on 1 May, 2024")]))
    assert (report.problems, len(log.of(SessionStarted))) == ([], 2)


def test_importing_twice_adds_nothing(log, tmp_path):
    log.take(json_file(tmp_path, [sample()], name="a.json"))
    report = log.take(json_file(tmp_path, sample(), name="b.json"))
    assert (report.added, report.already_there) == (0, 5)


def test_a_conversation_that_goes_on_adds_its_new_session(log, tmp_path):
    log.take(json_file(tmp_path, sample(session_2=None, session_2_date_time=None)))
    report = log.take(json_file(tmp_path, sample()))
    assert (report.added, report.already_there) == (2, 3)


@pytest.mark.parametrize(
    "date",
    [
        None,
        17,
        "yesterday",
        "13:56 pm on 8 May, 2023",
        "1:56 pm on 31 June, 2023",
        "1:56 pm on 8 May, 1066",
    ],
)
def test_a_session_without_a_date_is_named_and_the_others_come(log, tmp_path, date):
    report = log.take(json_file(tmp_path, [sample(session_1_date_time=date)]))
    assert [problem.place for problem in report.problems] == ["item 1, session_1"]
    assert texts(log) == ["The kite is torn."]


@pytest.mark.parametrize(
    "bad",
    [
        None,
        "text",
        {"speaker": "Ada", "text": "no id"},
        turn("D1:9", speaker=""),
        turn("D1:1", "the same id again"),
        turn("D1:9", ["no text"]),
        turn("D1:9", blip_caption=3),
    ],
)
def test_a_bad_turn_is_named_and_its_neighbours_come(log, tmp_path, bad):
    turns = [turn("D1:1", "one"), bad, turn("D1:3", "three")]
    report = log.take(json_file(tmp_path, [sample(session_1=turns)]))
    assert [problem.place for problem in report.problems] == ["item 1, session_1, turn 2"]
    assert texts(log)[:2] == ["one", "three"]


@pytest.mark.parametrize(
    "bad", [3, [], {"qa": []}, {"conversation": []}, sample(None), sample("../x"), sample(7)]
)
def test_a_bad_conversation_is_named_and_its_neighbours_come(log, tmp_path, bad):
    report = log.take(json_file(tmp_path, [sample(), bad, sample("conv-2")]), format="locomo")
    assert [problem.place for problem in report.problems] == ["item 2"]
    assert {found.key for found in log.events()} == {"conv-1", "conv-2"}


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("12:00 am on 1 January, 2024", "2024-01-01T00:00:00"),
        ("12:30 pm on 1 January, 2024", "2024-01-01T12:30:00"),
        ("11:59 PM on 29 February 2024", "2024-02-29T23:59:00"),
    ],
)
def test_dates_are_read_whatever_the_machine_speaks(written, moment):
    assert moment_of(written).isoformat() == moment


def test_a_date_of_another_shape_is_refused_with_an_example():
    with pytest.raises(Unreadable, match="1:56 pm on 8 May, 2023"):
        moment_of("2023-05-08")


def test_a_conversation_is_recognised_by_its_keys_or_by_the_questions_before_it():
    assert LoCoMo().recognises("x", json.dumps([sample()]).encode())
    questions = json.dumps([{"qa": sample()["qa"] * 900}]).encode()
    assert LoCoMo().recognises("x", questions[:65_536])
    assert not LoCoMo().recognises("x", b'{"messages": [{"role": "user", "content": "qa"}]}')
