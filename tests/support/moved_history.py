"""A history with something of every kind that a log may hold, to be moved to another log.

What stands on the log is fixed but for fresh ids; what of it is applied depends on the number of
partitions, since a crash left a policy in half of them only.
"""

import json
from collections.abc import Callable
from typing import Any

from mnemolog.ledgers import counts_in, foreign_in
from mnemolog.memory import Memory
from mnemolog.projections.kinds import NAMES
from mnemolog.schemas.envelope import Envelope
from mnemolog.schemas.events.governance import PolicyChanged, ProcessorAdvanced
from mnemolog.schemas.foreign import unmarked
from mnemolog.schemas.ids import identity_of
from mnemolog.schemas.partitioning import COPY_OF, governance_copy, partition_of
from mnemolog.schemas.policy import Policy, WritePolicy
from support import small_history
from support.histories import agents

PutRaw = Callable[..., None]  # (partition, key=, value=, headers=)
FOREIGN_MAX = 100
LONG = "a long result, " * 40_000
RULES = {"write": {"importance": 0.1}}


def fill(memory: Memory, put_raw: PutRaw) -> None:
    """Append the history; *put_raw* puts there what no publisher of ours would."""
    told = small_history.history()
    memory.engine.publisher.govern(small_history.policy())
    memory.engine.publisher.append(told[:8])
    _guests(memory, put_raw)
    memory.append("policy.changed", {"revision": 3, "policy": RULES})
    memory.engine.publisher.append(told[8:15])
    _foreign(memory, put_raw)
    _half_a_set(memory)
    for agent in agents(partitions=4):  # one in each of four partitions
        memory.observe(f"what {agent} saw under the policy of its partition", agent=agent)
    memory.engine.publisher.append(told[15:])
    _parked(memory, put_raw)
    memory.append("policy.changed", {"revision": 2, "policy": {}})  # too late to rule
    _of_all_kinds(memory)


def _key(memory: Memory, name: str) -> tuple[int, bytes]:
    key = name.encode()
    return partition_of(key, partitions=memory.engine.log.partitions), key


def _document(memory: Memory, agent: str | None, **changed: Any) -> bytes:
    told = {
        "specversion": "1.0",
        "id": "raw-1",
        "source": "/tests",
        "agent": agent,
        "type": "mnemolog.observation.recorded",
        "time": "2030-03-02T08:00:00Z",
        "data": {"text": "published by hand"},
        "tenant": memory.engine.settings.tenant,
        **changed,
    }
    return json.dumps({n: v for n, v in told.items() if v is not None}, indent=1).encode()


def _guests(memory: Memory, put_raw: PutRaw) -> None:
    partition, key = _key(memory, "build-server")
    told = {"type": "com.example.built", "data": [1, {"ok": True}]}
    put_raw(partition, key=key, value=_document(memory, None, **told))
    named = {**told, "id": "raw-2", "time": None, "task": "auth", "session": "../x"}
    put_raw(partition, key=key, value=_document(memory, None, **named))
    headers = [("content-type", b"text/plain"), ("trace", b"\xff")]
    headers += [
        (f"ce_{name}", value)
        for name, value in {
            "specversion": b"1.0",
            "id": b"raw-3",
            "source": b"/tests",
            "type": b"com.example.said",
            "partitionkey": key,
        }.items()
    ]
    put_raw(partition, key=key, value="好\0".encode(), headers=tuple(headers))


def _foreign(memory: Memory, put_raw: PutRaw) -> None:
    partition, key = _key(memory, small_history.OPS)
    for value in (None, b"", b"null", b"not json", b"not json", b"\x00\x00\x00\x27\x0f{}"):
        put_raw(0, key=b"m1", value=value, headers=(("a", None), ("b", b"\xff")))
    put_raw(0, key=None, value=b"{}")
    sound = _document(memory, small_history.OPS, id="foreign-1")
    put_raw(partition, key=b"another", value=sound)
    put_raw(partition, key=key, value=_document(memory, small_history.OPS, tenant="another"))
    if (partitions := memory.engine.log.partitions) > 1:
        put_raw((partition + 1) % partitions, key=key, value=sound)


def _half_a_set(memory: Memory) -> None:
    """Append a policy to every second partition, as a process that dies on its way does."""
    policy, log = Policy(write=WritePolicy(importance=0.9)), memory.engine.log
    for partition in range(0, log.partitions, 2):
        copy_id, key = governance_copy("half", partition, partitions=log.partitions)
        around = Envelope(
            id=copy_id,
            source="/tests",
            occurred_at=small_history.START,
            key=key,
            extensions={COPY_OF: "half"},
        )
        changed = PolicyChanged(revision=4, policy=policy)
        log.append([memory.engine.codec.encode(changed, around)])


def _parked(memory: Memory, put_raw: PutRaw) -> None:
    for agent in ("ann", "bob"):  # what waits behind bob's is let go again by a skip
        partition, key = _key(memory, agent)
        put_raw(partition, key=key, value=_document(memory, agent, data={"text": 5, "n": 1.0}))
        memory.observe(f"behind {agent}'s", agent=agent)
    skipped = identity_of(key="bob", source="/tests", event_id="raw-1")
    memory.append("event.skipped", {"revision": 1, "skipped": skipped})
    partition, key = _key(memory, "eve")
    schema = "urn:mnemolog:schema:observation.recorded:99"
    put_raw(partition, key=key, value=_document(memory, "eve", dataschema=schema))
    memory.observe("behind eve's", agent="eve")


def _of_all_kinds(memory: Memory) -> None:
    memory.observe("naive", agent="fay", occurred_at="2001-02-03T04:05:06")
    memory.observe("caf\udce9 and a NUL: \0", agent="fay", data={"a\0": "\ud800"})
    memory.observe(LONG, agent="fay")
    memory.observe("nobody's")
    memory.observe("once", agent="fay", id="twice")
    memory.observe("and again with other words", agent="fay", id="twice")
    secret = memory.remember("the PIN of fay is 1234", agent="fay")
    memory.forget(secret, agent="fay")
    advanced = ProcessorAdvanced(processor="p", partition=0, offset=3)
    around = Envelope(
        id="mark", source="/tests", occurred_at=small_history.START, key="fay", agent="fay"
    )
    memory.engine.log.append([memory.engine.codec.encode(advanced, around)])


def account(memory: Memory) -> dict[str, Any]:
    """Return what two logs of one history have in common: content, and what is set aside."""
    digests = dict(memory.digests())
    found = {"digests": digests, "parked": {}, "repeats": {}}
    dispatcher = memory.engine.dispatcher
    assert dispatcher is not None
    with dispatcher.paused() as projector:
        for one in projector.projections:
            found["parked"][one.name] = sorted(
                (p.identity, p.behind, p.newer) for p in one.parked()
            )
    for name in NAMES:
        found["repeats"][name] = counts_in(memory.engine, name).get("repeats", 0)
    listed = foreign_in(memory.engine, "checkpoints", records_max=FOREIGN_MAX)
    found["foreign"] = sorted(
        repr((one.record.key, one.record.value, unmarked(one.record.headers), one.reason))
        for one in listed
    )
    return found
