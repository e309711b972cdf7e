"""Identifiers are found in questions, and held by texts as whole names only."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.projections.recall.identifiers import (
    IDENTIFIERS_MAX,
    identifiers_in,
    share_held,
)


@pytest.mark.parametrize(
    ("question", "identifier"),
    [
        ("why did INC-21234 happen?", "inc-21234"),
        ("INC-21234的原因是什么", "inc-21234"),
        ("ＩＮＣ－21234 怎么了", "inc-21234"),
        ("what is in src/billing/gateway.py?", "src/billing/gateway.py"),
        ("who reads /etc/mnemolog/conf", "/etc/mnemolog/conf"),
        ("open C:\\logs\\today.txt", "c:\\logs\\today.txt"),
        ("parse_invoice_date 哪里错了", "parse_invoice_date"),
        ("does mnemolog.schemas.ids know it", "mnemolog.schemas.ids"),
        ("where is parseInvoice called", "parseinvoice"),
        ("E4031 when signing in", "e4031"),
        ("is v2.14.3 affected", "v2.14.3"),
        ("what does 9d1c4e7f change", "9d1c4e7f"),
        ("see https://example.invalid/a?b=1", "https://example.invalid/a?b=1"),
        ("mail to ana@example.invalid", "ana@example.invalid"),
        ('what about "purple lantern"?', "purple lantern"),
        ("「紫灯笼」是什么", "紫灯笼"),
        ("what does `rm -rf` do", "rm -rf"),
    ],
)
def test_an_identifier_of_a_question_is_found(question, identifier):
    assert identifier in identifiers_in(question)


@pytest.mark.parametrize(
    "question",
    [
        "why did we roll back the release?",
        "What did Caroline research in May 2023?",
        "昨天的数据副本怎么没有生成？",
        "the well-known follow-up",
        "it's 5 o'clock, isn't it",
        "and/or",
        "e.g. this, i.e. that...",
        "- a\n- b",
        "",
    ],
)
def test_a_question_in_plain_words_has_none(question):
    assert identifiers_in(question) == ()


@pytest.mark.parametrize(
    ("name", "text", "held"),
    [
        ("inc-2123", "INC-21234 was closed", False),
        ("inc-21234", "INC-21234 was closed", True),
        ("inc-21234", "关于INC-21234的说明", True),
        ("gate.py", "see src/gate.py.", True),
        ("gate.py", "see gate.pyc", False),
        ("a_b", "the a_b_c field", False),
        ("紫灯笼", "代号是紫灯笼。", True),
    ],
)
def test_a_text_holds_whole_names_only(name, text, held):
    assert share_held([name], text) == (1.0 if held else 0.0)


@given(st.text(max_size=400))
def test_any_text_gives_a_bounded_number_of_identifiers_that_it_holds_in_part(text):
    found = identifiers_in(text)
    assert len(found) <= IDENTIFIERS_MAX
    assert 0 <= share_held(found, text) <= 1


def test_a_long_run_of_dots_and_dashes_costs_no_time():
    assert identifiers_in("a-" * 50_000 + "." * 50_000) == ()
