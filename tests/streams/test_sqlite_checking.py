"""Every record of the embedded log is looked at; what is damaged is named, never dropped."""

import contextlib
import sqlite3

import pytest

from mnemolog.schemas.errors import LogDamaged
from mnemolog.streams.sqlite_checking import NAMED_MAX, LogDamage
from mnemolog.streams.sqlite_records import place_of
from support.log_records import everything, numbered

RECORDS = 3_000


@pytest.fixture
def path(open_sqlite, tmp_path):
    log = open_sqlite(tmp_path / "log.db", partitions=2)
    for first in range(0, RECORDS, 500):
        log.append([numbered(n, key=b"a%d" % (n % 5)) for n in range(first, first + 500)])
    log.close()
    return tmp_path / "log.db"


def change(path, statement, *values):
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute(statement, values).rowcount > 0


def pages_of(path, name):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT pageno FROM dbstat WHERE name = ?", (name,)).fetchall()
    return [page for (page,) in rows]


def overwrite_pages(path, numbers):
    content = bytearray(path.read_bytes())
    for number in numbers:
        at = (number - 1) * 4_096
        content[at : at + 64] = b"\xa5" * 64
    path.write_bytes(content)


def leaf_pages(path, name):
    """Return the pages of a table or an index, without its root."""
    try:
        return pages_of(path, name)[1:]
    except sqlite3.OperationalError:
        pytest.skip("this SQLite was built without dbstat")


def test_a_sound_log_has_no_damage(open_sqlite, path):
    assert open_sqlite(path).damage() == LogDamage()


def test_a_changed_record_and_a_missing_one_are_named(open_sqlite, path):
    change(path, "UPDATE records SET value = x'00' WHERE place = ?", place_of(1, 7))
    change(path, "DELETE FROM records WHERE place = ?", place_of(0, 3))
    found = open_sqlite(path).damage()
    assert (found.records, found.count) == ([(0, 3), (1, 7)], 2)
    assert not found.is_of_the_index_alone


def test_headers_that_are_no_headers_are_damage_too(open_sqlite, path):
    change(path, "UPDATE records SET headers = 'x', checksum = 0 WHERE place = ?", place_of(0, 1))
    assert open_sqlite(path).damage().records == [(0, 1)]


def test_pages_that_can_not_be_read_name_their_records_and_spare_the_others(open_sqlite, path):
    pages = leaf_pages(path, "records")
    overwrite_pages(path, pages[len(pages) // 2 :][:2])
    found = open_sqlite(path).damage()
    assert 0 < found.count < RECORDS / 2
    assert len(found.records) == min(found.count, NAMED_MAX)
    assert found.pages
    assert not found.is_of_the_index_alone


def test_a_damaged_index_of_identities_is_written_anew_from_the_records(open_sqlite, path):
    overwrite_pages(path, leaf_pages(path, "once")[:3])
    log = open_sqlite(path)
    assert log.damage().is_of_the_index_alone
    log.mend_index()
    assert log.damage() == LogDamage()
    assert len(everything(log)) == RECORDS
    log.append([numbered(5, key=b"a0")])  # which it knows
    assert len(everything(log)) == RECORDS


def test_mending_the_index_of_a_log_with_damaged_records_says_so(open_sqlite, path):
    pages = leaf_pages(path, "records")
    overwrite_pages(path, pages[len(pages) // 2 :][:1])
    log = open_sqlite(path)
    with pytest.raises(LogDamaged):
        log.mend_index()
