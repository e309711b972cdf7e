"""What the views of analysts derive, in plain Python, from the rows of their tables."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import product, zip_longest

from support.analytics_rows import Row


def latest(rows: Iterable[Row]) -> Row | None:
    """Return the row that counts: a key's last by position, of several keys the last in time."""
    last: dict[str, Row] = {}
    for row in rows:
        if row["key"] not in last or last[row["key"]]["log_offset"] < row["log_offset"]:
            last[row["key"]] = row
    return max(
        last.values(), key=lambda row: (row["occurred_at"], row["identity"].hex), default=None
    )


def memories(found: dict[str, list[Row]]) -> list[Row]:
    """Return what the view `memories` derives, by memory."""
    changes: dict[str, list[Row]] = defaultdict(list)
    for row in found["memory_changes"]:
        changes[row["memory"]].append(row)
    # An event uses a memory once, however often it names it.
    uses = Counter(memory for memory, _ in {(r["memory"], r["identity"]) for r in found["uses"]})
    return [_state(m, changes[m["memory"]], uses[m["memory"]]) for m in found["formed_memories"]]


def _state(memory: Row, changes: list[Row], uses: int) -> Row:
    def of(kind: str) -> list[Row]:
        return [row for row in changes if row["change"] == f"memory.{kind}"]

    importance, pinned = latest(of("importance-changed")), latest(of("pinned"))
    by = latest(row for row in of("superseded") if row["superseded_by"])
    ends = [row["valid_until"] for row in [memory, *changes] if row["valid_until"]]
    return {
        "memory": memory["memory"],
        "importance": importance["importance"] if importance else memory["importance"],
        "pinned": bool(pinned and pinned["pinned"]),
        "archived": bool(of("archived")),
        "superseded": bool(of("superseded")),
        "superseded_by": by and by["superseded_by"],
        "valid_until": min(ends, default=None),
        "uses": uses,
    }


_STATUS = {
    "task.started": "running",
    "task.resumed": "running",
    "task.blocked": "blocked",
    "task.paused": "paused",
    "task.completed": "completed",
    "task.abandoned": "abandoned",
}


def tasks(found: dict[str, list[Row]]) -> list[Row]:
    """Return what the view `tasks` derives, by task."""
    names = {row["task"] for row in found["events"]} - {None}
    return [_task(name, [r for r in found["task_events"] if r["task"] == name]) for name in names]


def _task(name: str, rows: list[Row]) -> Row:
    def of(*changes: str) -> Row:
        return latest(row for row in rows if row["change"] in changes) or defaultdict(lambda: None)

    state = of(*_STATUS)
    return {
        "task": name,
        "status": _STATUS.get(state["change"]),
        "phase": of("task.phase-changed")["to_phase"],
        "done": of("task.progressed")["done"],
        "outcome": state["outcome"],
        "lesson": state["lesson"],
    }


def sessions(found: dict[str, list[Row]]) -> list[Row]:
    """Return what the view `sessions` derives, by session."""
    names = {row["session"] for row in found["events"]} - {None}
    return [_session(name, found) for name in names]


def _session(name: str, found: dict[str, list[Row]]) -> Row:
    def of(table: str) -> list[Row]:
        return [row for row in found[table] if row["session"] == name]

    last = latest(of("session_events"))
    ended = last is not None and last["change"] == "session.ended"
    return {
        "session": name,
        "status": "ended" if ended else "open",
        "events": len(of("events")),
        "messages": len(of("messages")),
        "tokens_in": sum(row["tokens_in"] or 0 for row in of("events")),
    }


def actions(found: dict[str, list[Row]]) -> list[Row]:
    """Return what the view `actions` derives: a call for each start, with its end if it has one."""
    calls: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in sorted(found["action_events"], key=lambda row: row["log_offset"]):
        calls[row["key"], row["action"]].append(row)
    ends = [row for row in found["session_events"] if row["change"] == "session.ended"]
    ends += [r for r in found["task_events"] if r["change"] in {"task.completed", "task.abandoned"}]
    return [call for rows in calls.values() for call in _calls(rows, ends)]


def _calls(rows: list[Row], ends: list[Row]) -> Iterator[Row]:
    starts = [row for row in rows if row["change"] == "action.started"]
    answers = [row for row in rows if row["change"] == "action.finished"]
    answers.sort(key=lambda row: row["orphaned"])  # an answer holds, late as it is
    for start, answer in zip_longest(starts or [None], answers[: max(len(starts), 1)]):
        told = start or answer
        yield {
            "key": told["key"],
            "action": told["action"],
            "started_identity": start and start["identity"],
            "finished_identity": answer and answer["identity"],
            "status": _status(start, answer, ends),
        }


def _status(start: Row | None, answer: Row | None, ends: list[Row]) -> str:
    if answer is not None:
        return "orphaned" if answer["orphaned"] else _ENDED[answer["success"]]
    assert start is not None
    return "orphaned" if any(_leaves_behind(end, start) for end in ends) else "running"


_ENDED = {True: "succeeded", False: "failed"}


def _leaves_behind(end: Row, start: Row) -> bool:
    """Say whether what *start* belongs to ended after it."""
    what = end["change"].partition(".")[0]
    if start[what] is None or start[what] != end[what]:
        return False
    if end["key"] == start["key"]:
        return end["log_offset"] > start["log_offset"]
    return end["occurred_at"] >= start["occurred_at"]


def links(found: dict[str, list[Row]]) -> list[Row]:
    """Return what the view `links` derives: told or by a cause, between memories that are there."""
    formed = found["formed_memories"]
    there = {row["memory"] for row in formed}
    cause_of = {row["identity"]: row["cause"] for row in found["events"]}
    rows = [
        {name: row[name] for name in ("identity", "from_memory", "to_memory", "kind", "score")}
        for row in found["told_links"]
        if {row["from_memory"], row["to_memory"]} <= there
    ]
    for caused, cause in product(formed, formed):
        is_cause = cause["event_id"] == cause_of[caused["identity"]]
        if is_cause and cause["identity"] != caused["identity"]:
            ends = {"from_memory": cause["memory"], "to_memory": caused["memory"]}
            rows.append({"identity": caused["identity"], **ends, "kind": "causes", "score": 1000})
    return list({tuple(row.values()): row for row in rows}.values())


VIEWS: dict[str, Callable[[dict[str, list[Row]]], list[Row]]] = {
    "memories": memories,
    "tasks": tasks,
    "sessions": sessions,
    "actions": actions,
    "links": links,
}
