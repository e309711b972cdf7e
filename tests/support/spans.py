"""Small spans of OpenTelemetry, with words of our own, and the shapes in which they are written.

as_otlp(span("g1", {"gen_ai.operation.name": "chat", ...}), span(...))
"""

import json
from typing import Any

BEGUN = 1_740_823_200  # 2025-03-01T10:00:00Z
TRACE = "0af7651916cd43dd8448eb211c80319c"


def span(
    name: str,
    attributes: dict[str, Any],
    *,
    begun: float = 1,
    ended: float | None = 2,
    parent: str | None = "root",
    trace: str = TRACE,
    events: tuple[dict, ...] = (),
    error: str | None = None,
) -> dict[str, Any]:
    """Return a span in no shape of its own; seconds count from `BEGUN`."""
    return {
        "name": name,
        "id": name,
        "trace": trace,
        "parent": parent,
        "begun": nanoseconds(begun),
        "ended": None if ended is None else nanoseconds(ended),
        "attributes": attributes,
        "events": list(events),
        "error": error,
    }


def root(**rest) -> dict[str, Any]:
    return span("root", {}, **{"begun": 0, "ended": 9, "parent": None, **rest})


def noted(name: str, *, at: float = 1, **attributes) -> dict[str, Any]:
    """Return an event of a span; "_" in its attributes' names stands for "."."""
    return {"name": name, "at": nanoseconds(at), "attributes": attributes}


def nanoseconds(seconds: float) -> int:
    return BEGUN * 1_000_000_000 + round(seconds * 1_000) * 1_000_000


def as_otlp(*spans: dict, service: str | None = None) -> dict:
    """Return spans as OTLP's JSON has them."""
    named = {} if service is None else {"service.name": service}
    scope = {"scope": {"name": "tests"}, "spans": [_otlp(made) for made in spans]}
    return {"resourceSpans": [{"resource": {"attributes": _pairs(named)}, "scopeSpans": [scope]}]}


def as_python(made: dict) -> dict:
    """Return a span as Python's SDK writes it."""
    status = {"status_code": "ERROR", "description": made["error"]} if made["error"] else {}
    return {
        "name": made["name"],
        "context": {"trace_id": f"0x{made['trace']}", "span_id": f"0x{made['id']}"},
        "parent_id": made["parent"] and f"0x{made['parent']}",
        "start_time": _iso(made["begun"]),
        "end_time": None if made["ended"] is None else _iso(made["ended"]),
        "status": status or {"status_code": "UNSET"},
        "attributes": made["attributes"],
        "events": [{**e, "timestamp": _iso(e["at"])} for e in made["events"]],
    }


def as_javascript(made: dict) -> dict:
    """Return a span as JavaScript's SDK holds it."""
    return {
        "name": made["name"],
        "spanContext": {"traceId": made["trace"], "spanId": made["id"]},
        "parentSpanContext": made["parent"] and {"spanId": made["parent"]},
        "startTime": _hrtime(made["begun"]),
        "endTime": [0, 0] if made["ended"] is None else _hrtime(made["ended"]),
        "status": {"code": 2, "message": made["error"]} if made["error"] else {"code": 0},
        "attributes": made["attributes"],
        "events": [{**e, "time": _hrtime(e["at"])} for e in made["events"]],
    }


def _otlp(made: dict) -> dict:
    return {
        "traceId": made["trace"],
        "spanId": made["id"],
        "parentSpanId": made["parent"] or "",
        "name": made["name"],
        "startTimeUnixNano": str(made["begun"]),
        "endTimeUnixNano": str(made["ended"] or 0),
        "attributes": _pairs(made["attributes"]),
        "events": [
            {**e, "timeUnixNano": str(e["at"]), "attributes": _pairs(e["attributes"])}
            for e in made["events"]
        ],
        "status": {"code": 2, "message": made["error"]} if made["error"] else {},
    }


def _pairs(attributes: dict[str, Any]) -> list[dict]:
    return [{"key": key, "value": _value(value)} for key, value in attributes.items()]


_KEYS = {bool: "boolValue", int: "intValue", float: "doubleValue", str: "stringValue"}


def _value(value: Any) -> dict:
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(item) for item in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": _pairs(value)}}
    if value is None:
        return {}
    return {_KEYS[type(value)]: str(value) if type(value) is int else value}


def _hrtime(at: int) -> list[int]:
    return [at // 1_000_000_000, at % 1_000_000_000]


def _iso(at: int) -> str:
    seconds, rest = divmod(at - BEGUN * 1_000_000_000, 1_000_000_000)
    return f"2025-03-01T10:00:{seconds:02}.{rest // 1_000:06}Z"


def chat(heard: Any, said: Any, **rest) -> dict[str, Any]:
    """Return the attributes of a model's call as the present conventions have them."""
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "small",
        "gen_ai.response.model": "small-1",
        "gen_ai.usage.input_tokens": 12,
        "gen_ai.usage.output_tokens": 3,
        "gen_ai.input.messages": json.dumps(heard),
        "gen_ai.output.messages": json.dumps(said),
        **rest,
    }


def says(role: str, *parts: Any) -> dict[str, Any]:
    """Return a message of the present conventions; a text is a part of type text."""
    given = [{"type": "text", "content": p} if isinstance(p, str) else p for p in parts]
    return {"role": role, "parts": given}


def asks(tool: str, call_id: str = "call-1", **arguments) -> dict[str, Any]:
    return {"type": "tool_call", "id": call_id, "name": tool, "arguments": arguments}


def answers(response: Any, call_id: str = "call-1") -> dict[str, Any]:
    return {"type": "tool_call_response", "id": call_id, "response": response}
