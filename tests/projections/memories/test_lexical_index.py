"""Our words in a real LanceDB full text index, as the memories projection builds it."""

import os

import lancedb
import pytest
from lancedb.index import FTS
from lancedb.query import MatchQuery

from mnemolog.projections.memories.lexical import (
    FTS_TOKEN_LENGTH_MAX,
    TOKEN_CHARACTERS_MAX,
    index_text,
    question_text,
)

os.environ.setdefault("LANCE_LOG", "error")

TEXTS = {
    "laundering": "把机器推论洗成权威事实",
    "caffeine": "咖啡因让他整夜睡不着",
    "perch": "晚饭是清蒸鲈鱼和米饭。",
    "pool": "支付服务 payment-gw 的连接池在 node-7 上耗尽，见 INC-21234",
    "login": "Fixed the session bug in src/auth/login.py for release v1.2.3",
    "deploys": "She deploys every Friday",
    "deployed": "They deployed the new gateway",
    "deployment": "The deployment window is at noon",
    "part": "Part CN-A10293 was ordered",
    "camel": "parseHTTPResponse returns None",
    "cafe": "Meet me at the café",
    "what": "What is what and who is who? We do as we do.",
    "long": "x" * 500 + " 𐐨" * 3,
    "wide": "𐐨" * 200,
}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    rows = [{"id": id_, "words": index_text(text)} for id_, text in TEXTS.items()]
    table = lancedb.connect(tmp_path_factory.mktemp("lance")).create_table("texts", rows)
    config = FTS(
        base_tokenizer="whitespace",
        language="English",
        max_token_length=FTS_TOKEN_LENGTH_MAX,
        lower_case=True,
        stem=True,
        remove_stop_words=True,
        ascii_folding=True,
        with_position=False,
    )
    table.create_index("words", config=config)

    def find(question: str) -> list[str]:
        query = table.search(MatchQuery(question_text(question), "words"))
        hits = query.select(["id", "_score"]).limit(len(TEXTS)).to_list()
        return [hit["id"] for hit in sorted(hits, key=lambda hit: (-hit["_score"], hit["id"]))]

    return find


@pytest.mark.bad_input(73)
@pytest.mark.parametrize("id_", ["laundering", "caffeine", "perch", "pool"])
def test_every_word_of_two_or_more_characters_of_a_chinese_text_is_found(found, id_):
    runs = "".join(c if "\u4e00" <= c <= "\u9fff" else " " for c in TEXTS[id_]).split()
    words = {
        run[start:end]
        for run in runs
        for start in range(len(run))
        for end in range(start + 2, min(len(run), start + 5) + 1)
    }
    assert words
    assert [word for word in words if id_ not in found(word)] == []


@pytest.mark.parametrize(
    ("question", "id_"),
    [
        ("权威事实", "laundering"),
        ("咖啡", "caffeine"),
        ("鲈鱼", "perch"),
        ("鱼", "perch"),
        ("为什么连接池耗尽了吗", "pool"),
        ("payment-gw 怎么了", "pool"),
        ("INC-21234", "pool"),
        ("inc-21234?", "pool"),
        ("21234", "pool"),
        ("node-7", "pool"),
        ("what happened in src/auth/login.py", "login"),
        ("login.py", "login"),
        ("1.2.3", "login"),
        ("CN-A10293", "part"),
        ("ｃｎ－ａ１０２９３", "part"),
        ("parse http", "camel"),
        ("cafe", "cafe"),
        ("x" * 500, "long"),
        ("𐐨" * 200, "wide"),
    ],
)
def test_it_is_found_first(found, question, id_):
    assert found(question)[0] == id_


@pytest.mark.parametrize("question", ["deploy", "deploys", "deployed", "deployment", "Deploying"])
def test_one_stem_finds_all_its_forms(found, question):
    assert set(found(question)) == {"deploys", "deployed", "deployment"}


def test_words_that_only_ask_find_nothing_beside_a_word_that_tells(found):
    assert found("what did we do when the gateway was deployed")[0] == "deployed"
    assert "what" not in found("what did we do when the gateway was deployed")


@pytest.mark.parametrize(
    "question", ["", " ", '"', "a AND (", "b OR *", "'; DROP --", "\\", "🎉", "\ud83e", "\0"]
)
def test_odd_questions_find_nothing_and_raise_nothing(found, question):
    assert found(question) == []


def test_the_index_lets_our_longest_token_pass():
    assert TOKEN_CHARACTERS_MAX * 4 <= FTS_TOKEN_LENGTH_MAX
