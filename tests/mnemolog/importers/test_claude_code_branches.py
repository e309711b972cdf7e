"""Branches of a session: calls that were given up, sessions that end and open again, sub-agents."""

import pytest

from mnemolog.schemas.events.experience import (
    ActionFinished,
    ActionStarted,
    MessageExchanged,
    SessionEnded,
    SessionStarted,
)
from support.claude_code import answers, calls, line, model, says, thinks, user
from support.import_log import ImportLog, lines_file


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


@pytest.fixture
def take(log, tmp_path):
    def taken(*lines, **how):
        report = log.take(lines_file(tmp_path, *lines), format="claude-code", **how)
        assert report.problems == []
        return report

    return taken


def ends(log: ImportLog) -> list[tuple[str, bool, bool]]:
    """Return how each call ended: its tool, whether it succeeded, whether it was given up."""
    events = [found.recorded.event for found in log.of(ActionFinished)]
    return [(event.tool, event.success, event.orphaned) for event in events]


def session_marks(log: ImportLog) -> list[str]:
    return [kind for kind in log.types() if kind.startswith("session.")]


REWOUND = [
    user("u1", "Mend the lift."),
    model("a1", calls("t1"), parent="u1"),
    user("u2", "No: mend the door.", parent="u1"),
    model("a2", says("The door is mended."), parent="u2"),
]


@pytest.mark.bad_input(31)
def test_a_call_on_a_branch_that_was_rewound_is_orphaned_and_the_session_closed(log, take):
    take(*REWOUND)
    assert ends(log) == [("Bash", False, True)]
    (call,) = log.of(ActionStarted)
    (orphan,) = log.of(ActionFinished)
    assert (orphan.recorded.event.action, orphan.envelope.cause) == (call.envelope.id,) * 2
    assert session_marks(log) == ["session.started", "session.ended"]
    prompt, _, second = log.events()[1], None, log.of(MessageExchanged)[1]
    assert second.envelope.cause == prompt.envelope.id


def test_a_rewind_to_the_very_start_closes_the_session_too(log, take):
    take(*REWOUND[:2], user("u2", "No: mend the door."), *REWOUND[3:])
    assert ends(log) == [("Bash", False, True)]
    assert session_marks(log) == ["session.started", "session.ended"]


def test_prompts_of_a_file_without_parents_are_no_rewinds(log, take):
    take(*[{**found, "parentUuid": None} for found in REWOUND])
    assert session_marks(log) == ["session.started"]


def test_a_rewound_session_is_not_closed_while_its_new_branch_calls(log, take):
    calling = [*REWOUND[:3], model("a2", says("I try."), calls("t2"), parent="u2")]
    take(*calling)
    assert session_marks(log) == ["session.started"]
    take(*calling, user("u3", [answers("t2")], parent="a2"), model("a3", says("Mended.")))
    assert session_marks(log) == ["session.started", "session.ended"]


def test_a_closed_session_that_goes_on_is_open_again(log, take):
    first = take(*REWOUND)
    report = take(*REWOUND, user("u3", "Thanks.", parent="a2"))
    assert (report.already_there, report.added) == (first.added, 2)
    assert session_marks(log) == ["session.started", "session.ended", "session.started"]
    assert log.types()[-2:] == ["session.started", "message.exchanged"]


def test_a_plain_session_is_not_said_to_have_ended(log, take):
    take(user("u1", "Hi."), model("a1", says("Hello."), parent="u1", stop="end_turn"))
    assert log.of(SessionEnded) == []


@pytest.mark.parametrize("command", ["/exit", "/quit", "exit"])
def test_leaving_closes_the_session_and_what_is_printed_then_leaves_it_closed(log, take, command):
    take(
        user("u1", "Hi."),
        model("a1", says("Hello."), parent="u1"),
        user("u2", f"<command-name>{command}</command-name>", parent="a1"),
        user("u3", "<local-command-stdout>Bye!</local-command-stdout>", parent="u2"),
    )
    assert session_marks(log) == ["session.started", "session.ended"]
    assert log.types()[-1] == "message.exchanged"


def test_a_session_that_was_left_in_a_system_line_is_closed_too(log, take):
    text = "<command-name>/exit</command-name>"
    take(
        user("u1", "Hi."), line("system", "s1", parent="u1", subtype="local_command", content=text)
    )
    assert session_marks(log) == ["session.started", "session.ended"]


def test_a_replay_behind_the_end_opens_nothing(log, take):
    lines = [
        user("u1", "Hi."),
        model("a1", says("Hello."), message="m1", parent="u1"),
        user("u2", "<command-name>/exit</command-name>", parent="a1"),
        user("v1", "Hi."),
        model("b1", says("Hello."), message="m1", parent="v1"),
    ]
    take(*lines)
    assert session_marks(log) == ["session.started", "session.ended"]
    take(*lines, user("v2", "Are you there?", parent="b1"))
    assert session_marks(log) == ["session.started", "session.ended", "session.started"]


# Calls


@pytest.mark.parametrize(
    "later",
    [user("u2", "Are you there?"), model("a2", says("I am back.")), model("a2", calls("t2"))],
    ids=["a prompt", "a message", "a call"],
)
def test_when_a_process_died_and_the_file_goes_on_its_open_calls_are_orphaned(log, take, later):
    take(user("u1", "Mend the lift."), model("a1", calls("t1"), parent="u1"), later)
    assert ends(log) == [("Bash", False, True)]


def test_a_call_at_the_end_of_a_file_stays_open_until_its_answer_comes(log, take):
    lines = [user("u1", "Mend the lift."), model("a1", calls("t1"), parent="u1")]
    take(*lines)
    assert ends(log) == []
    take(*lines, user("u2", [answers("t1")], parent="a1"))
    assert ends(log) == [("Bash", True, False)]


def test_an_answer_that_comes_after_all_is_linked_with_its_call(log, take):
    take(
        model("a1", calls("t1")),
        model("a2", says("I go on.")),
        user("u1", [answers("t1")], parent="a1"),
    )
    assert ends(log) == [("Bash", False, True), ("Bash", True, False)]
    assert len({found.envelope.cause for found in log.of(ActionFinished)}) == 1


def test_the_newest_call_of_an_id_gets_the_answer(log, take):
    take(
        model("a1", calls("t1", "Old")),
        model("a2", calls("t1", "New")),
        user("u1", [answers("t1")]),
    )
    assert ends(log) == [("Old", False, True), ("New", True, False)]


# Chains


@pytest.mark.bad_input(33)
@pytest.mark.parametrize(
    "parents",
    [("u1", "u1", "u1"), ("u3", "u1", "u2"), (None, "u3", "u2"), ("x", "y", "z")],
)
def test_parents_that_lead_in_a_circle_or_nowhere_cost_nothing(log, take, parents):
    take(
        *[
            user(uuid, f"{uuid} says {parent}", parent=parent)
            for uuid, parent in zip(("u1", "u2", "u3"), parents, strict=True)
        ]
    )
    assert len(log.of(MessageExchanged)) == 3
    seen: set[str] = set()
    for found in log.events():
        assert found.envelope.cause is None or found.envelope.cause in seen
        seen.add(found.envelope.id)


def test_one_uuid_on_two_lines_is_two_events(log, take):
    take(user("u1", "one"), user("u1", "two", parent="u1"), user("u1", "three", parent="u1"))
    assert [found.recorded.event.text for found in log.of(MessageExchanged)] == [
        "one",
        "two",
        "three",
    ]


def test_what_is_forgotten_costs_links_and_no_event(log, take, monkeypatch):
    for bound in ("claude_code_chain.LINES_MAX", "claude_code_chain.LANES_MAX", "story.CALLS_MAX"):
        monkeypatch.setattr(f"mnemolog.importers.{bound}", 1)
    sessions = [{**found, "sessionId": f"s-{n % 3}"} for n, found in enumerate(SPAWNED * 2)]
    take(*SPAWNED, *sessions)
    spoken = {found.recorded.event.text for found in log.of(MessageExchanged)}
    assert spoken == {"How many kites?", "Count the kites.", "Two.", "There are two."}
    assert len({found.recorded.event.tool for found in log.of(ActionStarted)}) == 2


# Sub-agents


TASK = {"prompt": "Count the kites.", "subagent_type": "counter"}
SPAWNED = [
    user("u1", "How many kites?"),
    model("a1", calls("t1", "Task", **TASK), calls("t2", "Task", prompt="Count the boats.")),
    user("s1", "Count the kites.", isSidechain=True),
    model("s2", thinks("One, two."), calls("t3"), parent="s1", isSidechain=True),
    user("s3", [answers("t3", "two")], parent="s2", isSidechain=True),
    model("s4", says("Two."), parent="s3", isSidechain=True),
    user("u2", [answers("t1", "Two.")], parent="a1"),
    user("u3", [answers("t2", "None.")], parent="a1"),
    model("a2", says("There are two."), parent="u2"),
]


def test_a_sub_agents_run_is_a_session_of_its_own_that_its_call_began_and_ended(log, take):
    take(*SPAWNED)
    sub = [found for found in log.events() if found.envelope.agent == "claude-code/sub-agent"]
    assert [found.event_type for found in sub] == [
        "session.started",
        "message.exchanged",
        "decision.made",
        "action.started",
        "action.finished",
        "message.exchanged",
        "session.ended",
    ]
    assert len({found.envelope.session for found in sub}) == 1
    assert sub[0].envelope.session.startswith("s-1/")
    call = log.of(ActionStarted)[0]
    assert call.recorded.event.arguments == TASK
    assert sub[0].envelope.cause == call.envelope.id
    assert not any(orphaned for _, _, orphaned in ends(log))


def test_sub_agents_beside_one_another_are_told_apart(log, take):
    beside = [
        user("x1", "Count the boats.", isSidechain=True),
        model("x2", says("None."), parent="x1", isSidechain=True),
    ]
    take(*SPAWNED[:4], *beside, *SPAWNED[4:])
    sessions = {found.envelope.session for found in log.of(SessionStarted)}
    assert len(sessions) == 3
    causes = [found.envelope.cause for found in log.of(SessionStarted)]
    assert causes == [None, *[found.envelope.id for found in log.of(ActionStarted)[:2]]]


def test_a_sub_agent_that_has_a_name_is_called_so(log, take):
    take(user("s1", "Count.", isSidechain=True, agentId="ab12"))
    (started,) = log.of(SessionStarted)
    assert (started.envelope.session, started.envelope.cause) == ("s-1/ab12", None)
    take(user("s2", "Count.", isSidechain=True, agentId="ab12"), agent="ops-1")
    assert log.of(SessionStarted)[-1].envelope.agent == "ops-1/sub-agent"
