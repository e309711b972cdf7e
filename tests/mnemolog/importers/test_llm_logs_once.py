"""Logs repeat their conversation: each message comes once, whichever logs there are."""

from itertools import permutations

import pytest

from mnemolog.schemas.events.experience import ActionFinished, ContextMeasured, MessageExchanged
from support.call_logs import CALL_IDS, SYSTEM, TURNS, call_logs
from support.chats import answer, asks, call, says, user
from support.import_log import ImportLog, json_file, lines_file


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


def content(log: ImportLog) -> set[tuple[str, str, str | None]]:
    return {(f.envelope.id, f.recorded.content, f.envelope.cause) for f in log.events()}


def words(log: ImportLog) -> list[str]:
    return [found.recorded.event.text for found in log.of(MessageExchanged)]


SAID = ["The lift in hall B hangs.", "Let me look at it.", "A door is ajar.", "It runs again."]


def test_a_growing_conversation_gives_each_message_once(log, tmp_path):
    logs = call_logs()
    for number, written in enumerate(logs):
        log.take(json_file(tmp_path, written, name=f"{number}.json"))
    assert words(log) == SAID
    assert len(log.of(ContextMeasured)) == len(logs) == 3
    assert log.take(tmp_path).added == 0


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_any_order_gives_the_same_events_with_the_same_content_and_causes(tmp_path, order):
    logs = call_logs()
    orderly, shuffled = ImportLog(), ImportLog()
    orderly.take(lines_file(tmp_path, *logs))
    shuffled.take(lines_file(tmp_path, *(logs[number] for number in order)))
    assert content(shuffled) == content(orderly)
    assert shuffled.size() == orderly.size()


@pytest.mark.parametrize("missing", range(3))
def test_a_missing_log_costs_its_use_and_at_the_end_its_answer(log, tmp_path, missing):
    logs = call_logs()
    del logs[missing]
    log.take(lines_file(tmp_path, *logs))
    last_is_there = missing < 2
    assert words(log) == (SAID if last_is_there else SAID[:-1])
    assert len(log.of(ContextMeasured)) == 2


def test_a_log_that_comes_later_adds_its_use_alone(log, tmp_path):
    logs = call_logs()
    log.take(lines_file(tmp_path, logs[0], logs[2]))
    report = log.take(json_file(tmp_path, logs[1]))
    assert (report.added, report.by_type["context.measured"]) == (1, 1)


def test_the_same_question_to_two_models_is_two_conversations(log, tmp_path):
    log.take(lines_file(tmp_path, *call_logs()))
    kwargs = {"extra_body": {"metadata": {"tags": ["model:other-2"]}}}
    report = log.take(lines_file(tmp_path, *call_logs(kwargs=kwargs)))
    assert report.added == 12
    assert len({found.envelope.session for found in log.events()}) == 2


def test_what_is_kept_of_a_summarised_conversation_does_not_come_again(log, tmp_path):
    log.take(lines_file(tmp_path, *call_logs()))
    kept = [*TURNS[:2], user("Summary: a door was ajar."), *TURNS[4:]]
    report = log.take(lines_file(tmp_path, *call_logs([*kept, user("Thanks."), says("Welcome.")])))
    assert words(log) == [*SAID, "Summary: a door was ajar.", "Thanks.", "Welcome."]
    assert report.problems == []


def test_call_ids_that_restart_do_not_make_two_runs_one(log, tmp_path):
    def a_run(hall: str) -> list[dict]:
        looks = asks(call("look", f'{{"hall": "{hall}"}}', call_id="toolu_01"), text="Looking.")
        again = asks(call("look", "{}", call_id="toolu_02"), text="Once more.")
        seen = answer("ajar", call_id="toolu_01"), answer("shut", call_id="toolu_02")
        return [SYSTEM, user("Which lift hangs?"), looks, seen[0], again, seen[1], says("Mended.")]

    log.take(lines_file(tmp_path, *call_logs(a_run("A"))))
    log.take(lines_file(tmp_path, *call_logs(a_run("B"))))
    assert words(log).count("Once more.") == 2
    assert len(log.of(ActionFinished)) == 4
    assert len(CALL_IDS[0]) >= 16 > len("toolu_01")
