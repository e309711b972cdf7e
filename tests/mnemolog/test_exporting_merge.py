"""In the one stream each event has the policy that it had in its partition, and its key's order."""

from dataclasses import dataclass
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog import exporting_merge
from mnemolog.exporting_merge import merged
from mnemolog.schemas.decoded import Foreign, Ours
from mnemolog.schemas.envelope import Envelope
from mnemolog.schemas.errors import HistoryLost
from mnemolog.schemas.events.experience import ObservationRecorded
from mnemolog.schemas.events.governance import EventSkipped, PolicyChanged, ProcessorAdvanced
from mnemolog.schemas.partitioning import COPY_OF, governance_copy
from mnemolog.schemas.policy import Policy
from mnemolog.streams.memory_log import InMemoryLog
from support.any_history import codec_of, examples
from support.histories import SOURCE, START, TENANT, agents


@dataclass(frozen=True)
class Rule:
    """A governance event: a policy of a revision, or a skip, which has none of its own."""

    name: str
    revision: int
    is_policy: bool = True

    @property
    def event(self):
        if self.is_policy:
            return PolicyChanged(revision=self.revision, policy=Policy())
        return EventSkipped(revision=self.revision, skipped="0" * 32)


class Clock:
    """Gives the time that it is set to."""

    def __init__(self):
        self.minutes = 0

    def __call__(self):
        return START + timedelta(minutes=self.minutes)


class Written:
    """A log that is written by hand: an event is a text, a copy a `Rule`."""

    def __init__(self, partitions):
        self.clock = Clock()
        self.log = InMemoryLog(TENANT, partitions=partitions, now=self.clock)
        self.codec = codec_of(partitions)
        self.agents = agents(partitions=partitions)

    def put(self, partition, what, *, at=None):
        self.clock.minutes = self.clock.minutes if at is None else at
        self.log._known.clear()  # as on Kafka: a repeat stands there again
        if isinstance(what, Rule):
            copy_id, key = governance_copy(what.name, partition, partitions=self.log.partitions)
            self._append(what.event, copy_id, key=key, extensions={COPY_OF: what.name})
        else:
            agent = self.agents[partition]
            self._append(ObservationRecorded(text=what), what, key=agent, agent=agent)

    def _append(self, event, event_id, **names):
        envelope = Envelope(id=event_id, source=SOURCE, occurred_at=START, **names)
        self.log.append([self.codec.encode(event, envelope)])

    def stream(self, *, starts=None, ends=None):
        """Return texts of events and names of rules as they go out."""
        starts = starts or dict.fromkeys(self.log.ends(), 0)
        ends = ends or self.log.ends()
        found = merged(self.log, self.codec, starts=starts, ends=ends)
        return [_told(one) for one in found]


def _told(one):
    assert isinstance(one.item, Ours)
    event = one.item.recorded.event
    assert one.is_copied == (not isinstance(event, ObservationRecorded))
    return one.item.envelope.extensions[COPY_OF] if one.is_copied else event.text


def written(*partitions):
    log = Written(len(partitions))
    for partition, told in enumerate(partitions):
        for what in told:
            log.put(partition, what)
    return log


A, B, C = Rule("A", 1), Rule("B", 2), Rule("C", 3)
SKIP = Rule("S", 9, is_policy=False)


@pytest.mark.parametrize(
    ("partitions", "stream"),
    [
        ([["x", A, "y"]], "x A y"),
        ([["x1", A, "x2"], ["y1", "y2", A, "y3"]], "x1 y1 y2 A x2 y3"),
        ([[A, "x", B], [B, "y", A]], "A x B y"),  # in another order; of two the higher one holds
        ([[B, "x", A], [A, "y", B]], "A y B x"),
        ([["x", A, "z"], ["y"]], "x y A z"),  # a crash left one copy out
        ([[A, "x"], [B, "y"]], "A x B y"),
        ([[A, "x", A, "y"], [A, "z"]], "A x y z"),  # a repeat on Kafka
        ([[SKIP, "x", C], [B, "y"]], "S x B y C"),  # a skip's revision is no policy's
        ([[B, "x", C, "u"], [A, "y", C]], "A y B x C u"),
        ([[], [A]], "A"),
        ([[], []], ""),
    ],
)
def test_what_rules_every_key_goes_out_once_where_it_changes_nothing(partitions, stream):
    assert " ".join(written(*partitions).stream()) == stream


def test_between_partitions_the_order_is_that_of_the_logs_time():
    log = Written(2)
    for minute, (partition, text) in enumerate([(1, "a"), (0, "b"), (0, "c"), (1, "d"), (0, "e")]):
        log.put(partition, text, at=minute)
    assert log.stream() == ["a", "b", "c", "d", "e"]


def test_a_clock_that_went_back_changes_no_partitions_order():
    log = Written(2)
    for minute, (partition, text) in zip(
        (9, 3, 4, 5), [(0, "a"), (0, "b"), (1, "c"), (1, "d")], strict=True
    ):
        log.put(partition, text, at=minute)
    assert log.stream() == ["c", "d", "a", "b"]


def test_it_ends_where_the_log_ended_at_the_start():
    log = written(["a", "b"], ["c"])
    ends = log.log.ends()
    log.put(0, A)
    log.put(1, "d")
    assert log.stream(ends=ends) == ["a", "b", "c"]


def test_it_begins_where_it_is_told():
    log = written(["a", A, "b"], ["c", A, "d"])
    assert log.stream(starts={0: 2, 1: 1}) == ["b", "A", "d"]


def test_a_start_that_is_gone_is_told():
    log = written(["a", "b"])
    log.log._starts[0] = 1
    with pytest.raises(HistoryLost):
        log.stream()


def test_a_processors_mark_holds_nobody_back_and_what_is_foreign_comes_where_it_stands():
    log = Written(1)
    log.put(0, "a")
    advanced = ProcessorAdvanced(processor="p", partition=0, offset=0)
    log._append(advanced, "p-1", key=governance_copy("", 0, partitions=1)[1])
    [new] = [
        log.codec.encode(
            ObservationRecorded(text="x"),
            Envelope(id="x", source=SOURCE, occurred_at=START, key="a", agent="a"),
        )
    ]
    log.log.append([new._replace(value=b"not json")])
    found = list(merged(log.log, log.codec, starts={0: 0}, ends=log.log.ends()))
    assert [one.is_copied for one in found] == [False] * 3
    assert isinstance(found[2].item, Foreign)


# Any order of copies in any partition


@st.composite
def orders(draw):
    """Draw partitions with copies in any order, some missing, some twice, events between them."""
    rules = [Rule(f"R{n}", n + 1) for n in range(draw(st.integers(0, 4)))]
    rules += [Rule(f"S{n}", n, is_policy=False) for n in range(1, draw(st.integers(1, 3)))]
    partitions = []
    for partition in range(draw(st.integers(1, 4))):
        copies = draw(st.permutations(rules))
        kept = [one for one in copies for _ in range(draw(st.sampled_from([1, 1, 1, 1, 0, 2])))]
        texts = [f"{partition}.{n}" for n in range(draw(st.integers(0, 5)))]
        turns = draw(st.permutations([True] * len(kept) + [False] * len(texts)))
        queues = {True: iter(kept), False: iter(texts)}
        partitions.append([next(queues[turn]) for turn in turns])
    return partitions


def in_force(told):
    """Return the highest revision of a policy before each event."""
    highest, found = 0, {}
    for what in told:
        if isinstance(what, Rule):
            highest = max(highest, what.revision if what.is_policy else 0)
        else:
            found[what] = highest
    return found


@examples(300)
@given(partitions=orders(), page=st.integers(1, 3), readers=st.integers(1, 3))
def test_each_event_has_the_policy_that_it_had_whatever_the_order_of_the_copies(
    partitions, page, readers
):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exporting_merge, "PAGE_RECORDS", page)
        patch.setattr(exporting_merge, "READERS_MAX", readers)
        stream = written(*partitions).stream()
    named = {one.name: one for told in partitions for one in told if isinstance(one, Rule)}
    out = [named.get(what, what) for what in stream]
    assert len(set(stream)) == len(stream)
    assert set(stream) == {getattr(w, "name", w) for told in partitions for w in told}
    expected = {}
    for told in partitions:
        texts = [what for what in told if isinstance(what, str)]
        assert [what for what in stream if what in texts] == texts
        expected |= in_force(told)
    assert in_force(out) == expected


# Bounds


class Watched(InMemoryLog):
    """Counts the readers that are open."""

    is_open, most = 0, 0

    def reader(self, start):
        reader, self.is_open = super().reader(start), self.is_open + 1
        self.most = max(self.most, self.is_open)

        def close():
            self.is_open -= 1

        reader.close = close
        return reader


def test_few_readers_are_open_at_a_time_and_none_at_the_end():
    log = Written(40)
    log.log = Watched(TENANT, partitions=40, now=log.clock)
    for number in range(3):
        for partition in range(40):
            log.put(partition, f"{partition}.{number}")
    assert len(log.stream()) == 120
    assert log.log.most == exporting_merge.READERS_MAX
    assert log.log.is_open == 0
    started = merged(log.log, log.codec, starts=dict.fromkeys(range(40), 0), ends=log.log.ends())
    next(started)
    started.close()
    assert log.log.is_open == 0


def test_of_governance_that_was_long_ago_late_copies_may_go_out_again(monkeypatch):
    monkeypatch.setattr(exporting_merge, "GROUPS_KNOWN_MAX", 1)
    log = written(["x", A, B, "y"], [B, "z", A])
    assert log.stream() == ["x", "A", "B", "y", "z", "A"]
