"""Chat messages and judged runs, as OpenAI's API and tau-bench write them."""


def call(name: str, arguments="{}", *, call_id: str = "c1") -> dict:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def asks(*calls: dict, text: str | None = None) -> dict:
    return {"role": "assistant", "content": text, "tool_calls": list(calls)}


def answer(text: str, *, call_id: str = "c1") -> dict:
    return {"role": "tool", "tool_call_id": call_id, "name": "seats", "content": text}


def user(text) -> dict:
    return {"role": "user", "content": text}


def says(text) -> dict:
    return {"role": "assistant", "content": text}


SYSTEM = {"role": "system", "content": "As a railway agent, be brief."}
MESSAGES = [
    SYSTEM,
    user("A window seat to Bergen, please."),
    asks(call("seats", '{"to": "Bergen"}')),
    answer('{"free": ["12A"]}'),
    says("12A is yours."),
]


def run(messages=MESSAGES, **fields) -> dict:
    known = {"task_id": 7, "trial": 1, "reward": 1.0, "info": {"task": {"user_id": "kari"}}}
    return {**known, **fields, "traj": messages}
