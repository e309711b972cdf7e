"""Sessions of Aider become events: what was asked, answered, changed, committed and taken back."""

from datetime import UTC, datetime, timedelta

import pytest

from mnemolog.importers.aider import Aider
from mnemolog.schemas.events.experience import (
    ActionFinished,
    ActionStarted,
    CheckpointSaved,
    FeedbackGiven,
    MessageExchanged,
    ObservationRecorded,
    SessionEnded,
    SessionStarted,
)
from support.import_log import ImportLog

BANNER = "> /bin/aider ferry.py  \n> Aider v1  \n> Models: m-1 with diff edit format  \n"
BEGIN = (
    f"\n# aider chat started at 2024-08-05 19:33:02\n\n{BANNER}> Added ferry.py to the chat.  \n"
)
EDIT = "ferry.py\n```python\n<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n```\n"
ASKED = "\n#### Mend the ferry.  \n"
ANSWERED = f"\nI mend it:\n\n{EDIT}\n"
SPENT = "> Tokens: 50 sent, 6 received. Cost: $0.02 request, $0.02 session.  \n"
DONE = "> Applied edit to ferry.py  \n> Commit fd43cd4 fix: Mend the ferry  \n"
WHOLE = BEGIN + ASKED + ANSWERED + SPENT + DONE
LATER = "\n# aider chat started at 2024-08-05 19:40:00\n\n> /bin/aider  \n"


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


@pytest.fixture
def take(log, tmp_path):
    def taken(text: str | bytes, **how):
        path = tmp_path / "history.md"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return log.take(path, format="aider", **how)

    return taken


def told(log: ImportLog, model: type) -> list:
    return [found.recorded.event for found in log.of(model)]


def test_a_session_is_words_edits_commits_and_what_was_printed(log, take):
    assert take(WHOLE).problems == []
    assert log.types() == [
        "session.started",
        "observation.recorded",
        "message.exchanged",
        "message.exchanged",
        "action.started",
        "action.finished",
        "checkpoint.saved",
    ]
    assert told(log, SessionStarted)[0].title == "/bin/aider ferry.py"
    assert [(e.role, e.text) for e in told(log, MessageExchanged)] == [
        ("user", "Mend the ferry."),
        ("assistant", "I mend it:\n\n[edit of ferry.py]"),
    ]
    (started,) = told(log, ActionStarted)
    edit = {"path": "ferry.py", "search": "old", "replace": "new"}
    assert (started.tool, started.arguments) == ("edit", edit)
    (finished,) = told(log, ActionFinished)
    assert (finished.action, finished.success) == (started.action, True)
    (seen,) = told(log, ObservationRecorded)
    assert (seen.text, seen.stated_by) == ("Added ferry.py to the chat.", "tool")


def test_what_a_request_cost_stands_on_its_answer(log, take):
    take(WHOLE)
    uses = [(f.event_type, f.recorded.event.model_use) for f in log.events()]
    ((kind, use),) = [pair for pair in uses if pair[1]]
    assert (kind, use.model, use.tokens_in, use.tokens_out, use.cost_usd) == (
        *("message.exchanged", "m-1"),
        *(50, 6, 0.02),
    )


def test_a_commit_is_a_checkpoint_behind_the_one_before(log, take):
    take(WHOLE + "\n#### Paint it.  \n\nDone.\n\n> Commit 1111111 feat: Paint  \n")
    first, second = (found.recorded.event.checkpoint for found in log.of(CheckpointSaved))
    assert (first.current_goal, first.plan_summary) == ("Mend the ferry.", "fix: Mend the ferry")
    assert first.intermediate_results == {"commit": "fd43cd4"}
    assert (first.parent, second.parent) == (None, first.id)
    assert first.id == log.of(CheckpointSaved)[0].envelope.id


def test_times_are_the_starts_a_second_a_block_and_flagged(log, take):
    take(WHOLE)
    begun = datetime(2024, 8, 5, 19, 33, 2, tzinfo=UTC)
    seconds = [(f.envelope.occurred_at - begun) / timedelta(seconds=1) for f in log.events()]
    assert seconds == [0, 1, 2, 3, 3, 4, 4]
    assert all(found.envelope.assumed_utc for found in log.events())


def test_names_and_causes(log, take):
    take(WHOLE, user="kari", project="ferry")
    envelopes = [found.envelope for found in log.events()]
    assert {(e.agent, e.user, e.project, e.session) for e in envelopes} == {
        ("aider", "kari", "ferry", "2024-08-05T19:33:02")
    }
    assert [e.cause for e in envelopes] == [None, *[e.id for e in envelopes[:-1]]]


def test_starts_that_go_back_in_time_keep_the_order_of_the_file(log, take):
    take(LATER + WHOLE)
    assert [found.envelope.session for found in log.of(SessionStarted)] == [
        "2024-08-05T19:40:00",
        "2024-08-05T19:33:02",
    ]


def test_a_new_start_ends_the_session_before(log, take):
    take(WHOLE + LATER)
    assert [found.envelope.session for found in log.of(SessionEnded)] == ["2024-08-05T19:33:02"]


@pytest.mark.parametrize("command", ["/ex", "/exit", "/quit", "/q"])
def test_leaving_ends_the_session_once_and_what_is_said_then_opens_it(log, take, command):
    take(f"{WHOLE}\n#### {command}  \n{LATER}")
    assert len(log.of(SessionEnded)) == 1
    take(f"{WHOLE}\n#### {command}  \n\n#### Wait.  \n")
    assert log.types()[-2:] == ["session.started", "message.exchanged"]


def test_the_end_of_a_session_whose_start_is_missing_comes_in_from_start_on(log, take):
    take("d.\n\n> out  \n" + WHOLE, start="2024-02-01")
    first = log.events()[0].envelope
    assert first.session.startswith("earlier-")
    assert (first.occurred_at, first.assumed_utc) == (datetime(2024, 2, 1, tzinfo=UTC), True)
    assert told(log, MessageExchanged)[0].text == "d."
    assert len(log.of(SessionEnded)) == 1


def test_a_start_without_a_time_that_can_be_is_a_problem_and_its_session_comes_in(log, take):
    report = take(WHOLE.replace("2024-08-05", "2024-13-05"))
    assert [problem.place for problem in report.problems] == ["line 2"]
    assert len(log.of(MessageExchanged)) == 2


# Edits


def ends(log: ImportLog) -> list[tuple[bool, bool]]:
    return [(e.success, e.orphaned) for e in told(log, ActionFinished)]


def test_one_line_finishes_all_edits_of_its_file(log, take):
    take(BEGIN + ASKED + ANSWERED.replace(EDIT, EDIT + EDIT) + SPENT + DONE)
    assert ends(log) == [(True, False)] * 2


def test_edits_that_did_not_fit_failed_and_the_others_did_not(log, take):
    failed = (
        "> The LLM did not conform to the edit format.  \n"
        "> ## NoExactMatch: This SEARCH block failed to match lines in ferry.py  \n"
        "> # The other 1 SEARCH/REPLACE block was applied successfully.  \n"
    )
    other = EDIT.replace("ferry.py", "boat.py")
    take(BEGIN + ASKED + ANSWERED.replace(EDIT, EDIT + other) + SPENT + failed)
    assert ends(log) == [(False, False), (True, False)]
    assert "failed to match" in told(log, ActionFinished)[0].error


@pytest.mark.parametrize("later", ["\n#### And now?  \n", LATER])
def test_an_edit_of_which_nothing_more_is_said_is_orphaned(log, take, later):
    take(BEGIN + ASKED + ANSWERED + SPENT + later)
    assert ends(log) == [(False, True)]


def test_an_edit_at_the_end_of_the_file_stays_open(log, take):
    take(BEGIN + ASKED + ANSWERED)
    assert ends(log) == []
    take(WHOLE)
    assert ends(log) == [(True, False)]


def test_an_edit_that_nobody_asked_for_is_seen(log, take):
    take(BEGIN + "\n> Applied edit to boat.py  \n")
    assert [e.text for e in told(log, ObservationRecorded)][-1] == "Applied edit to boat.py"


# Feedback


def test_errors_that_are_to_be_mended_are_feedback_on_the_last_commit(log, take):
    take(WHOLE + "> ferry.py:1: bad  \n> Attempt to fix lint errors? y  \n")
    (given,) = told(log, FeedbackGiven)
    assert (given.target, given.score) == (log.of(CheckpointSaved)[0].envelope.id, -1.0)
    assert (given.label, given.given_by) == ("lint errors", "linter")


def test_a_commit_that_is_taken_back_is_feedback_on_it_also_from_a_later_session(log, take):
    removed = "\n#### /undo  \n> Removed: fd43cd4 fix: Mend the ferry  \n"
    take(WHOLE + LATER + removed + removed.replace("fd43cd4", "2222222"))
    (given,) = told(log, FeedbackGiven)
    assert given.target == log.of(CheckpointSaved)[0].envelope.id
    assert (given.label, given.given_by) == ("undone", "user")


# What stands twice


def test_a_prompt_that_a_command_repeats_is_told_once(log, take):
    asked = "\n#### /ask why is it red?  \n\n####  why is it red?  \n\nBecause.\n"
    take(BEGIN + asked + "\n#### why is it red?  \n")
    texts = [e.text for e in told(log, MessageExchanged)]
    assert texts == ["/ask why is it red?", "Because.", "why is it red?"]


def test_bytes_that_are_no_text_and_nuls_are_borne(log, take):
    whole = (WHOLE + LATER).replace("Mend the ferry", "M\xe9nd\0 the ferry")
    report = take(whole.encode("latin-1"))
    assert (report.problems, report.by_type["checkpoint.saved"]) == ([], 1)
    assert log.of(MessageExchanged)[0].envelope.repaired is not None


def test_what_the_program_writes_in_the_users_place_is_the_programs(log, take):
    take(BEGIN + "\n#### # Fix any errors below, if possible.  \n####   \n#### ferry.py:1  \n")
    assert [e.role for e in told(log, MessageExchanged)] == ["system"]


def test_importing_twice_adds_nothing_under_another_name_too(log, tmp_path):
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text(WHOLE + LATER)
    first = log.take(tmp_path / "a.md")
    assert log.take(tmp_path / "b.md").added == 0
    assert first.added == len(log.events())


ANSWERED_AND_SPENT = BEGIN + ASKED + ANSWERED + SPENT


@pytest.mark.parametrize("cut", [BEGIN, BEGIN + ASKED, ANSWERED_AND_SPENT, WHOLE])
def test_a_file_that_has_grown_adds_its_tail(log, take, tmp_path, cut):
    first = take(cut)
    grown = take(WHOLE + LATER)
    assert grown.already_there == first.added
    at_once = ImportLog()
    at_once.take(tmp_path / "history.md", format="aider")
    assert [f.envelope.id for f in log.events()] == [f.envelope.id for f in at_once.events()]


def test_an_answer_that_came_in_before_its_numbers_stays_without_them(log, take):
    take(BEGIN + ASKED + ANSWERED)
    take(WHOLE)
    first, again = [f for f in log.of(MessageExchanged) if f.recorded.event.role == "assistant"]
    assert (first.identity, first.recorded.event.model_use) == (again.identity, None)


def test_how_a_session_was_left_changes_nothing_before_it(log, take):
    first = take(WHOLE + "> seen  \n")
    grown = take(WHOLE + "> seen  \n>  \n>  \n> ^C KeyboardInterrupt  \n" + LATER)
    assert grown.already_there == first.added


def test_sessions_of_one_second_share_what_they_have_in_common(log, take):
    other = WHOLE.replace("Mend the ferry.", "Sink it.")
    take(WHOLE + other)
    assert [e.text for e in told(log, MessageExchanged) if e.role == "user"] == [
        "Mend the ferry.",
        "Sink it.",
    ]
    assert len(log.of(SessionStarted)) == 1
    assert take(WHOLE).added == 0


@pytest.mark.parametrize(
    ("path", "head", "is_ours"),
    [
        ("x.md", WHOLE.encode(), True),
        ("/home/kari/.aider.chat.history.md", b"#### hi  \n", True),
        ("notes.md", b"See `# aider chat started at 2024`\n#### hi  \n", False),
        ("x.json", b'{"role": "user"}', False),
    ],
)
def test_a_history_is_recognised_by_a_start_or_its_name(path, head, is_ours):
    assert Aider().recognises(path, head) is is_ours
