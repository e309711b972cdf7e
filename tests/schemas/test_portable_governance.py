"""What rules every key is one document on its way, and has a copy for each partition of a log."""

from dataclasses import replace

import pytest

from mnemolog.schemas.decoded import Ours, Unusable
from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.events.governance import EventSkipped, PolicyChanged, ProcessorAdvanced
from mnemolog.schemas.ids import check_id, derived_id
from mnemolog.schemas.partitioning import (
    COPY_OF,
    GOVERNANCE_KEY,
    governance_copy,
    governance_key,
    is_governance_key,
)
from mnemolog.schemas.policy import Policy
from mnemolog.schemas.portable import (
    copies,
    group_of,
    is_for_every_partition,
    portable_copy,
    taken,
)
from mnemolog.schemas.values import json_bytes, parse_json
from support.events import codec, document, envelope, logged

CHANGED = PolicyChanged(revision=3, policy=Policy())
SKIPPED = EventSkipped(revision=1, skipped="0" * 32)


def spread(event, event_id="p-1", *, partitions, named=True, **names):
    """Return the copies of *event* as a log of *partitions* gives them."""
    reads = codec(partitions=partitions)
    found = []
    for partition in range(partitions):
        copy_id, key = governance_copy(event_id, partition, partitions=partitions)
        extensions = {COPY_OF: event_id} if named else {}
        around = envelope(id=copy_id, key=key, agent=None, extensions=extensions, **names)
        found.append(reads.decode(logged(reads.encode(event, around), partitions=partitions)))
    assert [item.record.partition for item in found] == list(range(partitions))
    return found


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("partitions", [1, 4])
def test_all_copies_are_one_document(partitions, named):
    found = spread(CHANGED, partitions=partitions, named=named)
    assert len({group_of(item) for item in found}) == 1
    documents = [portable_copy(item) for item in found]
    assert all(one == documents[0] for one in documents)
    assert documents[0]["partitionkey"] == GOVERNANCE_KEY
    assert COPY_OF not in documents[0]
    assert (documents[0]["id"] == "p-1") == named


def test_other_events_are_other_groups():
    groups = {
        group_of(item)
        for told in (
            {"event": CHANGED},
            {"event": CHANGED, "event_id": "p-2"},
            {"event": CHANGED.model_copy(update={"revision": 4})},
            {"event": CHANGED, "source": "/other"},
            {"event": SKIPPED},
        )
        for item in spread(partitions=2, **told)
    }
    assert len(groups) == 5


@pytest.mark.parametrize("named", [True, False])
def test_a_copy_has_the_same_id_for_the_same_event_and_partition_wherever_it_comes(named):
    one = portable_copy(spread(CHANGED, partitions=1, named=named)[0])
    there = [taken(copy, codec(partitions=4)) for copy in copies(one, partitions=4)]
    ids = [item.item.envelope.id for item in there]
    assert ids == [derived_id("governance", one["id"], str(p)) for p in range(4)]
    assert [item.item.key for item in there] == [governance_key(p, partitions=4) for p in range(4)]
    reads = codec(partitions=4)
    again = portable_copy(reads.decode(logged(there[3].record, partitions=4)))
    assert again == one
    back = taken(next(copies(again, partitions=1)), codec())
    assert back.item.envelope.id == derived_id("governance", one["id"], "0")


def test_the_copies_that_are_brought_are_those_that_were_there():
    found = spread(CHANGED, partitions=4)
    brought = copies(portable_copy(found[2]), partitions=4)
    there = [taken(copy, codec(partitions=4)) for copy in brought]
    assert [one.record.identity for one in there] == [item.identity for item in found]
    assert [one.record.content for one in there] == [item.content for item in found]
    assert all(isinstance(one.item, Ours) for one in there)


def test_a_copy_out_of_another_log_is_for_every_partition_too():
    """As in a dump of a topic: each of the copies gives the same set."""
    told = {"partitionkey": governance_key(2, partitions=4), "agent": None, COPY_OF: "p-1"}
    dumped = document(CHANGED, id="whatever", **told)
    assert is_for_every_partition(dumped)
    assert [copy["id"] for copy in copies(dumped, partitions=2)] == [
        derived_id("governance", "p-1", "0"),
        derived_id("governance", "p-1", "1"),
    ]


@pytest.mark.parametrize(
    ("event", "attributes", "expected"),
    [
        (CHANGED, {"partitionkey": None, "agent": None}, True),
        (SKIPPED, {"partitionkey": GOVERNANCE_KEY, "agent": None}, True),
        (CHANGED, {}, False),  # somebody appended it under an agent: it ruled one partition
        (CHANGED, {"partitionkey": "mnemolog:no-agent", "agent": None}, False),
        (SKIPPED, {"partitionkey": GOVERNANCE_KEY, "type": "com.example.done"}, False),
        (ProcessorAdvanced(processor="p", partition=0, offset=1), {"partitionkey": None}, False),
    ],
)
def test_what_is_for_every_partition(event, attributes, expected):
    assert is_for_every_partition(document(event, **attributes)) is expected


def test_keys_of_governance_are_told_from_others():
    assert is_governance_key(GOVERNANCE_KEY)
    assert is_governance_key(governance_key(3, partitions=7))
    assert not is_governance_key("mnemolog:no-agent")
    assert not is_governance_key("mnemolog:governances")


def test_a_policy_of_newer_code_is_one_document_too_and_is_parked_in_each_partition_again():
    found = []
    for item in spread(CHANGED, partitions=4):
        told = parse_json(item.record.value)
        told["dataschema"] = "urn:mnemolog:schema:policy.changed:9"
        newer = replace(item.record, value=json_bytes(told))
        found.append(codec(partitions=4).decode(newer))
    assert all(isinstance(item, Unusable) for item in found)
    assert len({group_of(item) for item in found}) == 1
    brought = copies(portable_copy(found[1]), partitions=4)
    there = [taken(copy, codec(partitions=4)) for copy in brought]
    assert [one.record.identity for one in there] == [item.identity for item in found]
    assert all(isinstance(one.item, Unusable) and one.item.newer for one in there)


@pytest.mark.parametrize("bad", [7, "", "a\nb", {"a": 1}, "x" * 300, "\ud800"])
def test_a_copy_that_names_no_event_has_no_place(bad):
    told = document(CHANGED, agent=None, partitionkey=GOVERNANCE_KEY)
    with pytest.raises(InvalidEvent, match="id"):
        list(copies({**told, COPY_OF: bad}, partitions=2))


def test_copies_that_name_their_event_badly_are_named_by_what_they_say():
    [item] = spread(CHANGED, partitions=1, named=False)
    named = [
        codec().decode(
            replace(item.record, value=json_bytes({**parse_json(item.record.value), COPY_OF: bad}))
        )
        for bad in (7, "a" * 300)
    ]
    for one in named:
        event_id = portable_copy(one)["id"]
        assert check_id(event_id, field="id") == derived_id("governance group", group_of(one))
