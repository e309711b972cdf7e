"""Every rule finds what it says and leaves what it says, and what holds for all rules does hold."""

import pytest

from mnemolog.projections.write_rule.outright import RULES, statements
from mnemolog.projections.write_rule.stated import StatedRule

KINDS = frozenset({"constraint", "decision", "preference"})


def found(text: str, kinds=KINDS) -> list[tuple[str, str]]:
    return [(s.text, s.rule.name) for s in statements(text, kinds=kinds)]


def examples(which: str):
    return [
        pytest.param(rule, text, id=f"{rule.name}: {text}")
        for rule in RULES
        for text in getattr(rule, which)
    ]


@pytest.mark.parametrize(("rule", "text"), examples("finds"))
def test_a_rule_finds_its_examples(rule: StatedRule, text: str):
    assert found(text) == [(text, rule.name)]


@pytest.mark.parametrize(("rule", "text"), examples("leaves"))
def test_a_rule_and_all_others_leave_its_counterexamples(rule: StatedRule, text: str):
    assert found(text) == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_has_examples_of_both_sorts_a_kind_and_cues_in_lower_case(rule: StatedRule):
    assert len(rule.finds) >= 2
    assert len(rule.leaves) >= 3
    assert rule.kind in KINDS
    assert all(cue and cue == cue.lower() for cue in rule.cues)


def test_names_are_unique_since_they_are_shown_for_ever():
    assert len({rule.name for rule in RULES}) == len(RULES)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_question_an_if_clause_and_a_quotation_state_nothing(rule: StatedRule):
    for text in rule.finds:
        bare = text.rstrip(".。!！")
        chinese = rule.name.startswith("zh")
        assert found(f"{bare}？" if chinese else f"{bare}?") == []
        assert found(f"他写道：“{text}”" if chinese else f'It reads "{text}" there') == []
        assert found(f"```\n{text}\n```") == []
        assert found(f"> {text}") == []


def test_each_sentence_gives_one_memory_by_the_first_rule_that_finds_it():
    text = "The pool is slow. We must not restart it, and never on a Friday! Let's go with plan B."
    assert found(text) == [
        ("We must not restart it, and never on a Friday!", "en-must"),
        ("Let's go with plan B.", "en-lets"),
    ]


def test_list_marks_are_left_out_and_repeats_count_once():
    text = "Rules:\n- Never log a token.\n2) Never log a token.\n* 禁止直接写生产库。"
    assert found(text) == [
        ("Never log a token.", "en-never"),
        ("禁止直接写生产库。", "zh-must-not"),
    ]


def test_only_the_kinds_that_are_asked_for_are_found():
    text = "I prefer tea. We decided to ship. Never ship on Friday."
    assert found(text, frozenset({"decision"})) == [("We decided to ship.", "en-decided")]


def test_a_curly_apostrophe_is_an_apostrophe():
    assert found("Don’t touch the ledger.") == [("Don’t touch the ledger.", "en-do-not")]


def test_a_statement_beyond_what_is_read_is_not_found():
    assert found("x" * 30_000 + ". Never log a token.") == []
