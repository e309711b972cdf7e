"""get: an event whole, a memory with the event to ask, and a missing text by name."""

import pytest

from mnemolog.schemas.blobs import digest_of
from support.large import OUTPUT, blob_file, lose
from support.remembering import opened


@pytest.fixture
def said(data):
    with opened(data, agent="ops-1", project="shop") as mem:
        told = mem.observe(OUTPUT, task="auth", tags=["db"], data={"n": 2**64})
        mem.wait_for(mem.end(), vectors=True)
    return told


def test_an_event_is_shown_whole_with_what_stands_around_it(cli, said):
    done = cli("get", said.id)
    assert done.code == 0
    for part in (said.id, "observation.recorded", "0@0", "ops-1", "auth", OUTPUT.splitlines()[-1]):
        assert part in done.out
    assert f"/text, {len(OUTPUT)} bytes, SHA-256 {digest_of(OUTPUT.encode())}" in done.err


def test_an_event_as_json_has_its_data_as_it_was_given(cli, said):
    told = cli("get", said.id, "--json").json
    assert told["data"] == {"text": OUTPUT, "tags": ["db"], "data": {"n": 2**64}}
    assert (told["id"], told["agent"], told["position"]) == (said.id, "ops-1", "0@0")
    assert told["dataref"] == f"blobs?/text={digest_of(OUTPUT.encode())}.{len(OUTPUT)}"


def test_heads_are_shown_where_they_are_asked_for(cli, said):
    text = cli("get", said.id, "--heads", "--json").json["data"]["text"]
    assert len(text.encode()) <= 8_192
    assert text.endswith("…")


def test_a_memory_is_shown_with_the_event_that_has_it_whole(cli, said):
    done = cli("get", said.memory_id)
    assert "line 0: connection refused by db-7" in done.out
    assert said.id in done.out
    assert f"`mnemolog get {said.id}` gives it whole" in done.err
    told = cli("get", said.memory_id, "--json").json
    assert (told["id"], told["event_id"], told["kind"]) == (said.memory_id, said.id, "episode")
    assert told["weight"] > 0


def test_a_short_memory_is_whole_and_says_no_more(cli, say):
    event_id = say("the pool is exhausted")
    with_id = cli("recall", "pool", "--json", "--no-record").json["memories"][0]["id"]
    done = cli("get", with_id)
    assert "the pool is exhausted" in done.out
    assert event_id in done.out
    assert done.err == ""


def test_a_missing_blob_is_named_and_exits_with_five(cli, data, said):
    with opened(data) as mem:
        lose(mem, digest_of(OUTPUT.encode()))
    done = cli("get", said.id)
    assert done.code == 5
    for part in (
        "missing",
        digest_of(OUTPUT.encode()),
        f"/text of event {said.id}",
        "blobs_folder",
    ):
        assert part in done.err
    assert cli("get", said.id, "--heads").code == 0


def test_a_damaged_blob_is_named_and_exits_with_five(cli, data, said):
    with opened(data) as mem:
        blob_file(mem, digest_of(OUTPUT.encode())).write_bytes(b"x")
    done = cli("get", said.id)
    assert done.code == 5
    assert "damaged" in done.err
    assert digest_of(OUTPUT.encode()) in done.err


@pytest.mark.parametrize("ref", ["e-unknown", "mem_" + "0" * 32])
def test_what_is_unknown_exits_with_three(cli, said, ref):
    assert cli("get", ref).code == 3
