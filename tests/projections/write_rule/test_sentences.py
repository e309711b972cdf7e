from hypothesis import given
from hypothesis import strategies as st

from mnemolog.projections.write_rule.sentences import HIDDEN, READ_CHARACTERS_MAX, sentences


def written(text: str) -> list[str]:
    return [sentence.written for sentence in sentences(text)]


def test_versions_addresses_and_abbreviations_end_no_sentence():
    text = "Use v1.8.2 of api.example.com, e.g. for Mr. Li. Then stop."
    assert written(text) == ["Use v1.8.2 of api.example.com, e.g. for Mr. Li.", "Then stop."]


def test_chinese_stops_and_line_ends_end_a_sentence():
    assert written("先备份。再迁移！\n好吗？行") == ["先备份。", "再迁移！", "好吗？", "行"]


def test_what_is_quoted_is_seen_as_hidden_and_kept_as_written():
    (sentence,) = sentences('She said "never again." twice')
    assert sentence.written == 'She said "never again." twice'
    assert sentence.seen == "She said " + HIDDEN * len('"never again."') + " twice"


def test_an_apostrophe_opens_no_quotation():
    (sentence,) = sentences("Don't use it's or users' names")
    assert HIDDEN not in sentence.seen


def test_an_unfinished_code_block_is_hidden_to_the_end():
    seen = [sentence.seen for sentence in sentences("Look:\n```\nnever stop.")]
    assert seen[0] == "Look:"
    assert not any("never" in sentence for sentence in seen)


@given(st.text(alphabet="ab. \n\"'`>“”「」！?。-*1’"))
def test_a_sentence_as_seen_and_as_written_have_one_length(text):
    for sentence in sentences(text):
        assert len(sentence.written) == len(sentence.seen)
        assert sentence.written == sentence.written.strip()
        assert sentence.written in text


def test_a_long_text_is_read_up_to_a_bound():
    text = "a" * READ_CHARACTERS_MAX + "b"
    assert written(text) == ["a" * READ_CHARACTERS_MAX]
