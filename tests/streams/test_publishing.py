"""What a publisher makes of drafts: checked whole before anything is appended."""

from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from mnemolog.schemas.codec import Codec
from mnemolog.schemas.decoded import Ours
from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.events.experience import ObservationRecorded
from mnemolog.schemas.events.governance import PolicyChanged
from mnemolog.schemas.limits import DEPTH_MAX
from mnemolog.schemas.policy import Policy
from mnemolog.streams.memory_log import InMemoryLog
from mnemolog.streams.publishing import Draft, Publisher

NOW = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.fixture(params=[1, 4])
def log(request):
    return InMemoryLog("tests", partitions=request.param)


@pytest.fixture
def codec(log):
    return Codec(tenant="tests", partitions=log.partitions)


@pytest.fixture
def publisher(log, codec):
    return Publisher(log, codec, tenant="tests", now=lambda: NOW)


def observation(text, **more):
    return Draft(model=ObservationRecorded, fields={"text": text}, agent="ops-1", **more)


def records(log):
    reader = log.reader(dict.fromkeys(range(log.partitions), 0))
    return list(reader.poll(records_max=1000, wait_seconds=0))


def test_what_was_said_is_what_is_read(publisher, log, codec):
    (appended,) = publisher.append([observation("池满了", cause="e0", task="t-1")])
    (record,) = records(log)
    item = codec.decode(record)
    assert isinstance(item, Ours)
    assert item.recorded.event == ObservationRecorded(text="池满了")
    assert item.envelope.cause == "e0"
    assert item.envelope.task == "t-1"
    assert item.envelope.occurred_at == NOW
    assert (item.recorded.id, item.identity) == (appended.id, appended.identity)
    assert appended.position == record.position
    assert appended.token.offsets == {record.partition: record.offset}


def test_a_bad_draft_among_good_ones_lets_nothing_in(publisher, log):
    with pytest.raises(InvalidEvent, match="agent"):
        publisher.append(
            [
                observation("good"),
                Draft(model=ObservationRecorded, fields={"text": "x"}, agent="../x"),
            ]
        )
    assert records(log) == []


@pytest.mark.parametrize("name", ["../x", ["a", "list"], {}, 1, True, "", "\ud800"])
def test_a_bad_name_is_refused_as_often_as_it_comes(publisher, log, name):
    for field in ("session", "session", "agent", "session"):
        with pytest.raises(InvalidEvent) as caught:
            publisher.append([replace(observation("x", user="u-1"), **{field: name})])
        assert caught.value.field == field
    assert records(log) == []


def test_a_retry_with_its_id_and_time_adds_nothing(publisher, log):
    draft = observation("once", id="e-1", occurred_at=NOW)
    first, second = publisher.append([draft])[0], publisher.append([draft])[0]
    assert first == second
    assert len(records(log)) == 1


def test_a_naive_time_is_read_as_utc_and_flagged(publisher, log, codec):
    publisher.append([observation("x", occurred_at="2030-05-01T10:00:00")])
    envelope = codec.decode(records(log)[0]).envelope
    assert envelope.assumed_utc
    assert envelope.occurred_at == datetime(2030, 5, 1, 10, tzinfo=UTC)


def test_a_lone_surrogate_is_replaced_and_kept_beside(publisher, log, codec):
    publisher.append([observation("ls: caf\udce9.txt")])
    item = codec.decode(records(log)[0])
    assert item.recorded.event.text == "ls: caf�.txt"
    assert item.envelope.repaired == '{"/text":{"7":"dce9"}}'


def test_governance_reaches_every_partition_once(publisher, log, codec):
    draft = Draft(
        model=PolicyChanged, fields={"revision": 1, "policy": Policy()}, id="p-1", occurred_at=NOW
    )
    publisher.govern(draft)
    publisher.govern(draft)
    copies = [codec.decode(record) for record in records(log)]
    assert sorted(c.record.partition for c in copies) == list(range(log.partitions))
    assert len({c.recorded.id for c in copies}) == log.partitions
    assert [c.envelope.extensions for c in copies] == [{"copyof": "p-1"}] * log.partitions


@pytest.mark.parametrize("levels", [DEPTH_MAX - 1, DEPTH_MAX, DEPTH_MAX + 1])
def test_an_events_data_may_nest_as_deeply_as_its_document_leaves(publisher, log, levels):
    data = {}
    for _ in range(levels - 2):  # the fields themselves are one level
        data = {"inner": data}
    draft = Draft(model=ObservationRecorded, fields={"text": "x", "data": data}, agent="ops-1")
    with (
        nullcontext()
        if levels < DEPTH_MAX
        else pytest.raises(InvalidEvent, match=f"depth {DEPTH_MAX + 1} > limit {DEPTH_MAX}")
    ):
        publisher.append([draft])
    assert len(records(log)) == (levels < DEPTH_MAX)


def test_no_drafts_append_nothing(publisher, log):
    assert publisher.append([]) == []
    assert records(log) == []


def test_too_many_events_in_one_call_are_refused_with_the_bound(publisher):
    with pytest.raises(InvalidEvent, match="10000"):
        publisher.append([observation("x")] * 10_001)
