"""A row is read where a search saw it, and never another one for it, whatever the writer did."""

from datetime import timedelta

import pytest

from mnemolog.projections.memories import lance_reader
from mnemolog.projections.memories.lance_places import Places
from mnemolog.schemas.events import experience as ex
from mnemolog.schemas.events import memory as mem
from support.histories import memory_of, recorded
from support.memory_generations import ALL, asked, fold, opened, reader_of, settle


def lamps(count):
    return [ex.ObservationRecorded(text=f"The lamp of room {n} is on.") for n in range(count)]


def seen_by(folder, *, ways=("words", "meaning")):
    """Return a reader and the ids of all lamps, which it has just found."""
    reader = reader_of(folder)
    found = set()
    if "words" in ways:
        found |= {hit.id for hit in reader.matching("lamps", where=ALL, hits_max=50)}
    if "meaning" in ways:
        found |= {hit.id for hit in reader.nearest(asked("lamps"), where=ALL, hits_max=50)}
    return reader, sorted(found)


@pytest.mark.parametrize("way", ["words", "meaning"])
def test_what_was_just_found_is_read_without_another_search(tmp_path, monkeypatch, way):
    with opened(tmp_path) as memories:
        fold(memories, recorded(*lamps(9)), records_max=3)
        settle(memories)
    expected = reader_of(tmp_path).rows(seen_by(tmp_path)[1])
    reader, ids = seen_by(tmp_path, ways=[way])
    monkeypatch.setattr(lance_reader, "is_one_of", None)  # a search by id would raise

    assert reader.rows(ids) == expected
    assert len(expected) == 9


@pytest.mark.filterwarnings("ignore:optimize.cleanup_older_than=0")
def test_what_was_rewritten_since_is_found_as_it_is_now(tmp_path):
    changed, forgotten = memory_of("e2"), memory_of("e4")
    then = [
        *lamps(6),
        mem.MemoryImportanceChanged(memory=changed, importance=1.0),
        mem.MemoryForgotten(memories=(forgotten,)),
    ]
    with opened(tmp_path) as memories:
        fold(memories, recorded(*lamps(6)), records_max=2)
        settle(memories)
        reader, ids = seen_by(tmp_path)
        before = reader.rows(ids)
        assert len(before) == 6

        fold(memories, recorded(*then))
        after_it = reader.rows(ids)
        memories._index.table.optimize(cleanup_older_than=timedelta(0))
        fold(memories, recorded(*then, *lamps(3)), records_max=1)  # stand where others stood
        at_last = reader.rows(ids)

    assert after_it == at_last == {**reader_of(tmp_path).rows(ids)}
    assert before.keys() - at_last.keys() == {forgotten}
    assert at_last[changed].importance == 1.0 != before[changed].importance
    kept = at_last.keys() - {changed}
    assert {id_: at_last[id_] for id_ in kept} == {id_: before[id_] for id_ in kept}


def test_however_much_is_found_the_places_kept_are_so_many():
    places = Places(places_max=10)
    for start in range(0, 1_000, 7):
        places.note((str(n), n) for n in range(start, start + 7))

    assert places.of(map(str, range(2_000))) == [*range(991, 1_001)]
