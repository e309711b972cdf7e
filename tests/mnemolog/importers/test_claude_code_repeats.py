"""What stands in a session more than once is told once: snapshots, parts, replays, imports."""

import pytest

from mnemolog.importers.claude_code_ahead import AHEAD_LINES_MAX
from mnemolog.schemas.events.experience import ActionStarted, DecisionMade, MessageExchanged
from support.claude_code import answers, calls, line, model, says, thinks, usage, user
from support.import_log import ImportLog, lines_file


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


@pytest.fixture
def take(log, tmp_path):
    def taken(*lines, **how):
        return log.take(lines_file(tmp_path, *lines), format="claude-code", **how)

    return taken


def texts(log: ImportLog) -> list[str]:
    return [found.recorded.event.text for found in log.of(MessageExchanged)]


def costs(log: ImportLog) -> list[int]:
    uses = [found.recorded.event.model_use for found in log.events()]
    return [use.tokens_out for use in uses if use]


@pytest.mark.bad_input(29)
@pytest.mark.parametrize("blocks", [[thinks("It is free.")] * 3, [thinks("It"), thinks("It is")]])
def test_snapshots_of_a_message_are_one_event_with_the_last_numbers(log, take, blocks):
    outs = [1, 5, 120][-len(blocks) :]
    lines = [
        model(f"u{n}", block, message="msg_1", usage=usage(out))
        for n, (block, out) in enumerate(zip(blocks, outs, strict=True), start=1)
    ]
    take(*lines)
    (decision,) = log.of(DecisionMade)
    assert decision.recorded.event.what == blocks[-1]["thinking"]
    assert costs(log) == [120]


def test_the_parts_of_a_message_are_told_in_order_and_cost_once(log, take):
    take(
        model("a1", thinks("Look."), message="m", usage=usage(1)),
        model("a2", says("I look."), message="m", usage=usage(1), parent="a1"),
        model("a3", calls("t1"), message="m", usage=usage(60), parent="a2", stop="tool_use"),
    )
    assert log.types()[1:] == ["decision.made", "message.exchanged", "action.started"]
    assert costs(log) == [60]


def test_a_growing_text_with_a_call_behind_it_is_one_message(log, take):
    take(
        model("a1", says("I lo"), message="m"),
        model("a2", says("I look."), message="m"),
        model("a3", says("I look."), calls("t1"), message="m"),
    )
    assert texts(log) == ["I look."]
    assert len(log.of(ActionStarted)) == 1


def test_results_may_stand_between_the_parts_of_a_message(log, take):
    take(
        model("a1", calls("t1"), message="m", usage=usage(1)),
        user("u1", [answers("t1")], parent="a1"),
        model("a2", calls("t2"), message="m", usage=usage(50), parent="a1"),
        user("u2", [answers("t2")], parent="a2"),
        model("a3", says("Both done."), parent="u2"),
    )
    kinds = ["action.started"] * 2 + ["action.finished"] * 2
    assert log.types()[1:] == [*kinds, "message.exchanged"]
    assert costs(log) == [50]
    assert not any(found.recorded.event.model_dump().get("orphaned") for found in log.events())


def test_a_part_that_comes_too_late_is_told_all_the_same(log, take):
    between = [user(f"r{n}", [answers(f"x{n}")], parent="a1") for n in range(AHEAD_LINES_MAX + 1)]
    take(
        model("a1", says("I look."), message="m"),
        *between,
        model("a2", says("I look."), calls("t1"), message="m"),
    )
    assert texts(log) == ["I look."]
    assert len(log.of(ActionStarted)) == 1


REPLAYED = [
    lambda tag: user(f"{tag}1", "Is the lift free?"),
    lambda tag: model(f"{tag}2", calls("t1"), message="m1", parent=f"{tag}1", usage=usage(7)),
    lambda tag: user(f"{tag}3", [answers("t1", "free")], parent=f"{tag}2"),
    lambda tag: model(f"{tag}4", says("It is."), message="m2", parent=f"{tag}3", usage=usage(8)),
    lambda tag: user(f"{tag}5", "Thanks.", parent=f"{tag}4"),
    lambda tag: model(f"{tag}6", says("Any time."), message="m3", parent=f"{tag}5"),
]


@pytest.mark.bad_input(29)
def test_a_resumed_session_that_replays_its_turns_tells_only_what_is_new(log, take):
    first = [make("a") for make in REPLAYED]
    take(*first)
    before = log.types()
    again = [make("b") for make in REPLAYED]
    report = take(*first, *again, user("c1", "And now?", parent="b6"))
    assert report.added == 1
    assert log.types() == [*before, "message.exchanged"]
    assert log.events()[-1].envelope.cause == log.events()[-2].envelope.id
    assert costs(log) == [7, 8]


def test_a_replay_in_another_session_tells_its_first_prompt_at_most(log, take):
    take(*[make("a") for make in REPLAYED])
    forked = [{**make("a"), "sessionId": "s-2"} for make in REPLAYED]
    report = take(*forked, {**user("c1", "And now?", parent="a6"), "sessionId": "s-2"})
    assert report.by_type["message.exchanged"] == 5
    added = [found for found in log.events() if found.envelope.session == "s-2"]
    assert [found.event_type for found in added] == ["session.started"] + ["message.exchanged"] * 2
    assert costs(log) == [7, 8]


def test_a_person_may_say_the_same_again(log, take):
    take(
        user("u1", "Go on."),
        model("a1", says("Done."), parent="u1"),
        user("u2", "Go on.", parent="a1"),
        model("a2", says("Done again."), parent="u2"),
        user("u3", "Go on."),
    )
    assert texts(log).count("Go on.") == 3


@pytest.mark.parametrize("cut", range(1, 7))
def test_a_file_that_has_grown_adds_its_tail(log, take, tmp_path, cut):
    lines = [make("a") for make in REPLAYED]
    first = take(*lines[:cut])
    grown = take(*lines)
    assert grown.already_there == first.added
    at_once = ImportLog()
    at_once.take(tmp_path / "in.jsonl", format="claude-code")
    assert [f.envelope.id for f in log.events()] == [f.envelope.id for f in at_once.events()]


def test_a_message_is_told_once_under_any_file_name(log, tmp_path):
    lines = [make("a") for make in REPLAYED]
    log.take(lines_file(tmp_path, *lines, name="a.jsonl"))
    report = log.take(lines_file(tmp_path, *lines, name="b.jsonl"))
    assert report.added == 0


def test_two_sessions_with_one_prompt_are_two(log, take):
    take(user("u1", "Hi."), {**user("u2", "Hi."), "sessionId": "s-2"})
    assert texts(log) == ["Hi.", "Hi."]


def test_an_unnamed_line_may_not_hide_another(log, take):
    unnamed = [line("user", None, message={"role": "user", "content": text}) for text in "abc"]
    take(*unnamed)
    assert texts(log) == ["a", "b", "c"]
