"""Histories of any events of ours, with few names and ids, so that the events meet.

Ids are drawn from a small pool too: two events of one identity may say two things, and events of
two agents may have one id. Beside ours stand guests, foreign records and events of the future.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from mnemolog.schemas.codec import Codec
from mnemolog.schemas.envelope import Envelope
from mnemolog.schemas.events import ALL_EVENTS, GOVERNANCE, Event
from mnemolog.schemas.ids import derived_id
from mnemolog.schemas.partitioning import governance_key
from mnemolog.schemas.records import NewRecord
from mnemolog.schemas.values import json_bytes, parse_json
from support.any_event import WORDS, Pools, events
from support.histories import DATAREFS, SOURCE, START, TENANT, identity, memory_of
from support.profiles import examples_times

EVENTS_MAX = 24
NAMES = tuple(f"e{number}" for number in range(EVENTS_MAX))
AGENTS = ("ann", "bob", "卡尔", "dora")
_OF_AGENTS = tuple(model for model in ALL_EVENTS if model not in GOVERNANCE)


def examples(few: int) -> settings:
    """Return settings of *few* examples, or of as many times more as `make fuzz` asks for."""
    return settings(
        max_examples=few * examples_times(),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


@dataclass(frozen=True)
class Told:
    """An event, or what stands in a log beside events; `agent` is None of what rules the rest."""

    event: Event
    id: str
    agent: str | None
    minutes: int
    names: dict[str, Any]
    spoilt: str | None = None  # guest, foreign or newer: what became of the event's bytes

    def records(self, codec: Codec, *, partitions: int) -> list[NewRecord]:
        """Return its record, or one for each partition of what rules the rest."""
        if self.agent is not None:
            return [self._record(codec, self.agent, self.id)]
        keys = [governance_key(p, partitions=partitions) for p in range(partitions)]
        ids = [derived_id("governance", self.id, str(p)) for p in range(partitions)]
        return [self._record(codec, *copy) for copy in zip(keys, ids, strict=True)]

    def _record(self, codec: Codec, key: str, event_id: str) -> NewRecord:
        envelope = Envelope(
            id=event_id,
            source=SOURCE,
            occurred_at=START + timedelta(minutes=self.minutes),
            key=key,
            agent=self.agent,
            **self.names,
        )
        return _spoilt(codec.encode(self.event, envelope), self.spoilt)


def _spoilt(new: NewRecord, how: str | None) -> NewRecord:
    document = parse_json(new.value)
    match how:
        case "guest":
            document["type"] = "com.example.done"
            del document["dataschema"]
        case "newer":
            document["dataschema"] = document["dataschema"].rpartition(":")[0] + ":99"
        case "foreign":
            del document["source"]
        case _:
            return new
    return NewRecord(new.key, json_bytes(document), new.headers, new.identity, new.content)


def pools(agents: Sequence[str] = AGENTS, *, names: Sequence[str] = NAMES, mark: str = "") -> Pools:
    """Return the ids of the events *names*, of the memories that *agents*' form, and words."""
    few = names[:: max(1, len(names) // 8)]
    formed = [memory_of(e, n, agent=a) for a in agents for e in few for n in (0, 1)]
    identities = [identity(e, agent=a) for a in agents for e in few]
    return Pools(
        tuple(names), tuple(identities), tuple(formed), tuple(mark + words for words in WORDS)
    )


_scopes = st.fixed_dictionaries(
    {},
    optional={
        "user": st.sampled_from(["u1", "小李"]),
        "project": st.just("shop"),
        "session": st.sampled_from(["s1", "s2"]),
        "task": st.sampled_from(["t1", "t2"]),
        "phase": st.just("build"),
        "correlation": st.just("c1"),
        "assumed_utc": st.booleans(),
        "dataref": st.sampled_from(DATAREFS),
    },
)


@st.composite
def told_by(
    draw: st.DrawFn,
    agents: Sequence[str],
    *,
    names: Sequence[str] = NAMES,
    events_max: int = EVENTS_MAX,
    mark: str = "",
) -> list[Told]:
    """Draw what *agents* tell under the ids *names*; they name ids and words of their own only."""
    named = pools(agents, names=names, mark=mark)
    strategies = {model: events(model, named) for model in _OF_AGENTS}
    how = [None] * 12 + ["guest", "foreign", "newer"]
    return [
        Told(
            event=draw(strategies[draw(st.sampled_from(_OF_AGENTS))]),
            id=draw(st.sampled_from(names)),
            agent=draw(st.sampled_from(agents)),
            minutes=draw(st.integers(0, 60)),
            names={**draw(_scopes), "cause": draw(st.none() | st.sampled_from(names))},
            spoilt=draw(st.sampled_from(how)),
        )
        for _ in range(draw(st.integers(1, events_max)))
    ]


@st.composite
def ruled(draw: st.DrawFn, *, rules_max: int = 3) -> list[Told]:
    """Draw events that rule the rest, each under an id of its own."""
    named = pools()
    models = draw(st.lists(st.sampled_from(GOVERNANCE), max_size=rules_max))
    return [
        Told(draw(events(model, named)), f"rule-{number}", None, 0, {})
        for number, model in enumerate(models)
    ]


@st.composite
def histories(draw: st.DrawFn) -> list[Told]:
    """Draw a whole history: what some agents tell, and what rules them at any point of it."""
    agents = AGENTS[: draw(st.integers(1, len(AGENTS)))]
    whole = draw(told_by(agents))
    for rule in draw(ruled()):
        whole.insert(draw(st.integers(0, len(whole))), rule)
    return whole


def codec_of(partitions: int) -> Codec:
    """Return the codec of a log of the tests' tenant."""
    return Codec(tenant=TENANT, partitions=partitions)
