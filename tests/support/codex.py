"""Lines of Codex rollouts, in our own words.

meta(), item("message", role="user", content="Mend the lift."), call("c1"), output("c1"), ...
"""

import json

SESSION = "r-1"


def line(type_: str, payload, *, second: int = 0) -> dict:
    return {"timestamp": f"2026-01-02T03:04:{second:02}.000Z", "type": type_, "payload": payload}


def meta(session=SESSION, **fields) -> dict:
    return line("session_meta", {"id": session, "cwd": "/home/kari/ferry", **fields})


def item(kind: str, **fields) -> dict:
    return line("response_item", {"type": kind, **fields})


def event(kind: str, **fields) -> dict:
    return line("event_msg", {"type": kind, **fields})


def said(role: str, text: str) -> dict:
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": text}])


def shown(role: str, text: str, **fields) -> dict:
    return event("agent_message" if role == "assistant" else "user_message", message=text, **fields)


def thought(*texts: str) -> dict:
    summary = [{"type": "summary_text", "text": text} for text in texts]
    return item("reasoning", summary=summary, encrypted_content="x")


def call(call_id: str, tool: str = "shell", **arguments) -> dict:
    return item("function_call", call_id=call_id, name=tool, arguments=json.dumps(arguments))


def output(call_id: str, result="done") -> dict:
    return item("function_call_output", call_id=call_id, output=result)


def turn(model: str = "small-1") -> dict:
    return line("turn_context", {"model": model, "cwd": "/home/kari/ferry"})


def spent(into: int, out: int, *, total: int) -> dict:
    last = {"input_tokens": into, "output_tokens": out}
    info = {"last_token_usage": last, "total_token_usage": {"total_tokens": total}}
    return event("token_count", info=info)
