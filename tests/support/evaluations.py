"""Small evaluation logs as Inspect writes them, with words of our own.

evaluation(sample(model([user("Hi")], says("Hello")), score("C")))
"""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

USAGE = {"input_tokens": 12, "output_tokens": 3, "total_tokens": 15}


def at(seconds: float) -> str:
    return f"2025-03-01T10:00:{seconds:06.3f}+00:00"


def user(text: Any) -> dict:
    return {"role": "user", "content": text, "source": "input"}


def says(text: Any = "", *calls: dict) -> dict:
    return {"role": "assistant", "content": text, "source": "generate", "tool_calls": list(calls)}


def asks(tool: str, call_id: str = "call-1", **arguments) -> dict:
    return {"id": call_id, "function": tool, "arguments": arguments}


def answers(text: str, call_id: str = "call-1", **rest) -> dict:
    return {"role": "tool", "content": text, "tool_call_id": call_id, **rest}


def event(kind: str, seconds: float = 1, **rest) -> dict:
    return {"event": kind, "timestamp": at(seconds), **rest}


def model(heard: list, said: dict | None, *, begun: float = 1, ended: float = 2, **rest) -> dict:
    choices = [] if said is None else [{"message": said, "stop_reason": "stop"}]
    output = {"model": "small-1", "choices": choices, "usage": USAGE}
    told = {"model": "maker/small", "input": heard, "output": output, "completed": at(ended)}
    return event("model", begun, **{**told, **rest})


def tool(
    name: str, result: Any = "", *, begun: float = 2, ended: float = 3, call_id="call-1", **rest
) -> dict:
    told = {"type": "function", "id": call_id, "function": name, "arguments": {}, "result": result}
    return event("tool", begun, **{**told, "completed": at(ended), "events": [], **rest})


def span(name: str, kind: str, *held: dict, seconds: float = 1) -> list[dict]:
    """Return a span and what happened in it."""
    begun = event("span_begin", seconds, id=name, span_id=name, type=kind, name=name)
    inside = [{"span_id": name, **one} for one in held]
    return [begun, *inside, event("span_end", seconds, id=name, span_id=name)]


def score(value: Any, *, seconds: float = 8, **rest) -> dict:
    return event("score", seconds, score={"value": value, **rest})


def changed(kind: str, *changes: tuple, seconds: float = 4) -> dict:
    """Return a change of a state or store: each of (op, path) or (op, path, value)."""
    names = ("op", "path", "value")
    return event(kind, seconds, changes=[dict(zip(names, c, strict=False)) for c in changes])


def sample(*events: Any, **rest) -> dict:
    row = [one for held in events for one in (held if isinstance(held, list) else [held])]
    shared = {"id": 1, "epoch": 1, "input": "Which trains leave today?", "target": "two"}
    return {**shared, "uuid": "sample-1", "messages": [], "events": row, "scores": {}, **rest}


def evaluation(*samples: dict, status: str = "success", **rest) -> dict:
    return {
        "version": 2,
        "status": status,
        "eval": {
            "run_id": "run-1",
            "created": at(0),
            "task": "trains",
            "model": "maker/small",
        },
        "plan": {"steps": [{"solver": "use_tools"}, {"solver": "generate"}]},
        "results": {"scores": [{"name": "match", "metrics": {"accuracy": {"value": 1.0}}}]},
        "stats": {"started_at": at(0), "completed_at": at(50), "model_usage": {}},
        "samples": list(samples),
        **rest,
    }


def archived(log: dict, *, header: bool = True, **how) -> bytes:
    """Return a log as the bytes of an archive; without a header it is still running."""
    rest = {key: value for key, value in log.items() if key != "samples"}
    members = {"_journal/start.json": {key: rest[key] for key in ("version", "eval", "plan")}}
    for one in log["samples"]:
        members[f"samples/{one['id']}_epoch_{one['epoch']}.json"] = one
    if header:
        members["header.json"] = rest
    return packed(members, **how)


def packed(members: dict[str, Any], *, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return an archive of *members*: values as JSON, bytes as they are."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, value in members.items():
            content = value if isinstance(value, bytes) else json.dumps(value).encode()
            archive.writestr(name, content)
    return file.getvalue()


def written(folder: Path, content: bytes, *, name: str = "in.eval") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path
