"""Blobs in files keep the contract, and what a disk or a crash does to them is told or harmless."""

import hashlib
import os
import sys
from datetime import timedelta
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from contracts.blob_store import EVER, UNKNOWN, BlobStoreContract
from mnemolog.schemas.errors import BlobDamaged, BlobMissing, StoreUnavailable
from mnemolog.streams import file_blobs
from mnemolog.streams.clock import system_clock
from mnemolog.streams.file_blobs import FileBlobs


class TestFileBlobs(BlobStoreContract):
    @pytest.fixture
    def store(self, tmp_path):
        return FileBlobs(tmp_path / "tenant" / "blobs")


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "blobs"


@pytest.fixture
def store(folder):
    return FileBlobs(folder)


def path_of(folder: Path, sha256: str) -> Path:
    return folder / sha256[:2] / sha256[2:]


def age(path: Path, **how_long) -> None:
    then = (system_clock() - timedelta(**how_long)).timestamp()
    os.utime(path, (then, then))


PUT_MANY = """
import sys
from pathlib import Path
from mnemolog.streams.file_blobs import FileBlobs
store = FileBlobs(Path(sys.argv[1]))
for number in range(40):
    print(store.put(b"blob %d" % number))
"""


def test_to_ask_makes_no_folder(store, folder):
    with pytest.raises(BlobMissing, match=str(folder)):
        store.get(UNKNOWN)
    assert list(store.stored()) == []
    assert not folder.exists()


def test_a_blob_lies_under_the_digits_of_its_digest(store, folder):
    name = store.put(b"a")
    assert path_of(folder, name).read_bytes() == b"a"
    assert [path.name for path in folder.rglob("*") if path.is_file()] == [name[2:]]


@pytest.mark.parametrize("content", [b"", b"b", b"aa", b"a" * 99])
def test_a_damaged_blob_is_named_and_to_put_it_again_repairs_it(store, folder, content):
    name = store.put(b"a")
    path_of(folder, name).write_bytes(content)
    with pytest.raises(BlobDamaged, match=name) as raised:
        store.get(name)
    assert not isinstance(raised.value, BlobMissing)
    assert store.put(b"a") == name
    assert store.get(name) == b"a"


def test_a_file_that_is_larger_than_any_blob_is_not_read_whole(store, folder, monkeypatch):
    name = store.put(b"a")
    monkeypatch.setattr(file_blobs, "BLOB_BYTES_MAX", 10)
    path_of(folder, name).write_bytes(b"a" * 10_000)
    with pytest.raises(BlobDamaged, match=name):
        store.get(name)


def test_processes_that_put_the_same_at_once_all_have_it(store, folder):
    command = [sys.executable, "-c", PUT_MANY, str(folder)]
    running = [Popen(command, stdout=PIPE, text=True) for _ in range(4)]
    named = [process.communicate()[0].split() for process in running]
    assert named == [[hashlib.sha256(b"blob %d" % n).hexdigest() for n in range(40)]] * 4
    assert sorted(blob.sha256 for blob in store.stored()) == sorted(named[0])
    assert list(store.leftovers()) == []
    assert all(store.get(name) for name in named[0])


def test_what_a_crash_left_of_a_put_is_found_and_swept_once_it_is_old(store, folder, monkeypatch):
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        store.put(b"half")
    monkeypatch.undo()
    (left,) = store.leftovers()
    assert (left.bytes, list(store.stored())) == (4, [])
    hour = timedelta(hours=1)
    assert store.sweep(written_before=system_clock() - hour) == 0
    age(folder / left.name, hours=2)
    assert store.sweep(written_before=system_clock() - hour) == 1
    assert list(store.leftovers()) == []


def test_a_full_disk_is_told_and_leaves_nothing(store, monkeypatch):
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreUnavailable, match="No space left"):
        store.put(b"a")
    monkeypatch.undo()
    assert list(store.leftovers()) == list(store.stored()) == []


def test_who_puts_a_blob_while_another_takes_it_away_has_it(store, folder, monkeypatch):
    name = store.put(b"a")
    age(path_of(folder, name), hours=2)
    rename = Path.rename

    def put_then_rename(path: Path, target: Path) -> Path:
        store.put(b"a")  # it finds the blob under its name and notes so
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", put_then_rename)
    assert store.discard(name, put_before=system_clock() - timedelta(hours=1)) is False
    assert store.get(name) == b"a"
    assert list(store.leftovers()) == []


def test_who_puts_a_blob_that_lost_its_name_writes_it_anew(store, folder, monkeypatch):
    name = store.put(b"a")
    age(path_of(folder, name), hours=2)
    rename = Path.rename

    def rename_then_put(path: Path, target: Path) -> Path:
        moved = rename(path, target)
        store.put(b"a")
        return moved

    monkeypatch.setattr(Path, "rename", rename_then_put)
    assert store.discard(name, put_before=system_clock() - timedelta(hours=1)) is True
    assert store.get(name) == b"a"
    assert list(store.leftovers()) == []


def test_a_blob_that_a_crash_left_without_its_name_gets_it_back(store, folder, monkeypatch):
    name = store.put(b"a")
    age(path_of(folder, name), hours=2)
    monkeypatch.setattr(Path, "unlink", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        store.discard(name, put_before=EVER)
    monkeypatch.undo()
    assert len(list(store.leftovers())) == 1
    assert store.sweep(written_before=EVER) == 1
    assert store.get(name) == b"a"


def test_what_else_lies_in_the_folder_is_left_alone(store, folder):
    store.put(b"a")
    others = [folder / "README", folder / "ab" / "notes.txt", folder / "xy" / ("0" * 62)]
    for other in others:
        other.parent.mkdir(exist_ok=True)
        other.write_text("mine")
    assert len(list(store.stored())) == 1
    assert store.sweep(written_before=EVER) == 0
    assert all(other.read_text() == "mine" for other in others)


@pytest.mark.parametrize("name", ["../../x", "", "AB" + "0" * 62, "0" * 63, "0" * 65])
def test_no_name_but_a_digest_becomes_a_path(store, name):
    with pytest.raises(AssertionError):
        store.get(name)
