"""What the views of analysts derive, in plain Python, from the rows of their tables."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable

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
    """Return what the view `actions` derives, by key and action."""
    ended = {row["session"] for row in sessions(found) if row["status"] == "ended"}
    over = {row["task"] for row in tasks(found) if row["status"] in {"completed", "abandoned"}}
    calls: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in sorted(found["action_events"], key=lambda row: row["log_offset"]):
        calls[row["key"], row["action"]].append(row)
    return [_action(key, action, rows, ended, over) for (key, action), rows in calls.items()]


def _action(key: str, action: str, rows: list[Row], ended: set[str], over: set[str]) -> Row:
    def first(change: str) -> Row | None:
        return next((row for row in rows if row["change"] == f"action.{change}"), None)

    rows = sorted(rows, key=lambda row: bool(row["orphaned"]))  # an answer holds, late as it is
    start, end = first("started"), first("finished")
    told = start or end
    assert told is not None
    if end is not None and end["orphaned"]:
        status = "orphaned"
    elif end is not None:
        status = "succeeded" if end["success"] else "failed"
    else:
        status = "orphaned" if told["session"] in ended or told["task"] in over else "running"
    return {"key": key, "action": action, "status": status}


VIEWS: dict[str, Callable[[dict[str, list[Row]]], list[Row]]] = {
    "memories": memories,
    "tasks": tasks,
    "sessions": sessions,
    "actions": actions,
}
