"""One chat message, in all the shapes that writers give it."""

import json

import pytest

from mnemolog.importers.base import Unreadable
from mnemolog.importers.chat_messages import Call, arguments_of, essence_of, message_of


def assistant(**fields):
    return message_of({"role": "assistant", "content": None, **fields})


@pytest.mark.parametrize(
    ("written", "role"),
    [
        ("system", "system"),
        ("developer", "system"),
        ("user", "user"),
        ("assistant", "assistant"),
        ("tool", "tool"),
        ("function", "tool"),
    ],
)
def test_every_role_is_one_of_ours(written, role):
    assert message_of({"role": written, "content": "x"}).role == role


@pytest.mark.parametrize("role", ["robot", None, 7, ["user"], {"a": 1}])
def test_another_role_is_named(role):
    with pytest.raises(Unreadable, match="role"):
        message_of({"role": role, "content": "x"})


@pytest.mark.parametrize("value", [None, "text", 3, []])
def test_what_is_no_object_is_no_message(value):
    with pytest.raises(Unreadable, match="no message"):
        message_of(value)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ("", ""),
        ("hello", "hello"),
        ([], ""),
        ([{"type": "text", "text": "one"}, {"type": "input_text", "text": "two"}], "one\ntwo"),
        (["one", {"type": "output_text", "text": "two"}], "one\ntwo"),
        ({"type": "text", "text": "alone"}, "alone"),
    ],
)
def test_text_parts_are_joined_and_nothing_is_an_empty_text(content, text):
    assert (message_of({"role": "user", "content": content}).text) == text


@pytest.mark.parametrize("content", [3, True, 1.5])
def test_content_that_is_neither_text_nor_parts_is_named(content):
    with pytest.raises(Unreadable, match="content"):
        message_of({"role": "user", "content": content})


@pytest.mark.bad_input(21)
@pytest.mark.parametrize(
    ("part", "kept"),
    [
        (
            {"type": "image_url", "image_url": {"url": "https://e.invalid/a.png", "detail": "low"}},
            {
                "kind": "image_url",
                "reference": "https://e.invalid/a.png",
                "data": {"image_url": {"detail": "low"}},
            },
        ),
        (
            {"type": "image_url", "image_url": "https://e.invalid/a.png"},
            {"kind": "image_url", "reference": "https://e.invalid/a.png", "data": {}},
        ),
        (
            {"type": "file", "file": {"file_id": "f-1"}},
            {"kind": "file", "reference": "f-1", "data": {}},
        ),
        (
            {"type": "image", "url": "u", "alt": "a cat"},
            {"kind": "image", "reference": "u", "data": {"alt": "a cat"}},
        ),
        (
            {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
            {
                "kind": "input_audio",
                "reference": None,
                "data": {"input_audio": {"data": "AAAA", "format": "wav"}},
            },
        ),
        ({"type": "text", "text": 3}, {"kind": "text", "reference": None, "data": {"text": 3}}),
        ({"type": ["odd"], "x": 1}, {"kind": "part", "reference": None, "data": {"x": 1}}),
        (17, {"kind": "part", "data": {"value": 17}}),
    ],
)
def test_other_parts_are_references_that_lose_nothing(part, kept):
    message = message_of({"role": "user", "content": [{"type": "text", "text": "see"}, part]})
    assert (message.text, message.parts) == ("see", (kept,))


def test_a_refusal_is_what_was_said():
    assert assistant(refusal="I can't do that.").text == "I can't do that."


@pytest.mark.bad_input(19)
@pytest.mark.parametrize(
    ("given", "arguments", "raw"),
    [
        ('{"seat": "12A"}', {"seat": "12A"}, None),
        ({"seat": "12A"}, {"seat": "12A"}, None),
        (None, {}, None),
        ("", {}, ""),
        ("  ", {}, "  "),
        ("{cut", {}, "{cut"),
        ("[1, 2]", {}, "[1, 2]"),
        ('{"a": NaN}', {}, '{"a": NaN}'),
        ('{"a": 1, "a": 2}', {}, '{"a": 1, "a": 2}'),
        ('{"n": 18446744073709551616}', {"n": 2**64}, None),
        (7, {}, "7"),
    ],
)
def test_arguments_are_an_object_or_kept_as_they_came(given, arguments, raw):
    assert arguments_of(given) == (arguments, raw)


@pytest.mark.parametrize("depth", [63, 64, 1_500])
def test_arguments_too_deep_for_an_event_are_kept_as_text(depth):
    written = '{"a":' * depth + "1" + "}" * depth
    assert arguments_of(written) == ({}, written)


def test_arguments_as_deep_as_an_event_may_be_are_parsed():
    written = '{"a":' * 62 + "1" + "}" * 62
    assert arguments_of(written) == (json.loads(written), None)


def test_lone_surrogates_in_arguments_do_no_harm():
    assert arguments_of('{"f": "caf\udce9"}') == ({}, '{"f": "caf\udce9"}')


def test_calls_come_in_each_of_the_shapes():
    message = assistant(
        tool_calls=[
            {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}},
            {"id": "c2", "type": "custom", "custom": {"name": "run", "input": "print(1)"}},
        ],
        function_call={"name": "old", "arguments": '{"x": 1}'},
    )
    assert message.calls == (
        Call("c1", "look", {}, None),
        Call("c2", "run", {}, "print(1)"),
        Call(None, "old", {"x": 1}, None),
    )


@pytest.mark.parametrize("calls", [None, []])
def test_no_calls_are_no_calls(calls):
    assert assistant(tool_calls=calls).calls == ()


@pytest.mark.parametrize(
    "bad",
    [None, "x", {}, {"function": None}, {"function": {"name": ""}}, {"function": {"name": 3}}],
)
def test_a_bad_call_is_a_reason_beside_the_good_ones(bad):
    good = {"id": "c1", "function": {"name": "look", "arguments": ""}}
    calls = assistant(tool_calls=[bad, good]).calls
    assert isinstance(calls[0], str)
    assert calls[1] == Call("c1", "look", {}, "")


@pytest.mark.parametrize(
    ("text", "failed"),
    [
        ("Error: no such flight", True),
        (' {"error": "no such flight"}', True),
        ('{"error": null, "ok": 1}', False),
        ("Error rates fell", False),
        ("", False),
        ("no error: fine", False),
    ],
)
def test_a_tool_has_failed_when_it_says_error_first(text, failed):
    assert message_of({"role": "tool", "content": text}).failed is failed


def test_what_a_newer_writer_puts_beside_a_message_does_not_change_which_it_is():
    message = {"role": "user", "content": "hi"}
    assert essence_of(message) == essence_of({"cache_control": {"type": "x"}, **message})
    assert essence_of(message) != essence_of({**message, "content": "ho"})
