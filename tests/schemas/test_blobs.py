"""How an event names its blobs: one text for a list of them, one list for a text, and no other."""

import json
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.schemas.blobs import (
    BlobReference,
    blob_of,
    digest_of,
    lifted,
    pointer_of,
    references_in,
    text_at,
    text_of,
    texts_in,
    with_texts,
    written,
)
from mnemolog.schemas.checkpoint import TaskState
from mnemolog.schemas.codec import content_of
from mnemolog.schemas.decoded import Guest, Ours
from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.events.experience import MessageExchanged, ObservationRecorded
from mnemolog.schemas.limits import BLOB_BYTES_MAX, EVENT_BLOBS_MAX
from mnemolog.schemas.registry import Registry
from mnemolog.schemas.upcasts import Upcasts
from mnemolog.schemas.values import json_bytes, parse_json
from support.events import codec, envelope, logged, record

A, B = digest_of(b"a"), digest_of(b"b")
DATAREF = f"blobs?/data/a%26b%3Dc={A}.300000&/text={B}.70000"

steps = st.lists(st.text() | st.integers(0, 99), min_size=1, max_size=4)
digests = st.binary(max_size=4).map(digest_of)
references = st.builds(
    BlobReference, steps.map(pointer_of), digests, st.integers(0, BLOB_BYTES_MAX)
)


@given(st.lists(references, min_size=1, max_size=5, unique_by=lambda one: one.pointer))
def test_what_is_written_is_read_back_and_is_a_uri_reference(named):
    dataref = written(named)
    assert references_in(dataref) == tuple(sorted(named, key=lambda one: one.pointer))
    assert dataref.isascii()
    assert dataref.isprintable()
    assert " " not in dataref
    assert urlsplit(dataref).path == "blobs"
    assert not urlsplit(dataref).fragment


def test_the_form_that_was_published_is_read_for_ever():
    assert references_in(DATAREF) == (
        BlobReference("/data/a&b=c", A, 300_000),
        BlobReference("/text", B, 70_000),
    )


def test_nothing_to_name_is_no_attribute():
    assert written([]) is None
    assert references_in(None) == ()


@pytest.mark.parametrize(
    "dataref",
    [
        "",
        "blobs?",
        "https://example.invalid/blobs?/text=1",
        f"blobs?/text={A}",
        f"blobs?/text={A}.-1",
        f"blobs?/text={A}.01",
        f"blobs?/text={A}.{BLOB_BYTES_MAX + 1}",
        f"blobs?/text={A.upper()}.1",
        f"blobs?/text={A[:-1]}.1",
        f"blobs?text={A}.1",
        f"blobs?={A}.1",
        f"blobs?/text={A}.1&",
        f"blobs?/text={A}.1&/text={B}.1",
        f"blobs?/text={A}.1&/data={B}.1",
        f"blobs?/a b={A}.1",
        f"blobs?/te%78t={A}.1",
        f"blobs?/%ff={A}.1",
        "blobs?/text=../../etc/passwd.1",
        "blobs?" + "&".join(f"/{n:04}={A}.1" for n in range(EVENT_BLOBS_MAX + 1)),
        "blobs?" + "/" * 100_000,
    ],
)
def test_what_is_not_quite_the_form_names_nothing(dataref):
    assert references_in(dataref) == ()


@given(st.text(st.characters(exclude_categories=()), max_size=20))
def test_a_text_is_its_blob_to_the_last_code_point(text):
    assert text_of(blob_of(text)) == text


def test_a_blob_that_is_no_text_says_so():
    with pytest.raises(ValueError, match="utf-8"):
        text_of(b"\xff")


keys = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=9,
)


@given(st.dictionaries(keys, json_values, max_size=4))
def test_each_text_is_found_by_its_pointer(data):
    found = list(texts_in(data))
    assert len({pointer for pointer, _ in found}) == len(found)
    assert all(text_at(data, pointer) == text for pointer, text in found)


@pytest.mark.parametrize(
    "pointer", ["/x", "/data", "/data/1", "/data/00", "/data/-1", "/data/9", "/text/0", ""]
)
def test_a_pointer_that_leads_to_no_text_finds_none(pointer):
    assert text_at({"text": "a", "data": ["b", 1]}, pointer) is None


def test_a_pointer_sees_of_a_model_its_fields_alone():
    assert text_at(ObservationRecorded(text="a"), "/text") == "a"
    assert text_at(ObservationRecorded(text="a"), "/event_type") is None


def test_texts_are_put_into_models_dicts_and_lists_and_nothing_else_changes():
    message = MessageExchanged(
        role="tool", text="head", parts=({"kind": "image", "data": {"a/b": ["x", {"u": "head"}]}},)
    )
    long = "x" * 2_000_000
    whole = with_texts(message, {"/text": long, "/parts/0/data/a~1b/1/u": long})
    assert (whole.text, whole.parts[0].data) == (long, {"a/b": ["x", {"u": long}]})
    assert (whole.role, whole.parts[0].kind) == ("tool", "image")
    assert (message.text, message.parts[0].data["a/b"][1]) == ("head", {"u": "head"})
    state = TaskState(task_id="t", working_memory={"notes": "head"})
    assert with_texts(state, {"/working_memory/notes": long}).working_memory == {"notes": long}


# Events


def observed(text="head", **more):
    return codec().encode(ObservationRecorded(text=text, data={"a&b=c": "h"}), envelope(**more))


def test_an_event_is_read_with_the_blobs_that_it_names():
    new = observed(dataref=DATAREF)
    assert parse_json(new.value)["dataref"] == DATAREF
    found = codec().decode(logged(new))
    assert isinstance(found, Ours)
    assert found.envelope.dataref == DATAREF
    assert (found.canonical, found.content) == (new.value, new.content)
    assert found.envelope.extensions == {}


def test_two_events_that_share_their_heads_say_different_things():
    one, other, none = observed(dataref=DATAREF), observed(dataref=written([])), observed()
    assert other.content == none.content != one.content
    another = observed(dataref=DATAREF.replace(A, B))
    assert another.content not in {one.content, none.content}
    said = {"data": {"a&b=c": "h"}, "text": "head"}
    kind = ("observation.recorded", 1, said)
    assert content_of(*kind) == none.content
    assert content_of(*kind, dataref=DATAREF) == one.content


@pytest.mark.parametrize("dataref", ["https://example.invalid/1", "blobs?x", "", "好"])
def test_another_producers_dataref_is_kept_and_the_event_applied(dataref):
    document = {**parse_json(observed().value), "dataref": dataref}
    found = codec().decode(record(json_bytes(document)))
    assert isinstance(found, Ours)
    assert found.envelope.dataref == dataref
    assert references_in(found.envelope.dataref) == ()


def test_a_dataref_that_is_no_text_makes_an_event_of_ours_unusable_and_says_so():
    document = {**parse_json(observed().value), "dataref": 7}
    assert "dataref" in codec().decode(record(json_bytes(document))).reason


def test_a_guests_dataref_is_an_attribute_as_any():
    document = {**parse_json(observed().value), "type": "org.example.made", "dataref": DATAREF}
    found = codec().decode(record(json_bytes(document)))
    assert isinstance(found, Guest)
    assert json.loads(found.canonical)["dataref"] == DATAREF


def test_an_extension_may_not_pass_for_ours():
    with pytest.raises(InvalidEvent, match="ours"):
        observed(extensions={"dataref": DATAREF})
    with pytest.raises(InvalidEvent, match="NUL"):
        observed(dataref="a\0")


# Older versions


class Noted(ObservationRecorded):
    event_type = "note.taken"
    event_version = 2
    words: str
    text: str = ""


def moved(data):
    data["words"], data["data"] = data.pop("content"), {"list": [1, *data.pop("more")]}
    return data


def test_a_step_that_moves_texts_takes_their_references_along():
    steps = Upcasts({("note.taken", 1): moved}, events=[Noted])
    old = codec(registry=Registry([Noted]), upcasts=steps)
    dataref = written(
        [BlobReference("/content", A, 1), BlobReference("/more/0", B, 2), BlobReference("/x", A, 3)]
    )
    document = parse_json(observed().value) | {
        "type": "mnemolog.note.taken",
        "dataschema": "urn:mnemolog:schema:note.taken:1",
        "dataref": dataref,
        "data": {"content": "head", "more": ["head", "other"]},
    }
    found = old.decode(record(json_bytes(document)))
    assert isinstance(found, Ours), found
    assert references_in(found.envelope.dataref) == (
        BlobReference("/data/list/1", B, 2),
        BlobReference("/words", A, 1),
    )
    assert parse_json(found.canonical)["dataref"] == found.envelope.dataref
    assert found.recorded.event.words == "head"


def test_what_a_step_drops_is_no_longer_named_and_what_is_not_ours_is_left_alone():
    assert references_in(lifted(f"blobs?/a={A}.1", {"a": "h"}, lambda _: {})) == ()
    assert lifted("https://example.invalid/1", {}, dict) == "https://example.invalid/1"
