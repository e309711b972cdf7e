"""Small Langfuse traces, with words of our own.

trace(generation("g1", heard=[user("Hi")], said=assistant("Hello")), tool("t1", ...))
"""

import json
from typing import Any

DAY = "2025-03-01T10:00:"
USAGE = {"input": 12, "output": 3, "total": 15}


def at(seconds: float) -> str:
    return f"{DAY}{seconds:06.3f}Z"


def user(text: str) -> dict:
    return {"role": "user", "content": text}


def system(text: str) -> dict:
    return {"role": "system", "content": text}


def assistant(text: str | None = None, *calls: dict) -> dict:
    return {"role": "assistant", "content": text, "tool_calls": list(calls)}


def asks(tool: str, call_id: str | None = "call-1", **arguments) -> dict:
    """Return a call of a tool within an assistant's message."""
    return {"id": call_id, "function": {"name": tool, "arguments": json.dumps(arguments)}}


def answers(text: str, call_id: str | None = "call-1") -> dict:
    return {"role": "tool", "content": text, "tool_call_id": call_id}


def observation(
    name: str, kind: str, begun: float, ended: float | None, *, parent: str | None = "root", **rest
) -> dict:
    return {
        "id": name,
        "traceId": "trace-1",
        "type": kind,
        "name": name,
        "parentObservationId": parent,
        "startTime": at(begun),
        "endTime": None if ended is None else at(ended),
        "level": "DEFAULT",
        **rest,
    }


def generation(
    name: str,
    *,
    heard: Any = None,
    said: Any = None,
    begun: float = 1,
    ended: float | None = 2,
    **rest,
) -> dict:
    cost = {"model": "small-1", "usageDetails": USAGE, "totalCost": 0.25}
    given = {"input": json.dumps(heard), "output": json.dumps(said), **cost, **rest}
    return observation(name, "GENERATION", begun, ended, **given)


def tool(
    name: str,
    given: Any,
    answer: Any,
    *,
    begun: float = 2,
    ended: float | None = 3,
    call_id: str | None = "call-1",
    **rest,
) -> dict:
    metadata = json.dumps({"attributes": {"gen_ai.tool.call.id": call_id}})
    told = {"input": json.dumps(given), "output": json.dumps(answer), "metadata": metadata}
    return observation(name, "TOOL", begun, ended, **{**told, **rest})


def root(**rest) -> dict:
    return observation("root", "SPAN", 0, 9, **{"parent": None, **rest})


def score(name: str, value: Any, **rest) -> dict:
    shared = {"id": f"score-{name}", "source": "EVAL", "dataType": "NUMERIC", "timestamp": at(30)}
    return {"name": name, "value": value, "observationId": None, **shared, **rest}


def trace(*observations: dict, session: str | None = None, scores: Any = (), **rest) -> dict:
    """Return a trace that stands by itself, or is a turn of *session*."""
    said = {
        "id": "trace-1",
        "projectId": "p",
        "name": "clerk",
        "timestamp": at(0),
        "sessionId": session,
        "userId": None,
        "scores": list(scores) if isinstance(scores, tuple | list) else scores,
        **rest,
    }
    top = () if any(o.get("parentObservationId") is None for o in observations) else (root(),)
    return {"trace": said, "observations": [*top, *observations]}
