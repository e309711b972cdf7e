"""A text is forgotten wherever it was said: whole in an event, or beside the log of another."""

import pytest

from mnemolog.projections.said import forgotten_by, said_by
from mnemolog.schemas.blobs import BlobReference, blob_of, digest_of, written
from mnemolog.schemas.decoded import Ours
from mnemolog.schemas.events.experience import ActionStarted, ObservationRecorded
from mnemolog.schemas.events.memory import MemoryForgotten
from support.histories import codec, happened, recorded

LONG = "the PIN of the safe is 4711. " * 1_000
OTHER = LONG + "!"
HEAD = "the PIN of the safe…"


def told(event, **beside):
    """Return *event* as the log gives it; *beside* are its whole texts by field."""
    references = [
        BlobReference("/" + field.replace("_", "/"), digest_of(blob_of(text)), len(blob_of(text)))
        for field, text in beside.items()
    ]
    (record,) = recorded(happened(event, dataref=written(references)))
    item = codec().decode(record)
    assert isinstance(item, Ours), item
    return item.recorded


def forget(*texts, **beside):
    return set(forgotten_by(told(MemoryForgotten(texts=texts), **beside)))


WHOLE = told(ObservationRecorded(text=LONG))
CUT = told(ObservationRecorded(text=HEAD), text=LONG)
OTHER_CUT = told(ObservationRecorded(text=HEAD), text=OTHER)


@pytest.mark.parametrize("forgotten", [forget(LONG), forget(HEAD, texts_0=LONG)])
def test_a_long_text_is_forgotten_whole_or_cut_and_by_an_event_that_has_it_whole_or_cut(forgotten):
    assert forgotten & set(said_by(WHOLE))
    assert forgotten & set(said_by(CUT))
    assert not forgotten & set(said_by(OTHER_CUT))


def test_a_head_that_is_named_outright_forgets_what_shows_it():
    assert forget(HEAD) & set(said_by(CUT))
    assert forget(HEAD) & set(said_by(OTHER_CUT))
    assert not forget(HEAD) & set(said_by(WHOLE))


def test_a_short_text_is_what_it_is():
    short = told(ObservationRecorded(text="the pool is full"))
    assert said_by(short) == ("the pool is full",)
    assert forget("the pool is full") == {"the pool is full"}


def test_texts_of_one_event_that_share_a_head_are_each_a_reason_to_forget_it():
    event = ActionStarted(action="a", tool="t", arguments={"x": HEAD, "y": HEAD})
    both = set(said_by(told(event, arguments_x=LONG, arguments_y=OTHER)))
    assert forget(LONG) & both
    assert forget(OTHER) & both


def test_a_text_within_an_events_data_is_a_reason_wherever_it_stands_and_however_many_there_are():
    whole = told(ObservationRecorded(text="see there", data={"out": LONG}))
    cut = told(ObservationRecorded(text="see there", data={"out": HEAD}), data_out=LONG)
    assert forget(LONG) & set(said_by(whole))
    assert forget(LONG) & set(said_by(cut))
    many = {f"out/{n}": f"{n} {LONG}" for n in range(200)}
    data = {"out": [HEAD] * 200}
    event = told(
        ObservationRecorded(text="x", data=data), **{f"data/{k}": v for k, v in many.items()}
    )
    assert all(forget(text) & set(said_by(event)) for text in many.values())


def test_what_forgets_a_text_does_not_say_it():
    forgetting = told(MemoryForgotten(texts=[HEAD]), texts_0=LONG)
    assert not set(forgotten_by(forgetting)) & set(said_by(forgetting))


def test_nothing_stands_for_a_blank_text():
    blank = told(ObservationRecorded(text=""), text=" " * 300_000)
    assert said_by(blank) == ()


def test_an_event_that_forgets_nothing_forgets_nothing():
    assert forgotten_by(WHOLE) == ()
