"""The analysts' tables, row by row in plain Python: what the fold in SQL has to agree with."""

from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

from mnemolog.projections.batch import Batch
from mnemolog.projections.choosing import PolicyInForce, Step
from mnemolog.projections.formed_memory import FormedMemory
from mnemolog.projections.said import forgotten_by, said_by
from mnemolog.projections.write_rule import formed_in
from mnemolog.schemas.decoded import Ours
from mnemolog.schemas.events import memory as mem
from mnemolog.schemas.policy import BUILT_IN
from mnemolog.schemas.text import normalised
from support.analytics_rows import Row, memory_row, rows_of, scope_of

# What is null in a row whose event is forgotten.
_ERASED = {
    "events": ("data",),
    "messages": ("text", "parts"),
    "observations": ("text", "data"),
    "decisions": ("what", "why", "alternatives"),
    "action_events": ("arguments", "raw", "result", "error", "data"),
    "feedback": ("label", "comment"),
    "memory_changes": ("text", "reason"),
    "told_links": ("reason",),
    "recalls": ("question", "missing"),
    "recalled_memories": (),
    "uses": ("purpose",),
    "task_events": ("goal", "plan", "steps", "note", "reason", "needs", "outcome", "lesson"),
    "session_events": ("title", "instructions", "outcome"),
    "checkpoints": (
        *("goal", "sub_goal", "plan", "observations", "rationale", "reflection", "tags"),
    ),
}


def tables(batch: Batch) -> dict[str, list[Row]]:
    """Return every table's rows after the events of *batch*, which has no repeats."""
    items = [item for item in batch.items if isinstance(item, Ours)]
    found: dict[str, list[Row]] = defaultdict(list)
    for item in items:
        for table, row in rows_of(item):
            found[table].append({**scope_of(item), **row})
    in_force = PolicyInForce(0, BUILT_IN)
    formed = [m for item in items for m in formed_in(batch, Step(item, in_force)).memories]
    by_identity = {item.identity: item for item in items}
    for memory in formed:
        found["formed_memories"].append(memory_row(memory))
        for drawn in memory.from_memories:
            scope = scope_of(by_identity[memory.identity])
            ends, kind = (drawn, memory.id), "causes"
            if memory.event_type == "knowledge.consolidated":
                ends, kind = (memory.id, drawn), "summarises"
            link = {"from_memory": ends[0], "to_memory": ends[1], "kind": kind}
            found["told_links"].append({**scope, **link, "score": 1000, "reason": None})
    return _without_forgotten(found, items, formed)


def _without_forgotten(
    found: dict[str, list[Row]], items: Sequence[Ours], formed: Sequence[FormedMemory]
) -> dict[str, list[Row]]:
    """Erase what is forgotten, looking at the whole history at once."""
    said = [i.recorded for i in items if isinstance(i.recorded.event, mem.MemoryForgotten)]
    forgetting = [one.event for one in said]
    ids = {memory for event in forgetting for memory in event.memories}
    events = {named for event in forgetting for named in event.events}
    texts = {normalised(text) for one in said for text in forgotten_by(one)}
    named = {item.identity for item in items if item.identity in events or _words(item) & texts}
    gone = [
        memory
        for memory in formed
        if memory.id in ids or memory.identity in named or normalised(memory.text) in texts
    ]
    ids |= {memory.id for memory in gone}
    erased = {UUID(one) for one in named | {memory.identity for memory in gone}}
    erased |= {row["identity"] for row in found["memory_changes"] if row["memory"] in ids}
    erased |= {
        row["identity"]
        for row in found["told_links"]
        if {row["from_memory"], row["to_memory"]} & ids
    }
    found["formed_memories"] = [m for m in found["formed_memories"] if m["memory"] not in ids]
    for table, names in _ERASED.items():
        for row in found[table]:
            if row["identity"] in erased:
                row.update(dict.fromkeys(names), forgotten=True)
    return found


def _words(item: Ours) -> set[str]:
    return {normalised(text) for text in said_by(item.recorded)}
