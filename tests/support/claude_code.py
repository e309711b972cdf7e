"""Lines of Claude Code sessions, in our own words.

user("u1", "Mend the lift."), model("a1", said("On it."), parent="u1"), ...
"""

SESSION = "s-1"


def line(kind: str, uuid: str | None, *, parent=None, second: int = 0, **fields) -> dict:
    """Return a line; `second` is its time within one minute."""
    return {
        "type": kind,
        "uuid": uuid,
        "parentUuid": parent,
        "isSidechain": False,
        "sessionId": SESSION,
        "cwd": "/home/kari/ferry",
        "timestamp": f"2025-06-01T10:00:{second:02}Z",
        **fields,
    }


def user(uuid: str, content, **fields) -> dict:
    return line("user", uuid, **{"message": {"role": "user", "content": content}, **fields})


def model(
    uuid: str, *blocks: dict, message: str | None = None, stop=None, usage=None, **fields
) -> dict:
    """Return a line of the model's; its message is called as the line where nothing is said."""
    said = {
        "id": message or f"msg-{uuid}",
        "role": "assistant",
        "model": "small-1",
        "content": list(blocks),
        "stop_reason": stop,
        "usage": usage,
    }
    return line("assistant", uuid, message=said, **fields)


def says(text: str) -> dict:
    return {"type": "text", "text": text}


def thinks(text: str) -> dict:
    return {"type": "thinking", "thinking": text, "signature": "x"}


def calls(call: str, tool: str = "Bash", **arguments) -> dict:
    return {"type": "tool_use", "id": call, "name": tool, "input": arguments}


def answers(call: str, content="done", **fields) -> dict:
    return {"type": "tool_result", "tool_use_id": call, "content": content, **fields}


def usage(out: int, *, into: int = 0, **more) -> dict:
    return {"input_tokens": into, "output_tokens": out, **more}
