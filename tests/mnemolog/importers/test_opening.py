"""Files are opened packed or not, and a damaged one gives what it still has."""

import gzip
import io
import sys
import zlib
from types import SimpleNamespace

import pytest

from mnemolog.importers.base import HEAD_BYTES
from mnemolog.importers.opening import opened


def lines_until_damage(path) -> tuple[list[bytes], Exception | None]:
    found = []
    with opened(str(path)) as file:
        try:
            while line := file.source.stream.readline():
                found.append(line)
        except (EOFError, zlib.error) as error:
            return found, error
    return found, None


def numbered(count: int) -> bytes:
    return b"".join(b"line %d of many, %d\n" % (n, n * n) for n in range(count))


def test_the_head_is_seen_and_the_stream_begins_with_it(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"x" * (HEAD_BYTES + 10))
    with opened(str(path)) as file:
        assert file.source.head == b"x" * HEAD_BYTES
        assert len(file.source.stream.read()) == HEAD_BYTES + 10
        assert file.raw.bytes_read == file.bytes_total == HEAD_BYTES + 10


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_byte_order_mark_is_no_content(tmp_path, pack):
    path = tmp_path / "a.json"
    path.write_bytes(pack(b"\xef\xbb\xbf[1]"))
    with opened(str(path)) as file:
        assert (file.source.head, file.source.stream.read(), file.source.start) == (
            b"[1]",
            b"[1]",
            3,
        )


def test_gzip_is_known_by_its_bytes_and_not_by_its_name(tmp_path):
    path = tmp_path / "plain.jsonl"
    content = numbered(20_000)
    path.write_bytes(gzip.compress(content[:1_000]) + gzip.compress(content[1_000:]) + b"\0" * 9)
    with opened(str(path)) as file:
        assert file.source.stream.read() == content
        assert file.raw.bytes_read == path.stat().st_size


def test_gzip_that_ends_early_gives_its_lines_before_it_says_so(tmp_path):
    path = tmp_path / "cut.gz"
    path.write_bytes(gzip.compress(numbered(20_000))[:-2_000])
    lines, error = lines_until_damage(path)
    assert isinstance(error, EOFError)
    assert b"".join(lines) == b"".join(numbered(20_000).splitlines(keepends=True)[: len(lines)])
    assert len(lines) > 15_000


def test_gzip_that_is_short_and_ends_early_is_not_lost_either(tmp_path):
    path = tmp_path / "cut.gz"
    path.write_bytes(gzip.compress(b"one\ntwo\n")[:-6])
    assert lines_until_damage(path)[0] == [b"one\n", b"two\n"]


def test_gzip_with_other_bytes_behind_it_gives_its_lines_before_it_says_so(tmp_path):
    path = tmp_path / "torn.gz"
    path.write_bytes(gzip.compress(b"one\ntwo\n") + b"torn")
    lines, error = lines_until_damage(path)
    assert (lines, type(error)) == ([b"one\n", b"two\n"], zlib.error)


def test_standard_input_is_read_as_bytes_and_left_open(monkeypatch):
    buffer = io.BytesIO(gzip.compress(b"\xef\xbb\xbf[1]"))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=buffer))
    with opened("-") as file:
        assert (file.source.name, file.source.stream.read()) == ("standard input", b"[1]")
        assert file.bytes_total is None
    assert not buffer.closed
