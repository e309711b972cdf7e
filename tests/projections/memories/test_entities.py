"""Who and what a text names, by rules, in English and Chinese."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mnemolog.projections.memories.entities import (
    _RULES,
    ENTITIES_MAX,
    ENTITY_CHARACTERS_MAX,
    entities,
)

ANY_TEXT = st.text(st.characters(codec=None))
MIXED = """
INC-21234 Alice Alice's deploys src/auth/login.py 30% 5 ms 「权威事实」 “x” @bob PostgreSQL The
https://a.example/b 3 天 200 个连接 v1.2.3 snake_case 的 。 . ! " ' ` ( / @ -
"""
REPEATED = """
a- a. a/ _ A Aa_ 1 1, @ 'a /a Ab-Cd “ 1个 a@ ` :// A' 年 A- .a v1. ( #
"""
PIECES = st.sampled_from(MIXED.split())


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", ()),
        ("ok, thanks!", ()),
        ("see INC-21234 and CN-A10293 on node-7", ("INC-21234", "CN-A10293", "node-7")),
        ("用parseHTTPResponse处理snake_case_name", ("parseHTTPResponse", "snake_case_name")),
        ("mnemolog.schemas.text uses PostgreSQL", ("mnemolog.schemas.text", "PostgreSQL")),
        ("in src/auth/login.py, not /etc/hosts", ("src/auth/login.py", "/etc/hosts")),
        ("in ./run.sh, ~/notes.md", ("./run.sh", "~/notes.md")),
        ("in C:\\temp\\x.log", ("C:\\temp\\x.log",)),
        ("and/or he/she", ()),
        ("at https://ci.example.com/run/42?x=1.", ("https://ci.example.com/run/42?x=1",)),
        ("见https://a.example/b，谢谢", ("https://a.example/b",)),
        ("mail bob.smith@example.com", ("bob.smith@example.com",)),
        ("ask @alice or @张三 now", ("@alice", "@张三")),
        ("30% in 5 ms", ("30%", "5 ms")),
        ("200 个连接在 3 天内用完", ("200 个连接", "3 天")),
        ("3个月花了$1,200.50和2万元", ("3个月", "$1,200.50", "2万元")),
        ("v1.8 then 1.2.3-rc1 on 10.0.0.1", ("v1.8", "1.2.3-rc1", "10.0.0.1")),
        ("on 2024-05-03 at 10:30, 2024年5月3日", ()),
        ("「权威事实」『甲乙』《设计文档》“连接池”", ("权威事实", "甲乙", "设计文档", "连接池")),
        ('the "Blue Harbor" plan, `make check`', ("Blue Harbor", "make check")),
        ('he said "I will go there. Then stop it now"', ()),
        ('{"name": "x9", "kind": "y9"}', ("x9", "y9")),
        ("JWT und OOM", ("JWT", "OOM")),
        ("STOP DOING THIS RIGHT NOW PLEASE", ()),
    ],
)
def test_what_is_named(text, named):
    assert entities(text) == named


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Deploy failed again", ()),
        ("We met Caroline in New York on Monday", ("Caroline", "New York")),
        ("Deploys go out on Mondays, never on Fridays", ()),
        ("Alice went home.", ()),
        ("Alice went home. Alice came back.", ("Alice",)),
        ("Alice Smith went home.", ("Alice Smith",)),
        ("The Blue Harbor project", ("Blue Harbor",)),
        ("However Bob disagreed.", ("Bob",)),
        ("led by Dr. Brown and Jean-Luc Picard", ("Brown", "Jean-Luc Picard")),
        ("it was O'Brien's dog", ("O'Brien",)),
        ("- Redis is down", ()),
        ("Redis 连接池耗尽", ("Redis",)),
        ("我在Kafka里", ("Kafka",)),
        ("Bank of England rates", ("Bank of England",)),
    ],
)
def test_capitals_name_something_but_where_a_sentence_begins(text, named):
    assert entities(text) == named


def test_case_and_width_make_no_second_entity_and_the_first_writing_stays():
    assert entities("see Node-7, node-7 and ｎｏｄｅ－７") == ("Node-7",)


def test_they_come_in_order_of_first_occurrence_and_ten_at_most():
    text = " ".join(f"INC-{number}" for number in range(30))
    assert entities(text) == tuple(f"INC-{number}" for number in range(ENTITIES_MAX))


def test_base64_names_nothing():
    picture = "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUg" * 50_000
    assert entities(f"chart {picture} for INC-7") == ("INC-7",)


def test_what_is_too_long_is_left_out():
    assert entities("x" * ENTITY_CHARACTERS_MAX + "_y and INC-7") == ("INC-7",)


@given(ANY_TEXT)
def test_any_text_is_read(text):
    check(entities(text), text)


@given(st.lists(PIECES, max_size=60), st.sampled_from(["", " ", "\n"]))
def test_any_mixture_is_read(pieces, between):
    text = between.join(pieces)
    check(entities(text), text)


FASTER = [rule for rule in _RULES if rule.faster]


@pytest.mark.parametrize("rule", FASTER, ids=[rule.pattern.pattern[:24] for rule in FASTER])
@given(
    st.lists(PIECES | st.sampled_from(REPEATED.split()), max_size=40).map("".join)
    | st.text(st.characters(codec="ascii"))
    | ANY_TEXT
)
@example("٣ km, 1٣a, v٣.1, 2024-٣-1, $٣")
def test_the_faster_pattern_of_a_rule_finds_the_same_where_it_fits(rule, text):
    fast = rule.faster if rule.fits(text) else rule.pattern
    assert spans(fast, text) == spans(rule.pattern, text)


def test_a_text_with_other_digits_fits_no_faster_pattern():
    assert not any(rule.fits("٣") for rule in FASTER)
    assert all(rule.fits("3 km") for rule in FASTER)


def spans(pattern, text):
    return [match.span() for match in pattern.finditer(text)]


def check(named, text):
    assert named == entities(text)
    assert len(named) <= ENTITIES_MAX
    assert len({name.casefold() for name in named}) == len(named)
    for name in named:
        assert 2 <= len(name) <= ENTITY_CHARACTERS_MAX
        assert name == name.strip()
        assert "\0" not in name
        name.encode("utf-8", "strict")


@pytest.mark.parametrize(
    "piece",
    [*REPEATED.split(), "Aa ", "x y. "],
)
@pytest.mark.timeout(20)
def test_a_million_repeats_take_no_long_time(piece):
    check(entities(piece * 1_000_000), piece)
