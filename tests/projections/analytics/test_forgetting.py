"""What is forgotten is gone from every table and file, whatever came first."""

import itertools

import pytest

from contracts.projection_contract import place_in
from mnemolog.projections.analytics.projection import AnalyticsProjection
from mnemolog.projections.analytics.tables import RELATIONS
from mnemolog.projections.digests import ContentDigest
from mnemolog.schemas.checkpoint import Checkpoint
from mnemolog.schemas.events import experience as ex
from mnemolog.schemas.events import memory as mem
from support.histories import START, batches, happened, identity, memory_of, recorded

SECRET = "the code of the safe is 4711"


def build(folder, *events):
    projection = AnalyticsProjection.open(place_in(folder))
    for batch in batches(recorded(*events), records_max=1):
        projection.apply(batch)
    return projection


def everything(projection) -> str:
    rows = (projection._connection.execute(f"FROM {name}").fetchall() for name in RELATIONS)
    return repr(list(rows))


def said(event_id="said", text=SECRET):
    return happened(ex.ObservationRecorded(text=text, stated_by="user"), event_id=event_id)


FORGETS = {
    "by memory": mem.MemoryForgotten(memories=(memory_of("said"),)),
    "by event": mem.MemoryForgotten(events=(identity("said"),)),
    "by text": mem.MemoryForgotten(texts=(f"  {SECRET}\n",)),
}


@pytest.mark.parametrize("forget", FORGETS.values(), ids=FORGETS)
@pytest.mark.parametrize("first", [True, False], ids=["before", "after"])
def test_memory_and_words_are_gone_and_the_event_is_marked(tmp_path, forget, first):
    pair = [said(), happened(forget, event_id="forget", at=START)]
    projection = build(tmp_path, *(pair[::-1] if first else pair), said("other", "the sky is blue"))
    assert "4711" not in everything(projection)
    assert "the sky is blue" in everything(projection)
    ask = projection._connection.execute
    assert ask("SELECT event_id FROM events WHERE forgotten").fetchall() == [("said",)]
    assert ask("SELECT event_id FROM memories").fetchall() == [("other",)]
    assert ask("SELECT text, data, stated_by FROM observations WHERE forgotten").fetchall() == [
        (None, None, "user")
    ]
    projection.close()


def test_nothing_of_a_secret_is_in_a_published_file_after_the_next_publish(tmp_path):
    projection = build(tmp_path, said())
    projection.publish(tmp_path / "published")
    assert _holds(tmp_path / "published", b"4711")
    for batch in batches(recorded(said(), FORGETS["by memory"]), records_max=1):
        projection.apply(batch)
    projection.publish(tmp_path / "published")
    assert not _holds(tmp_path / "published", b"4711")
    projection.close()


def _holds(folder, needle: bytes) -> bool:
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    return any(needle in path.read_bytes() for path in files)


def test_what_speaks_of_a_forgotten_memory_loses_its_words_in_any_order(tmp_path):
    memory = memory_of("said")
    events = [
        said(),
        happened(mem.MemorySummarised(memory=memory, level=1, text="safe 4711"), event_id="s"),
        happened(mem.MemorySuperseded(memory=memory, reason="4711 changed"), event_id="r"),
        happened(
            mem.MemoryLinked(from_memory="mem_x", to_memory=memory, kind="causes", reason="4711"),
            event_id="l",
        ),
        happened(FORGETS["by event"], event_id="forget"),
    ]
    digests = set()
    for number, order in enumerate(itertools.permutations(events, len(events))):
        if number % 7:  # a spread of all orders
            continue
        at = [_at(one, START) for one in order]
        projection = build(tmp_path / str(number), *at)
        assert "4711" not in everything(projection)
        digests.add(ContentDigest.of(projection.content()).hex)
        projection.close()
    assert len(digests) == 1


def _at(one, moment):
    return happened(one.event, event_id=one.event_id, at=moment)


def test_the_other_memories_of_an_event_stay_when_one_is_named(tmp_path):
    text = "Never deploy on a Friday. I prefer tea."
    talk = happened(ex.MessageExchanged(role="user", text=text), event_id="talk")
    one = memory_of("talk", 1)
    projection = build(tmp_path, talk, mem.MemoryForgotten(memories=(one,)))
    left = projection._connection.execute("SELECT memory FROM memories").fetchall()
    assert (memory_of("talk", 0),) in left
    assert (one,) not in left
    assert projection._connection.execute("SELECT text FROM messages").fetchall() == [(None,)]
    projection.close()


def test_an_event_named_after_its_memory_was_forgotten_takes_the_others_along(tmp_path):
    talk = happened(
        ex.MessageExchanged(role="user", text="Never deploy on a Friday. I prefer tea."),
        event_id="talk",
    )
    projection = build(
        tmp_path,
        talk,
        mem.MemoryForgotten(memories=(memory_of("talk", 1),)),
        mem.MemoryForgotten(events=(identity("talk"),)),
    )
    assert projection._connection.execute("SELECT count(*) FROM memories").fetchone() == (0,)
    projection.close()


SAYING = {
    "observation of a checkpoint": ex.CheckpointSaved(
        checkpoint=Checkpoint(
            id="c1",
            timestamp=START,
            agent="ann",
            current_goal="goal",
            plan_summary="plan",
            key_observations=(SECRET,),
        )
    ),
    "argument of a tool": ex.ActionStarted(action="a", tool="t", arguments={"note": SECRET}),
    "label": ex.FeedbackGiven(target="e", target_kind="event", score=1.0, label=SECRET),
}


@pytest.mark.parametrize("event", SAYING.values(), ids=SAYING)
def test_a_text_is_forgotten_here_wherever_the_other_projections_forget_it(tmp_path, event):
    projection = build(tmp_path, happened(event, event_id="said"), FORGETS["by text"])
    assert "4711" not in everything(projection)
    projection.close()
