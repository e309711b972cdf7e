"""SWE-agent's runs as it writes them: steps, messages, and how they ended."""

import json
from typing import Any

SYSTEM = {"role": "system", "content": "You mend code.", "agent": "main"}
DEMO = {"role": "user", "content": "DEMONSTRATION", "agent": "main", "is_demo": True}
TASK = {
    "role": "user",
    "content": "We solve an issue.\nISSUE:\nThe lift hangs\nSince noon.\n\n(Open file: n/a)",
    "agent": "main",
}


def step(action: str, observation: Any, *, thought: str = "", **fields: Any) -> dict:
    response = f"{thought}\n```\n{action}\n```"
    known = {"action": action, "observation": observation, "response": response}
    return {**known, "thought": thought, "state": {"open_file": "n/a"}, **fields}


STEPS = [
    step("ls -F\n", "doors.py\n", thought="Look first.\nThen think.\n"),
    step("open doors.py", "1: shut", thought="Open it.", state={"open_file": "doors.py"}),
    step("submit", "\r\ndiff --git a/doors.py\r\n+open", thought="", execution_time=0.25),
]


def traj(steps: Any = STEPS, **fields: Any) -> dict:
    known = {
        "environment": "main",
        "trajectory": steps,
        "history": [SYSTEM, DEMO, TASK, {"role": "assistant", "content": "…", "agent": "main"}],
        "info": {
            "exit_status": "submitted",
            "submission": "\ndiff --git a/doors.py\n+open\n",
            "model_stats": {"instance_cost": 0.5, "tokens_sent": 70, "tokens_received": 7},
        },
        "replay_config": json.dumps(
            {
                "agent": {"model": {"name": "small-1", "api_key": "hush"}},
                "problem_statement": {"id": "lift-7", "text": "Mend the lift\nnow"},
            }
        ),
    }
    return {name: value for name, value in {**known, **fields}.items() if value is not None}


def called(name: str, arguments: str, *, call_id: str, thought: str) -> list[dict]:
    """Return a message that calls a tool, and its answer, as a history has them."""
    function = {"name": name, "arguments": arguments}
    calls = [{"id": call_id, "type": "function", "function": function}]
    asked = {"role": "assistant", "content": thought, "thought": thought, "agent": "main"}
    shown = {"role": "tool", "content": f"{name} done", "tool_call_ids": [call_id]}
    return [{**asked, "action": f"{name} x", "tool_calls": calls}, {**shown, "agent": "main"}]


HISTORY = [
    SYSTEM,
    TASK,
    *called("find_file", '{"file": "doors.py"}', call_id="call_1", thought="Find it."),
    {"role": "assistant", "content": "Look.\n```\nls\n```", "thought": "Look.", "action": "ls"},
    {"role": "user", "content": "doors.py", "message_type": "observation"},
    *called("submit", "{}", call_id="call_2", thought="Done."),
]
