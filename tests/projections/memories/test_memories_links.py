"""Links are found from both ends, and only while both are there."""

from functools import partial

import pytest

from mnemolog.schemas.events import experience as ex
from mnemolog.schemas.events import memory as mem
from support.histories import happened, memory_of
from support.memory_generations import folded as folded_into


@pytest.fixture
def folded(tmp_path):
    """Return a function that folds events into a generation and returns its reader."""
    return partial(folded_into, tmp_path)


def links_of(reader, *ids, links_max=50):
    found = reader.links(ids, links_max=links_max)
    return {(link.from_memory, link.to_memory, link.kind, link.score) for link in found}


def test_links_are_found_from_both_ends(folded):
    a, b, c, d = (memory_of(f"e{n}") for n in range(4))
    reader = folded(
        ex.ObservationRecorded(text="lamp one"),
        happened(ex.ObservationRecorded(text="lamp two"), cause="e0"),
        ex.ObservationRecorded(text="lamp three"),
        mem.KnowledgeConsolidated(text="Lamps are on.", memories=(a, c)),
        mem.MemoryLinked(from_memory=a, to_memory=c, kind="similar", score=0.25),
        mem.MemorySuperseded(memory=a, superseded_by=b),
    )
    of_a = {
        (a, b, "causes", 1.0),
        (d, a, "summarises", 1.0),
        (a, c, "similar", 0.25),
        (b, a, "supersedes", 1.0),
    }
    assert links_of(reader, a) == of_a
    assert links_of(reader, b) == {(a, b, "causes", 1.0), (b, a, "supersedes", 1.0)}
    assert links_of(reader, c, "nobody") == {(a, c, "similar", 0.25), (d, c, "summarises", 1.0)}
    assert links_of(reader, "x' OR '1'='1") == set()
    assert len(reader.links([a], links_max=2)) == 2
    (cause,) = {link.cause for link in reader.links([c], links_max=9) if link.kind == "similar"}
    assert cause == "e4"


def test_a_link_shows_only_while_both_ends_are_there(folded):
    a, b = memory_of("e1"), memory_of("e2")
    link = mem.MemoryLinked(from_memory=a, to_memory=b, kind="similar")
    told = [
        link,
        ex.ObservationRecorded(text="lamp one"),
        happened(ex.ObservationRecorded(text="lamp two"), cause="e1"),
    ]
    assert links_of(folded(*told), a) == {(a, b, "similar", 1.0), (a, b, "causes", 1.0)}
    assert links_of(folded(*told, mem.MemoryForgotten(memories=(b,))), a) == set()
