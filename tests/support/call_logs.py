"""A conversation as the logs of its model calls, each with all that was said before it."""

from support.chats import answer, asks, call, user

MODEL = "small-1"
STARTED = 1_757_015_020.5  # seconds since 1970: 2025-09-04 19:43:40.5
SYSTEM = {"role": "system", "content": [{"type": "text", "text": "You mend lifts."}]}
CALL_IDS = ("call_9f2c41d07ab35e68", "call_1b7de02c9a4f8853")


def answered(message: dict, *, number: int = 0, **fields) -> dict:
    """Return a response as litellm has it: the parts joined, and keys that the history lacks."""
    said = {"function_call": None, **message}
    usage = {"prompt_tokens": 100 + number, "completion_tokens": 7, "total_tokens": 107 + number}
    known = {"id": f"resp-{number}", "created": int(STARTED) + 10 * number, "model": MODEL}
    return {**known, "usage": usage, "choices": [{"index": 0, "message": said}], **fields}


def call_log(messages: list, response: dict | None, *, number: int = 0, **fields) -> dict:
    known = {
        "messages": messages,
        "tools": [],
        "kwargs": {"temperature": 0.0},
        "context_window": 8_000,
        "response": response,
        "cost": 0.25,
        "timestamp": STARTED + 10 * number,
        "latency_sec": 2.5,
    }
    return {**known, **fields}


def in_parts(message: dict) -> dict:
    """Return *message* as the history has it: its text as a part, marked for the cache."""
    part = {"type": "text", "text": message["content"], "cache_control": {"type": "ephemeral"}}
    return {**message, "content": [part]}


TURNS = [
    SYSTEM,
    user("The lift in hall B hangs."),
    asks(call("look", '{"hall": "B"}', call_id=CALL_IDS[0]), text="Let me look at it."),
    answer("door 3 is ajar", call_id=CALL_IDS[0]),
    asks(call("shut", '{"door": 3}', call_id=CALL_IDS[1]), text="A door is ajar."),
    answer("shut", call_id=CALL_IDS[1]),
    {"role": "assistant", "content": "It runs again."},
]


def call_logs(turns: list = TURNS, **fields) -> list[dict]:
    """Return the log of each answer of the assistant in *turns*."""
    logs = []
    for index, turn in enumerate(turns):
        if turn["role"] == "assistant":
            number = len(logs)
            before = [in_parts(t) if t["role"] == "assistant" else t for t in turns[:index]]
            logs.append(call_log(before, answered(turn, number=number), number=number, **fields))
    return logs
