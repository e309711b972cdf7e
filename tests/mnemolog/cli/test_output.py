"""What is printed can be printed: on any stream, in any encoding, to a terminal too."""

import io
import json
import sys

import pytest

from mnemolog.cli.output import note, say, say_json, say_table

ODD = (
    "caf\udce9",
    "\ud83e",
    "\x1b[31mred\x1b[0m",
    "[/red] [bold]",
    "会议 👩‍💻",
    "\x9b2J",
    "a\tb",
    "[link=x]",
)


class Stream(io.TextIOWrapper):
    """A stream of an encoding, which may be a terminal's."""

    def __init__(self, encoding, *, is_terminal):
        super().__init__(io.BytesIO(), encoding=encoding, write_through=True)
        self._is_terminal = is_terminal

    def isatty(self):
        return self._is_terminal

    @property
    def printed(self):
        return self.buffer.getvalue()


@pytest.fixture(params=["utf-8", "ascii", "cp1252", "gbk"])
def encoding(request):
    return request.param


@pytest.mark.parametrize("is_terminal", [True, False])
@pytest.mark.parametrize("odd", ODD, ids=ascii)
def test_any_text_is_printed_on_any_stream(monkeypatch, encoding, odd, is_terminal):
    out, err = (Stream(encoding, is_terminal=is_terminal) for _ in range(2))
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    say(odd)
    note(odd)
    say_table(("setting", odd), [(odd, None), ("plain", odd)])
    for stream in (out, err):
        stream.printed.decode(encoding)
        assert not is_terminal or b"\x1b[31m" not in stream.printed
    say_json({"text": odd})
    assert "plain" in out.printed.decode(encoding)


@pytest.mark.parametrize("odd", ODD, ids=ascii)
def test_json_is_json_whatever_the_stream_can_hold(monkeypatch, encoding, odd):
    out = Stream(encoding, is_terminal=False)
    monkeypatch.setattr(sys, "stdout", out)
    say_json({odd: [odd]})
    assert json.loads(out.printed.decode(encoding)) == {odd: [odd]}


def test_a_table_shows_what_looks_like_markup_as_it_is(monkeypatch):
    out = Stream("utf-8", is_terminal=True)
    monkeypatch.setattr(sys, "stdout", out)
    say_table(("[b]name[/b]",), [("[/red]",)])
    assert "[b]name[/b]" in out.printed.decode()
    assert "[/red]" in out.printed.decode()
