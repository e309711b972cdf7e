"""A rollout's order: what stands twice, what was given up, what the model used, how it grows."""

import pytest

from mnemolog.importers.spending import WAITING_MAX
from mnemolog.schemas.events.experience import (
    ActionFinished,
    DecisionMade,
    MessageExchanged,
    SessionStarted,
)
from support.codex import call, event, item, meta, output, said, shown, spent, thought, turn
from support.import_log import ImportLog, lines_file


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


@pytest.fixture
def take(log, tmp_path):
    def taken(*lines, **how):
        report = log.take(lines_file(tmp_path, *lines), format="codex", **how)
        assert report.problems == []
        return report

    return taken


def texts(log: ImportLog) -> list[str]:
    return [found.recorded.event.text for found in log.of(MessageExchanged)]


def ends(log: ImportLog) -> list[tuple[bool, bool]]:
    events = [found.recorded.event for found in log.of(ActionFinished)]
    return [(event_.success, event_.orphaned) for event_ in events]


def session_marks(log: ImportLog) -> list[str]:
    return [kind for kind in log.types() if kind.startswith("session.")]


# Two shapes


@pytest.mark.parametrize(
    "both",
    [
        [shown("user", "Hi."), said("user", "Hi.")],
        [said("user", "Hi."), shown("user", "Hi.\n")],
        [shown("assistant", "Hi."), thought("Hm."), said("assistant", "Hi.")],
    ],
)
def test_a_text_in_two_shapes_is_one_event(log, take, both):
    take(meta(), *both)
    assert texts(log) == ["Hi."]


def test_a_thought_in_two_shapes_is_one_event_for_each_part(log, take):
    reasons = [event("agent_reasoning", text="One."), event("agent_reasoning", text="Two.")]
    take(meta(), *reasons, thought("One.", "Two."))
    assert [found.recorded.event.what for found in log.of(DecisionMade)] == ["One.", "Two."]


def test_a_text_that_is_said_again_is_another_event(log, take):
    again = [shown("user", "Go on."), said("user", "Go on."), said("assistant", "Done.")]
    take(meta(), *again, *again, *again)
    assert texts(log) == ["Go on.", "Done."] * 3


def test_an_encrypted_thought_is_nothing(log, take):
    take(meta(), item("reasoning", summary=[], encrypted_content="x"))
    assert log.types() == ["session.started"]


# Growth and repeats


WHOLE = [
    meta(),
    turn(),
    shown("user", "Mend the lift."),
    said("user", "Mend the lift."),
    call("c1"),
    spent(5, 1, total=6),
    output("c1"),
    said("assistant", "Done."),
    spent(9, 2, total=17),
    said("user", "Thanks."),
]


@pytest.mark.parametrize("cut", [1, 3, 4, 6, 7, 9])
def test_a_file_that_has_grown_adds_its_tail(log, take, tmp_path, cut):
    first = take(*WHOLE[:cut])
    grown = take(*WHOLE)
    assert grown.already_there == first.added
    at_once = ImportLog()
    at_once.take(tmp_path / "in.jsonl")
    assert [f.envelope.id for f in log.events()] == [f.envelope.id for f in at_once.events()]
    assert take(*WHOLE).added == 0


def test_a_damaged_line_shifts_nothing_behind_it(log, tmp_path):
    log.take(lines_file(tmp_path, *WHOLE))
    report = log.take(lines_file(tmp_path, *WHOLE[:3], b"{", *WHOLE[4:]), format="codex")
    assert (report.added, [problem.place for problem in report.problems]) == (0, ["line 4"])


def test_two_sessions_in_one_file_stay_apart(log, take):
    take(meta("r-1"), said("user", "Hi."), call("c1"), meta("r-2"), said("user", "Hi."), call("c1"))
    assert [found.envelope.session for found in log.of(MessageExchanged)] == ["r-1", "r-2"]
    assert ends(log) == []


def test_the_history_that_a_fork_begins_with_is_the_forks(log, take):
    copied = [meta("r-1"), said("user", "Hi.")]
    take(meta("r-2", forked_from_id="r-1"), *copied, said("user", "And now?"))
    assert {found.envelope.session for found in log.events()} == {"r-2"}
    assert len(log.of(SessionStarted)) == 1


# What was given up


@pytest.mark.parametrize(
    "later",
    [
        said("user", "Are you there?"),
        event("turn_aborted", reason="interrupted"),
        event("task_complete"),
        event("thread_rolled_back", num_turns=1),
        turn(),
        meta(),
        call("c1"),
    ],
    ids=["a prompt", "aborted", "complete", "rolled back", "a turn", "a restart", "the same id"],
)
def test_a_call_that_history_went_on_without_is_orphaned(log, take, later):
    take(meta(), said("user", "Mend the lift."), call("c1"), later)
    assert ends(log) == [(False, True)]


@pytest.mark.parametrize(
    "later", [said("assistant", "I wait."), thought("Hm."), spent(1, 1, total=2)]
)
def test_a_call_that_may_still_be_answered_stays_open(log, take, later):
    take(meta(), call("c1"), later)
    assert ends(log) == []
    take(meta(), call("c1"), later, output("c1"))
    assert ends(log) == [(True, False)]


REWOUND = [
    meta(),
    said("user", "Mend the lift."),
    call("c1"),
    event("thread_rolled_back", num_turns=1),
    said("user", "No: the door."),
    said("assistant", "Mended."),
]


def test_a_session_that_was_rolled_back_is_closed_when_its_next_turn_is_complete(log, take):
    take(*REWOUND)
    assert session_marks(log) == ["session.started"]
    take(*REWOUND, event("task_complete"))
    assert session_marks(log) == ["session.started", "session.ended"]
    assert ends(log) == [(False, True)]
    take(*REWOUND, event("task_complete"), said("user", "Thanks."), said("assistant", "Welcome."))
    assert log.types()[-4:] == [
        "session.ended",
        "session.started",
        *["message.exchanged"] * 2,
    ]


def test_a_session_that_was_shut_down_is_closed(log, take):
    take(meta(), said("user", "Hi."), event("shutdown_complete"))
    assert session_marks(log) == ["session.started", "session.ended"]


def test_a_plain_turn_closes_nothing(log, take):
    take(meta(), said("user", "Hi."), said("assistant", "Hello."), event("task_complete"))
    assert session_marks(log) == ["session.started"]


# What the model used


def uses(log: ImportLog) -> dict[str, tuple[str, int, int]]:
    found = [(f.event_type, f.recorded.event.model_use) for f in log.events()]
    return {kind: (use.model, use.tokens_in, use.tokens_out) for kind, use in found if use}


def test_numbers_stand_on_the_first_event_that_the_model_made(log, take):
    take(
        meta(),
        turn("small-1"),
        said("user", "Mend the lift."),
        thought("Look."),
        call("c1"),
        spent(5, 1, total=6),
        spent(5, 1, total=6),
        output("c1"),
        said("assistant", "Done."),
        spent(9, 2, total=17),
    )
    assert uses(log) == {"decision.made": ("small-1", 5, 1), "message.exchanged": ("small-1", 9, 2)}


def test_numbers_may_come_behind_the_answers(log, take):
    take(meta(), turn(), call("c1"), output("c1"), spent(5, 1, total=6), said("assistant", "Done."))
    assert uses(log) == {"action.started": ("small-1", 5, 1)}


def test_numbers_that_nothing_waits_for_are_dropped(log, take):
    count = event("token_count", info=None)
    take(meta(), turn(), count, spent(5, 1, total=6), said("user", "Hi."), spent(6, 1, total=9))
    assert uses(log) == {}


def test_no_more_waits_for_numbers_than_is_allowed(log, take):
    calls = [call(f"c{n}") for n in range(WAITING_MAX + 2)]
    take(meta(), turn(), *calls, spent(5, 1, total=6))
    with_numbers = [f for f in log.events() if f.recorded.event.model_use]
    assert len(log.events()) == len(calls) + 1
    assert [f.envelope.extensions["sourcecall"] for f in with_numbers] == [f"c{WAITING_MAX + 1}"]
