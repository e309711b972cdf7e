"""Encoded bytes are left out, everything that a person wrote stays."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.projections.memories.readable import with_base64_cut, without_base64

BYTES = bytes(range(256)) * 40


@pytest.mark.parametrize(
    "encoded",
    [
        base64.b64encode(BYTES).decode(),
        base64.urlsafe_b64encode(BYTES).decode(),
        base64.encodebytes(BYTES).decode().strip(),
        base64.b64encode(BYTES).decode().replace("+", "%2B"),
    ],
    ids=["plain", "for URLs", "in lines", "escaped"],
)
@pytest.mark.parametrize(
    "head", ["data:image/png;base64,", "DATA:text/plain;charset=utf-8;BASE64,"]
)
def test_a_data_uri_leaves_its_media_type(head, encoded):
    left = without_base64(f"before {head}{encoded} after").split()
    assert left[0] == "before"
    assert left[1] in {"image/png", "text/plain"}
    assert left[2:] == ["after"]


def test_a_long_run_without_a_head_is_left_out():
    run = base64.b64encode(BYTES).decode()
    assert without_base64(f"key {run} end").split() == ["key", "end"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "base64 is an encoding",
        "哈" * 500,
        "a" * 500,
        "ha" * 300,
        "word " * 200,
        "see data: here",
    ],
)
def test_what_a_person_wrote_stays(text):
    assert without_base64(text) == text


@given(st.text(st.characters(codec=None)))
def test_any_text_is_taken_and_nothing_is_left_to_take(text):
    once = without_base64(text)
    assert without_base64(once) == once


@given(st.text(st.characters(codec=None)))
def test_what_is_cut_once_is_cut(text):
    once = with_base64_cut(text)
    assert with_base64_cut(once) == once


def test_of_base64_a_person_sees_the_start():
    run = base64.b64encode(BYTES).decode()
    assert with_base64_cut(f"key {run} end") == f"key {run[:24]}… end"
    assert with_base64_cut(f"![a](data:image/png;base64,{run})") == "![a](data:image/png;base64,…)"
    assert with_base64_cut("a" * 500) == "a" * 500
