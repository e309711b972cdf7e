"""A file is written whole or not at all, and over no other; a stream is written as it is."""

import gzip
import io
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from mnemolog import exporting_target
from mnemolog.exporting_target import opened_target
from mnemolog.schemas.errors import InvalidSetting, StoreUnavailable


def put(path, *contents, force=False):
    put_of(path, contents, force=force)


def put_of(path, contents, *, force=False):
    with opened_target(path, force=force) as write:
        for content in contents:
            write(content)


def names(folder: Path):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_has_what_was_written_and_nothing_is_beside_it(tmp_path):
    put(tmp_path / "x.jsonl", b"one\n", b"two\n")
    assert (tmp_path / "x.jsonl").read_bytes() == b"one\ntwo\n"
    assert names(tmp_path) == ["x.jsonl"]


def test_a_name_that_ends_with_gz_is_packed_to_equal_bytes(tmp_path):
    put(tmp_path / "x.jsonl.gz", b"one\n" * 1_000)
    put(str(tmp_path / "y.gz"), b"one\n" * 1_000)
    packed = (tmp_path / "x.jsonl.gz").read_bytes()
    assert gzip.decompress(packed) == b"one\n" * 1_000
    assert packed == (tmp_path / "y.gz").read_bytes()


def test_a_file_that_is_there_stays_unless_forced(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"mine")
    with pytest.raises(InvalidSetting, match="there already; --force"):
        put(path, b"other")
    assert path.read_bytes() == b"mine"
    put(path, b"other", force=True)
    assert path.read_bytes() == b"other"


def half(error):
    yield b"half"
    raise error


@pytest.mark.parametrize("force", [True, False])
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, OSError])
def test_what_fails_on_the_way_leaves_nothing_new(tmp_path, error, force):
    (tmp_path / "old").write_bytes(b"mine")
    path = tmp_path / ("old" if force else "new")
    with pytest.raises(StoreUnavailable if error is OSError else error):
        put_of(path, half(error), force=force)
    assert names(tmp_path) == ["old"]
    assert (tmp_path / "old").read_bytes() == b"mine"


def test_what_a_crash_left_is_taken_over(tmp_path):
    (tmp_path / ".x.draft").write_bytes(b"half of another, longer than what comes now")
    put(tmp_path / "x", b"whole")
    assert (tmp_path / "x").read_bytes() == b"whole"
    assert names(tmp_path) == ["x"]


KILLED = """
import os, sys
from mnemolog.exporting_target import opened_target
with opened_target(sys.argv[1], force=False) as write:
    write(b"half" * 1_000_000)
    os.kill(os.getpid(), 9)
"""


def test_a_killed_export_leaves_no_file_and_the_next_one_works(tmp_path):
    path = tmp_path / "x"
    killed = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert killed.returncode == -9
    assert not path.exists()
    put(path, b"whole")
    assert path.read_bytes() == b"whole"
    assert names(tmp_path) == ["x"]


def test_of_two_exports_to_one_file_the_second_is_refused(tmp_path):
    with opened_target(tmp_path / "x", force=False) as write:
        write(b"first")
        with pytest.raises(InvalidSetting, match="another export is writing it"):
            put(tmp_path / "x", b"second")
    assert (tmp_path / "x").read_bytes() == b"first"


def test_an_export_that_took_the_draft_too_late_touches_no_file_that_is_done(tmp_path, monkeypatch):
    path, draft = tmp_path / "x", tmp_path / ".x.draft"
    locked = exporting_target.fcntl.flock

    def another_is_quicker(file, how):
        draft.rename(path)
        path.write_bytes(b"done")
        draft.write_bytes(b"of a third one")
        locked(file, how)

    monkeypatch.setattr(exporting_target.fcntl, "flock", another_is_quicker)
    with pytest.raises(InvalidSetting, match="another export"):
        put(path, b"late")
    assert path.read_bytes() == b"done"


@pytest.mark.parametrize("has_links", [True, False])
def test_a_file_that_comes_meanwhile_is_not_written_over(tmp_path, monkeypatch, has_links):
    if not has_links:

        def link(*_):
            raise PermissionError(1, "Operation not permitted")

        monkeypatch.setattr(os, "link", link)
    path = tmp_path / "x"

    def contents():
        yield b"late"
        path.write_bytes(b"early")

    with pytest.raises(InvalidSetting, match="meanwhile"):
        put_of(path, contents())
    assert path.read_bytes() == b"early"
    assert names(tmp_path) == ["x"]


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("", "folder"),
        ("missing/x", "No such file"),
        ("file/x", "Not a directory"),
        ("a\0b", "null"),
    ],
)
def test_a_place_where_no_file_can_be_is_told(tmp_path, target, reason):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InvalidSetting, match=reason):
        put(os.path.join(tmp_path, target), b"x")  # noqa: PTH118 - a path with a NUL
    assert names(tmp_path) == ["file"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_told(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(InvalidSetting, match="Permission denied"):
        put(tmp_path / "x", b"x")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_told_and_leaves_no_file(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreUnavailable, match="No space left"):
        put(tmp_path / "x", b"x")
    assert names(tmp_path) == []


# Streams


def test_bytes_and_texts_are_taken_by_streams_of_each(tmp_path):
    for stream, expected in ((io.BytesIO(), "好\n".encode()), (io.StringIO(), "好\n")):
        put(stream, "好\n".encode())
        assert stream.getvalue() == expected


def test_a_pipe_that_has_a_name_is_written_as_a_stream(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    heard = []
    reader = threading.Thread(target=lambda: heard.append(pipe.read_bytes()))
    reader.start()
    put(pipe, b"one")
    reader.join()
    assert heard == [b"one"]
    assert names(tmp_path) == ["pipe"]


def test_what_a_stream_raises_is_raised():
    class Closed:
        def write(self, content):
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        put(Closed(), b"x")
