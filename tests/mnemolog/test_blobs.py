"""What is too large for an event is kept whole, whatever the log, and is given whole or named."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import pytest

from mnemolog.schemas.blobs import digest_of, references_in
from mnemolog.schemas.errors import BlobMissing, InvalidEvent
from mnemolog.schemas.limits import EVENT_BYTES_MAX
from mnemolog.schemas.values import parse_json, restored
from support.large import LOGS, OUTPUT, PNG, blob_file, memory_on, size_on_log
from support.raw_records import put_changed
from support.remembering import opened, recorded, the_event


@pytest.fixture(params=LOGS)
def mem(request, tmp_path):
    with memory_on(request, tmp_path) as memory:
        yield memory


# Kept whole


@pytest.mark.bad_input(47)
def test_three_megabytes_of_tool_output_are_kept_whole(mem):
    said = mem.observe(OUTPUT, stated_by="tool")
    found = mem.get(said, after=said.token)
    assert found.event.text == OUTPUT
    assert size_on_log(mem, said) < 16_384
    (named,) = references_in(found.envelope.dataref)
    assert (named.pointer, named.bytes) == ("/text", len(OUTPUT))
    assert mem.engine.blobs.get(named.sha256) == OUTPUT.encode()


@pytest.mark.bad_input(89)
def test_an_inline_picture_goes_beside_the_log_and_the_words_are_found(mem):
    parts = [{"kind": "image_url", "data": {"image_url": {"url": PNG}}}]
    said = mem.append(
        "message.exchanged",
        {"role": "user", "text": "why is the login button grey?", "parts": parts},
    )
    assert size_on_log(mem, said) < 65_536
    assert mem.get(said, after=said.token).event.parts[0].data == {"image_url": {"url": PNG}}
    heads = mem.event(said, whole=False)
    assert heads.event.parts[0].data == {"image_url": {"url": "data:image/png;base64,…"}}
    assert [blob.sha256 for blob in mem.engine.blobs.stored()] == [digest_of(PNG.encode())]
    answer = mem.recall("grey login button")
    assert answer[0].text == "why is the login button grey?"
    assert "iVBOR" not in str(answer.to_dict())


@pytest.mark.bad_input(89)
def test_a_picture_in_the_text_itself_is_neither_embedded_nor_counted(mem):
    said = mem.message(f"why is this button grey? ![screen]({PNG}) It was blue.")
    answer = mem.recall("the grey button", after=said.token, tokens_max=100)
    assert (
        answer[0].text == "why is this button grey? ![screen](data:image/png;base64,…) It was blue."
    )
    assert answer.tokens < 60
    assert mem.get(said).event.text.count("iVBOR") == 380_000


def test_an_event_of_many_texts_none_of_which_is_large_goes_in_too(mem):
    pages = [f"page {n} " + "x" * 100_000 for n in range(30)]
    said = mem.observe("a report", data={"pages": pages, "n": 30})
    assert size_on_log(mem, said) <= EVENT_BYTES_MAX
    assert mem.get(said, after=said.token).event.data == {"pages": pages, "n": 30}


def test_a_chinese_text_is_cut_between_two_characters(mem):
    text = "权威事实不可由机器推论洗成。" * 20_000
    said = mem.observe(text)
    head = mem.get(said, after=said.token, whole=False).event.text
    assert text.startswith(head.removesuffix("…"))
    assert mem.get(said).event.text == text
    assert mem.recall("权威事实")[0].text.startswith("权威事实不可由")


def test_what_no_event_can_hold_is_restored_from_the_blob(mem):
    text = "caf\udce9\0" * 60_000
    said = mem.observe(text)
    found = mem.get(said, after=said.token)
    assert found.event.text == "caf\ufffd\ufffd" * 60_000
    assert restored(found.event.text, parse_json(found.envelope.repaired.encode())["/text"]) == text
    assert mem.event(said, whole=False).envelope.repaired is None


def test_millions_of_characters_that_no_event_can_hold_are_no_burden(mem):
    said = mem.observe("\0" * 3_000_000 + "end")
    assert mem.get(said, after=said.token).event.text == "\ufffd" * 3_000_000 + "end"


# Once


def test_the_same_event_again_adds_nothing_and_another_of_its_id_and_head_is_a_repeat(mem):
    first, again, other = (
        mem.observe(OUTPUT + end, id="e-1", occurred_at="2030-01-01T00:00:00Z")
        for end in ("", "", "!")
    )
    mem.wait_for(other.token)
    assert len(list(mem.engine.blobs.stored())) == 2
    assert mem.get(first).event.text == OUTPUT
    assert the_event(mem, first).content != the_event(mem, other).content
    if first.position == again.position:  # Kafka keeps both, and the second has no effect
        assert len(recorded(mem)) == 2


def test_many_at_once_are_all_kept(mem):
    with ThreadPoolExecutor(6) as pool:
        said = list(pool.map(lambda n: mem.observe(f"{n % 3} {OUTPUT}"), range(12)))
    mem.wait_for(mem.end())
    assert [mem.get(one).event.text[:2] for one in said] == [f"{n % 3} " for n in range(12)]
    assert len(list(mem.engine.blobs.stored())) == 3


# Refused


@pytest.mark.bad_input(47)
def test_without_blobs_it_is_refused_with_both_sizes():
    with opened(blobs=False, agent="ops-1") as mem:
        with pytest.raises(InvalidEvent, match=rf"1000000 characters, not {len(OUTPUT)}"):
            mem.observe(OUTPUT)
        with pytest.raises(
            InvalidEvent, match=rf"\d+ bytes encoded; the limit is {EVENT_BYTES_MAX}"
        ):
            mem.observe("x", data={"url": PNG})
        mem.observe("x" * 500_000)  # fits an event
        assert recorded(mem)[0].envelope.dataref is None


def test_what_no_blob_may_hold_is_refused_with_both_sizes_and_nothing_is_put(mem):
    with pytest.raises(InvalidEvent, match="16777217 bytes; a text has at most 16777216"):
        mem.observe("x" * 16_777_217)
    with pytest.raises(InvalidEvent, match="score"):
        mem.append("feedback.given", {"target": "e", "score": 7, "comment": OUTPUT})
    assert list(mem.engine.blobs.stored()) == []


def test_numbers_that_are_too_many_are_refused_with_both_sizes(mem):
    with pytest.raises(InvalidEvent, match=f"limit is {EVENT_BYTES_MAX}"):
        mem.observe("numbers", data={"n": list(range(200_000)), "big": OUTPUT})
    assert list(mem.engine.blobs.stored()) == []


def test_a_policy_is_never_cut(mem):
    with pytest.raises(InvalidEvent):
        mem.append("policy.changed", {"revision": 1, "policy": {}, "reason": OUTPUT})
    assert list(mem.engine.blobs.stored()) == []


@pytest.mark.kafka
def test_a_log_elsewhere_never_names_what_ends_with_the_process(kafka, tmp_path):
    log = f"kafka://{kafka.bootstrap}"
    with opened(":memory:", log=log, tenant=f"large {tmp_path.name}", agent="a") as mem:
        mem.observe("x")
        with pytest.raises(InvalidEvent, match=f"not {len(OUTPUT)}"):
            mem.observe(OUTPUT)


# From others


def test_another_producer_may_put_a_blob_itself_and_name_it(tmp_path):
    with opened(tmp_path, agent="ops-1") as mem:
        sha256 = digest_of(OUTPUT.encode())
        blob_file(mem, sha256).parent.mkdir(parents=True)
        blob_file(mem, sha256).write_bytes(OUTPUT.encode())
        dataref = f"blobs?/text={sha256}.{len(OUTPUT)}"
        token, _ = put_changed(mem, {"text": "line 0…"}, named(dataref), event_id="theirs")
        found = mem.get("theirs", after=token)
        assert found.event.text == OUTPUT
        assert mem.recall("line 0")[0].text == "line 0…"


@pytest.mark.parametrize(
    ("dataref", "error"),
    [
        (f"blobs?/text={'0' * 64}.300000", BlobMissing),
        (f"blobs?/elsewhere={'0' * 64}.300000", None),
        (f"blobs?/text={'0' * 64}", None),
        ("https://example.invalid/payload", None),
    ],
)
def test_an_event_that_names_what_is_not_here_is_applied_by_its_head(mem, dataref, error):
    token, _ = put_changed(mem, {"text": "line 0…"}, named(dataref), event_id="theirs")
    with nullcontext() if error is None else pytest.raises(error):
        assert mem.get("theirs", after=token).event.text == "line 0…"
    assert mem.recall("line 0", after=token)[0].text == "line 0…"
    assert mem.get("theirs", whole=False).envelope.dataref == dataref


def named(dataref):
    return lambda document: document.update(dataref=dataref)


# Where they lie


def test_machines_that_share_a_folder_of_blobs_share_them_and_tenants_do_not(tmp_path):
    shared = {"blobs_folder": tmp_path / "shared", "agent": "a"}
    with opened(tmp_path / "one", **shared) as mem:
        said = mem.observe(OUTPUT)
        assert mem.get(said, after=said.token).event.text == OUTPUT
        assert not (mem.engine.folder / "blobs").exists()
    with opened(tmp_path / "one", tenant="Acme/x", **shared) as mem:
        assert list(mem.engine.blobs.stored()) == []
    folders = [path.name for path in (tmp_path / "shared").iterdir()]
    assert folders == ["default"]


def test_what_was_put_once_is_read_where_no_new_ones_are(tmp_path):
    with opened(tmp_path, agent="a") as mem:
        said = mem.observe(OUTPUT)
    with opened(tmp_path, agent="a", blobs=False) as mem:
        assert mem.get(said, after=said.token).event.text == OUTPUT
    with opened(tmp_path, read_only=True) as mem:
        assert mem.get(said).event.text == OUTPUT


def test_sizes_are_settings(monkeypatch):
    monkeypatch.setenv("MNEMOLOG_BLOB_TEXT_BYTES", "16384")
    monkeypatch.setenv("MNEMOLOG_BLOB_DATA_URI_BYTES", "4096")
    with opened(agent="a") as mem:
        mem.observe("x" * 16_384)
        mem.observe("x" * 16_385, data={"url": PNG[:4_097]})
        named = [references_in(one.envelope.dataref) for one in recorded(mem)]
        assert [[one.bytes for one in names] for names in named] == [[], [4_097, 16_385]]
