"""From a memory or a decision to the events it came from: each with its place, each once."""

from datetime import UTC, datetime

import pytest

from mnemolog.projections.checkpoints.stored import TimelineEntry
from mnemolog.replay.lineage import DEPTH_MAX, NODES_MAX, Lineage
from mnemolog.schemas.codec import Codec
from mnemolog.schemas.errors import NotFound
from mnemolog.schemas.events import experience, memory
from mnemolog.schemas.positions import Position
from mnemolog.streams.memory_log import InMemoryLog
from mnemolog.streams.publishing import Draft, Publisher
from support.in_memory_reader import InMemoryReader, memory_row

NOW = datetime(2030, 1, 1, tzinfo=UTC)


class History:
    """A log, and the timeline and memories that are known of it."""

    def __init__(self, partitions=1):
        self.log = InMemoryLog("tests", partitions=partitions)
        self.codec = Codec(tenant="tests", partitions=partitions)
        self._publisher = Publisher(self.log, self.codec, tenant="tests", now=lambda: NOW)
        self._entries = []
        self._rows = []

    def say(self, model, event_id, *, agent="ops-1", cause=None, forgotten=False, **fields):
        draft = Draft(model=model, fields=fields, id=event_id, agent=agent, cause=cause)
        (appended,) = self._publisher.append([draft])
        named = dict.fromkeys(("user", "project", "session", "task", "cause"))
        self._entries.append(
            TimelineEntry(
                **named,
                position=appended.position,
                identity=appended.identity,
                recorded_at=NOW,
                occurred_at=NOW,
                key=agent,
                agent=agent,
                type=appended.event_type,
                guest=False,
                event_id=event_id,
                text=None if forgotten else "x",
            )
        )
        return appended

    def observe(self, event_id, text="seen", **more):
        return self.say(experience.ObservationRecorded, event_id, text=text, **more)

    def decide(self, event_id, **more):
        return self.say(experience.DecisionMade, event_id, what="choose", **more)

    def forms(self, said, text="seen", **more):
        row = memory_row(text, id=said.memory_id, event_id=said.id, agent="ops-1", **more)
        self._rows.append(row)
        return row

    def why(self, name):
        return self.lineage().why(name)

    def lineage(self):
        return Lineage(
            log=self.log,
            codec=self.codec,
            find=lambda event_id: [e for e in self._entries if e.event_id == event_id],
            memories=InMemoryReader(self._rows),
        )


@pytest.fixture
def history():
    return History()


def nodes(tree):
    yield tree
    for cause in tree.causes:
        yield from nodes(cause)


def outline(tree):
    return (tree.role, tree.id, [outline(cause) for cause in tree.causes])


def test_a_decision_leads_over_its_memories_to_their_events_with_places(history):
    asked = history.say(experience.MessageExchanged, "m-1", role="user", text="why is it down?")
    seen = history.observe("o-1", "the pool is exhausted", cause="m-1")
    row = history.forms(seen, "the pool is exhausted")
    history.decide("d-1", because_events=["m-1"], because_memories=[row.id], cause="m-1")
    tree = history.why("d-1")
    assert outline(tree) == (
        "asked",
        "d-1",
        [
            ("caused by", "m-1", []),
            ("because of (shown above)", "m-1", []),
            (
                "because of",
                row.id,
                [("formed by", "o-1", [("caused by (shown above)", "m-1", [])])],
            ),
        ],
    )
    assert {node.position for node in nodes(tree) if node.kind == "event"} == {
        Position(0, 0),
        seen.position,
        Position(0, 2),
    }
    assert {node.topic for node in nodes(tree) if node.kind == "event"} == {history.log.topic}
    assert asked.position == Position(0, 0)


def test_each_kind_of_event_names_its_causes(history):
    seen = history.observe("o-1")
    row = history.forms(seen)
    history.say(memory.MemoryFormed, "f-1", text="a rule", from_events=["o-1"])
    history.say(memory.KnowledgeConsolidated, "k-1", text="all of it", memories=[row.id])
    history.say(experience.FeedbackGiven, "g-1", target=row.id, target_kind="memory", score=1.0)
    history.say(experience.FeedbackGiven, "g-2", target="o-1", score=1.0)
    formed_by = ("formed by", "o-1", [])
    assert outline(history.why("f-1")) == ("asked", "f-1", [("drawn from", "o-1", [])])
    assert outline(history.why("k-1")) == (
        "asked",
        "k-1",
        [("drawn from", row.id, [formed_by])],
    )
    assert outline(history.why("g-1")) == ("asked", "g-1", [("about", row.id, [formed_by])])
    assert outline(history.why("g-2")) == ("asked", "g-2", [("about", "o-1", [])])


def test_a_memory_drawn_from_others_leads_to_all_of_them(history):
    one, two = history.observe("o-1", "one"), history.observe("o-2", "two")
    first = history.forms(one, "one")
    said = history.say(memory.KnowledgeConsolidated, "k-1", text="both", memories=[first.id])
    row = history.forms(
        said, "both", kind="concept", from_events=("o-2",), from_memories=(first.id,)
    )
    tree = history.why(row.id)
    assert {node.id for node in nodes(tree)} == {row.id, "k-1", "o-2", first.id, "o-1"}
    assert two.id in {cause.id for cause in tree.causes}


def test_a_cycle_of_causes_ends_where_it_closes_and_says_so(history):
    history.observe("a", cause="b")
    history.observe("b", cause="a")
    assert outline(history.why("a")) == (
        "asked",
        "a",
        [("caused by", "b", [("caused by (shown above)", "a", [])])],
    )
    history.observe("self", cause="self")
    assert outline(history.why("self"))[2] == [("caused by (shown above)", "self", [])]


def test_a_long_chain_ends_at_the_bound_and_says_that_there_is_more(history):
    for number in range(DEPTH_MAX + 5):
        history.observe(f"{number}", cause=f"{number - 1}" if number else None)
    chain = list(nodes(history.why(f"{DEPTH_MAX + 4}")))
    assert len(chain) == DEPTH_MAX + 2
    assert chain[-1].role == "caused by (not followed further)"
    assert {node.role for node in chain[1:-1]} == {"caused by"}


def test_a_wide_tree_is_followed_up_to_its_bound(history):
    names = [f"o-{number}" for number in range(NODES_MAX + 5)]
    for name in names:
        history.observe(name, cause="root")
    history.observe("root")
    history.decide("d-1", because_events=names)
    tree = history.why("d-1")
    followed = [node for node in tree.causes if node.role == "because of"]
    assert len(followed) < NODES_MAX
    assert tree.causes[-1].role == "because of (not followed further)"


def test_what_was_forgotten_leaves_its_place_and_says_nothing(history):
    history.observe("before")
    said = history.observe("o-1", "the PIN is 0000", forgotten=True, cause="before")
    history.decide("d-1", because_events=["o-1"])
    (cause,) = history.why("d-1").causes
    assert (cause.title, cause.position, cause.causes) == ("(forgotten)", said.position, ())
    assert cause.event_type == "observation.recorded"
    assert "0000" not in str(history.why("d-1"))
    assert history.why("o-1").title == "(forgotten)"
    assert history.lineage().event("o-1") is None


def test_of_several_agents_events_of_one_id_ones_own_is_taken(history):
    history.observe("e-1", "theirs", agent="dev-1")
    mine = history.observe("e-1", "mine", agent="ops-1")
    history.observe("e-1", "nobody's business", agent="zoe")
    row = history.forms(mine, "mine")
    history.decide("d-1", because_events=["e-1"])
    assert [node.title for node in history.why(row.id).causes] == ["mine"]
    assert [node.title for node in history.why("d-1").causes] == ["mine"]
    assert history.lineage().event("e-1", key="dev-1").event.text == "theirs"


def test_what_is_named_and_not_there_is_left_out(history):
    history.decide("d-1", because_events=["gone"], because_memories=["mem_" + "0" * 32])
    assert outline(history.why("d-1")) == ("asked", "d-1", [])


def test_what_nobody_knows_is_not_found(history):
    with pytest.raises(NotFound, match="e-7"):
        history.why("e-7")


def test_a_tree_reads_as_lines_and_as_json(history):
    history.observe("o-1", "the pool\nis   exhausted " + "x" * 200)
    history.decide("d-1", because_events=["o-1"])
    tree = history.why("d-1")
    first, second = str(tree).splitlines()
    assert first.startswith("asked: [decision.made] 2030-01-01 00:00 choose (d-1 ")
    assert second.startswith("  because of: [observation.recorded] 2030-01-01 00:00 the pool is")
    assert "x" * 120 not in second
    told = tree.to_dict()
    assert (told["id"], told["partition"], told["offset"]) == ("d-1", 0, 1)
    assert told["causes"][0]["id"] == "o-1"
