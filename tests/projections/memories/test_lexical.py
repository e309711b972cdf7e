"""The words of a text: alike for what is stored and what is asked, in English and Chinese."""

import re
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mnemolog.projections.memories.lexical import (
    _ASCII_HUMP,
    _FIRST_HAN,
    _HUMP,
    _IGNORABLE,
    _PLAIN,
    _PLAIN_TOKEN,
    _TOKEN,
    INDEX_TOKENS_MAX,
    QUESTION_TOKENS_MAX,
    TOKEN_CHARACTERS_MAX,
    index_text,
    index_tokens,
    question_text,
    question_tokens,
)

ANY_TEXT = st.text(st.characters(codec=None))
HAN = st.text("权威事实机器推论洗成什么我们的了吗咖啡因鲈鱼部署失败", min_size=2, max_size=20)
PIECES = st.sampled_from(
    [
        "权威事实",
        "为什么",
        "Deploy",
        "INC-21234",
        "src/auth/login.py",
        "snake_case",
        "v1.2.3",
        "👍",
        ", ",
        "\n",
        "é",
    ]
)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        ("🎉 … !? 👩‍👩‍👧‍👦 ❤️", []),
        ("权威事实", ["权", "权威", "威", "威事", "事", "事实", "实"]),
        ("鱼", ["鱼"]),
        ("用JWT登录3天", ["用", "jwt", "登", "登录", "录", "3", "天"]),
        ("Deploys FAILED", ["deploys", "failed"]),
        ("ＡＢＣ １２３", ["abc", "123"]),
        ("INC-21234", ["inc-21234", "inc", "21234"]),
        ("CN-A10293", ["cn-a10293", "cn", "a10293", "10293"]),
        ("node-7", ["node-7", "node", "7"]),
        ("v1.2.3", ["v1.2.3", "v1", "1", "2", "3", "1.2.3"]),
        ("1,000,000", ["1,000,000", "1", "000", "1000000"]),
        ("parseHTTPResponse", ["parsehttpresponse", "parse", "http", "response"]),
        ("snake_case_name", ["snake_case_name", "snake", "case", "name"]),
        ("src/auth/login.py", ["src/auth/login.py", "src", "auth", "login.py", "login", "py"]),
        ("bob@example.com", ["bob@example.com", "bob", "example.com", "example", "com"]),
        ("std::vector", ["std::vector", "std", "vector"]),
        ("C++ and C#", ["c++", "and", "c#"]),
        ("don't, it's Bob's", ["don", "it", "bob"]),
        ("Straße", ["strasse"]),
        ("一\u200b二", ["一", "二"]),
        ("ok\u00ad ay", ["ok", "ay"]),
        ("コーヒー", ["コ", "コー", "ー", "ーヒ", "ヒ", "ヒー", "ー"]),
        ("배포", ["배", "배포", "포"]),
    ],
)
def test_what_is_stored(text, tokens):
    assert index_tokens(text) == tokens


@pytest.mark.parametrize(
    ("question", "tokens"),
    [
        ("", []),
        ("权威事实", ["权威", "威事", "事实"]),
        ("鱼", ["鱼"]),
        ("为什么部署失败", ["部署", "署失", "失败"]),
        ("我们的部署怎么样了吗", ["部署"]),
        ("什么", ["什么"]),
        ("我们为什么", ["我们", "们为", "为什", "什么"]),
        ("我的猫", ["猫"]),
        ("我们的目的是什么", ["目的"]),
        ("what did we do about login.py?", ["login.py", "login", "py"]),
        ("who are we", ["who", "are", "we"]),
        ("Deploy deploy DEPLOY", ["deploy"]),
        ("INC-21234 怎么样了", ["inc-21234", "inc", "21234"]),
    ],
)
def test_what_is_asked(question, tokens):
    assert question_tokens(question) == tokens


def test_what_is_stored_keeps_its_repeats():
    assert index_text("deploy, deploy") == "deploy deploy"
    assert question_text("deploy, deploy") == "deploy"


def test_base64_has_no_words():
    picture = "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUg" * 50_000
    assert index_text(f"chart {picture} peak") == "chart image/png image png peak"


def test_a_huge_text_has_bounded_tokens():
    assert len(index_tokens("部署 " * 100_000)) == INDEX_TOKENS_MAX
    assert (
        len(question_tokens("".join(map(chr, range(0x4E00, 0x4E00 + 5_000)))))
        == QUESTION_TOKENS_MAX
    )


@pytest.mark.parametrize("text", ["a" * 10_000, "a." * 10_000, "a_" * 10_000, "ﷺ" * 10_000])
def test_a_huge_word_is_cut_alike_on_both_sides(text):
    assert set(question_tokens(text[:4_000])) & set(index_tokens(text))
    assert max(map(len, index_tokens(text))) <= TOKEN_CHARACTERS_MAX


@given(HAN, st.data())
def test_every_word_of_a_chinese_text_is_asked_by_tokens_that_are_stored(text, data):
    start = data.draw(st.integers(0, len(text) - 2))
    end = data.draw(st.integers(start + 2, len(text)))
    asked = question_tokens(text[start:end])
    assert asked
    assert set(asked) <= set(index_tokens(f"见{text}，INC-1"))


@given(st.lists(PIECES, min_size=1))
def test_a_text_asked_whole_is_found_by_each_of_its_tokens(pieces):
    text = " ".join(pieces)
    assert set(question_tokens(text)) <= set(index_tokens(text))


@given(ANY_TEXT)
def test_any_text_has_tokens_that_an_index_can_hold(text):
    for tokens in (index_tokens(text), question_tokens(text)):
        assert " ".join(tokens).split() == tokens
        assert all(0 < len(token) <= TOKEN_CHARACTERS_MAX for token in tokens)
        assert not any(re.search("[\x00\ud800-\udfff]", token) for token in tokens)
    assert index_tokens(text) == index_tokens(text)


@given(
    st.text(st.characters(codec="ascii") | st.sampled_from("一鿿权、。《」“’—·…"))
    | st.lists(st.sampled_from([*"aB3_'’@./:-+#, 权。", "::", "://", "C++", "1,000"])).map("".join)
    | ANY_TEXT
)
@example("用C++写，C#也行。C++、C#好")
def test_a_plain_text_has_the_same_pieces_by_its_faster_pattern(text):
    if _PLAIN.fullmatch(text):
        found = [(match[0], bool(match["run"])) for match in _TOKEN.finditer(text)]
        assert [(w, w[0] >= _FIRST_HAN) for w in _PLAIN_TOKEN.findall(text)] == found


def test_what_a_plain_text_may_hold_is_no_letter_but_of_ascii_and_usual_chinese():
    every = map(chr, range(0x80, sys.maxunicode + 1))
    plain = {character for character in every if _PLAIN.fullmatch(character)}
    assert {c for c in plain if _TOKEN.match(c)} == set(map(chr, range(0x4E00, 0xA000)))
    assert not any(_IGNORABLE.match(character) for character in plain)


@given(st.text("aBcDE19_é"))
def test_a_word_of_ascii_has_the_same_humps_by_its_faster_pattern(word):
    plain = word.encode("ascii", "ignore").decode()
    assert _ASCII_HUMP.findall(plain) == _HUMP.findall(plain)


@given(st.lists(PIECES, min_size=1), st.integers(1, 3))
def test_a_word_has_the_same_tokens_when_it_is_met_again(pieces, times):
    once = index_tokens(" ".join(pieces))
    assert index_tokens(" ".join(pieces * times)) == once * times
