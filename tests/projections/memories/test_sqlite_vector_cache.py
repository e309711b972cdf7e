"""The cache on disk: shared by processes, checked when read, started anew when damaged."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from contracts.vector_cache import VectorCacheContract, unit
from mnemolog.projections.memories import sqlite_vector_cache
from mnemolog.projections.memories.sqlite_vector_cache import SQLiteVectorCache
from mnemolog.schemas.errors import NewerRelease, StoreUnavailable

PROCESSES = 4
WRITES_EACH = 25
WRITER = """
import sys
import numpy as np
from mnemolog.projections.memories.sqlite_vector_cache import SQLiteVectorCache
cache = SQLiteVectorCache(sys.argv[1])
for number in range(int(sys.argv[3])):
    vector = np.zeros(8, dtype=np.float32)
    vector[number % 8] = 1
    cache.put_many({f"{sys.argv[2]}-{number}": vector, f"shared-{number}": vector})
cache.close()
"""


class TestSQLiteVectorCache(VectorCacheContract):
    @pytest.fixture
    def cache(self, tmp_path):
        cache = SQLiteVectorCache(tmp_path / "vectors.sqlite")
        yield cache
        cache.close()


@pytest.fixture
def path(tmp_path) -> Path:
    path = tmp_path / "vectors.sqlite"
    cache = SQLiteVectorCache(path)
    cache.put_many({f"k{number}": unit(number) for number in range(200)})
    cache.close()
    return path


def test_what_was_put_is_there_after_reopening(path):
    cache = SQLiteVectorCache(path)
    assert cache.get_many(["k7"])["k7"].tobytes() == unit(7).tobytes()
    assert cache.count() == 200


def test_its_folder_is_made(tmp_path):
    cache = SQLiteVectorCache(tmp_path / "not" / "yet" / "vectors.sqlite")
    assert cache.count() == 0


def test_processes_write_at_once_and_lose_nothing(tmp_path):
    path = tmp_path / "vectors.sqlite"
    command = [sys.executable, "-c", WRITER, str(path)]
    writers = [
        subprocess.Popen([*command, f"p{number}", str(WRITES_EACH)]) for number in range(PROCESSES)
    ]
    assert [writer.wait(timeout=120) for writer in writers] == [0] * PROCESSES
    assert SQLiteVectorCache(path).count() == (PROCESSES + 1) * WRITES_EACH


@pytest.mark.parametrize(
    "content",
    [b"this is no database at all" * 400, b"SQLite format 3\0" + b"\xff" * 8_176],
    ids=["no database", "a torn header"],
)
def test_a_damaged_file_is_set_aside_and_started_anew(path, content):
    path.write_bytes(content)
    cache = SQLiteVectorCache(path)
    assert cache.get_many(["k7"]) == {}
    cache.put_many({"k7": unit(7)})
    assert cache.get_many(["k7"]).keys() == {"k7"}
    assert Path(f"{path}.damaged").read_bytes() == content


def test_a_file_cut_short_costs_vectors_only(path):
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)
    cache = SQLiteVectorCache(path)
    vectors = {f"k{number}": unit(number) for number in range(200)}
    found = cache.get_many(vectors)
    assert all(found[key].tobytes() == vectors[key].tobytes() for key in found)
    cache.put_many(vectors)
    assert cache.get_many(vectors).keys() == vectors.keys()


def test_damage_while_it_is_open_is_survived(path):
    cache = SQLiteVectorCache(path)
    cache.get_many(["k7"])
    with path.open("r+b") as file:
        file.write(b"\xff" * path.stat().st_size)
    Path(f"{path}-wal").write_bytes(b"")
    cache.put_many({"new": unit(1)})
    assert cache.get_many(["new"])["new"].tobytes() == unit(1).tobytes()


def test_a_vector_with_a_wrong_bit_counts_as_not_there(path):
    turned = unit(7)[::-1].copy()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE vectors SET vector = ? WHERE key = 'k7'", (turned.tobytes(),))
    cache = SQLiteVectorCache(path)
    assert cache.get_many(["k7", "k8"]).keys() == {"k8"}


def test_a_vector_that_is_not_finite_counts_as_not_there(path):
    bad = np.full(384, np.nan, dtype=np.float32).tobytes()
    with sqlite3.connect(path) as connection:
        connection.execute(
            "UPDATE vectors SET vector = ?, checksum = ? WHERE key = 'k7'",
            (bad, sqlite_vector_cache.crc32(bad)),
        )
    assert SQLiteVectorCache(path).get_many(["k7"]) == {}


def test_a_file_of_a_format_that_never_was_is_set_aside(path):
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = -1")
    cache = SQLiteVectorCache(path)
    assert cache.count() == 0
    assert Path(f"{path}.damaged").exists()


def test_a_file_of_a_later_release_is_refused_and_left_as_it_is(path):
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {sqlite_vector_cache.FORMAT + 1}")
    before = path.read_bytes()
    with pytest.raises(NewerRelease, match="later release"):
        SQLiteVectorCache(path)
    assert path.read_bytes() == before


def test_a_folder_in_its_place_is_set_aside(path):
    path.unlink()
    for _ in range(2):
        path.mkdir()
        (path / "x").write_text("x")
        cache = SQLiteVectorCache(path)
        cache.put_many({"a": unit(1)})
        assert cache.count() == 1
        cache.close()
        path.unlink()


def test_a_file_deleted_under_it_is_made_anew_by_the_next_to_open(path):
    cache = SQLiteVectorCache(path)
    cache.put_many({"a": unit(1)})
    for file in path.parent.iterdir():
        file.unlink()
    cache.put_many({"b": unit(2)})
    other = SQLiteVectorCache(path)
    other.put_many({"c": unit(3)})
    assert other.get_many(["c"]).keys() == {"c"}


def test_a_lock_held_for_too_long_is_told(path, monkeypatch):
    monkeypatch.setattr(sqlite_vector_cache, "BUSY_SECONDS_MAX", 0.05)
    cache = SQLiteVectorCache(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="locked"):
        cache.put_many({"a": unit(1)})
    other.execute("ROLLBACK")
    cache.put_many({"a": unit(1)})
    assert cache.count() == 201


def test_a_deleted_vector_is_in_none_of_its_files(path):
    cache = SQLiteVectorCache(path)
    cache.delete_many(["k7"])
    bytes_left = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert unit(8).tobytes()[:64] in bytes_left
    assert unit(7).tobytes()[:64] not in bytes_left
