"""Runs of an agent as OpenHands writes them, in the present format and in the old one."""

from typing import Any

BEGAN = "2025-04-30T16:32:5{}.5"
SYSTEM = {
    "id": 0,
    "timestamp": BEGAN.format(0),
    "source": "agent",
    "action": "system",
    "args": {"content": "You mend lifts.", "agent_class": "LiftAgent", "tools": []},
}


def event(number: int, source: str = "agent", **fields: Any) -> dict:
    return {"id": number, "timestamp": BEGAN.format(number % 10), "source": source, **fields}


def says(number: int, text: str, *, source: str = "user", **fields: Any) -> dict:
    args = {"content": text, "image_urls": None, "wait_for_response": False}
    return event(number, source, message=text, action="message", args=args, **fields)


def acts(number: int, action: str, *, thought: str = "", **args: Any) -> dict:
    metadata = {"tool_call_id": f"toolu_{number}", "model_response": {}}
    known = {"action": action, "tool_call_metadata": metadata}
    return event(number, message="…", args={**args, "thought": thought}, **known)


def shows(number: int, observation: str, text: str, *, cause: int | None, **fields: Any) -> dict:
    extras = fields.pop("extras", {})
    known = {"observation": observation, "content": text, "extras": extras}
    told = {} if cause is None else {"cause": cause}
    return event(number, **known, **told, **fields)


EVENTS = [
    SYSTEM,
    says(1, "The lift in hall B hangs."),
    acts(3, "run", thought="Let me look.\nIt may be a door.", command="look B"),
    shows(4, "run", "door 3 is ajar", cause=3, success=True, extras={"command": "look B"}),
    acts(5, "edit", path="/doors", new_str="shut"),
    shows(6, "edit", "ERROR:\nNo such file", cause=5),
    acts(7, "think", thought="The path is wrong."),
    shows(8, "think", "Your thought has been logged.", cause=7),
    acts(9, "finish", thought="All is done.", final_thought="It runs.", task_completed="true"),
]


def run(history: Any = EVENTS, **fields: Any) -> dict:
    known = {
        "instance_id": "lift-7",
        "test_result": {"git_patch": "diff --git a/doors b/doors\n+shut"},
        "instruction": "<files>\nThe lift in hall B hangs.",
        "metadata": {
            "agent_class": "LiftAgent",
            "llm_config": {"model": "lab/small-1"},
            "start_time": "2025-04-30 16:31:22",
        },
        "history": history,
        "metrics": {"accumulated_cost": 0.5},
        "error": None,
        "instance": {"repo": "house/lifts", "problem_statement": "Lift B hangs\nSince noon."},
    }
    return {**known, **fields}


OLD_EVENTS = [
    {"action": "message", "content": "Please fix it.", "images_urls": None},
    {"action": "run", "command": "touch LICENSE", "thought": "First the file."},
    {"observation": "run", "command": "touch LICENSE", "exit_code": 0, "content": ""},
    {"action": "run_ipython", "code": "write()", "thought": ""},
    {"observation": "run_ipython", "code": "write()", "content": "written"},
    {"action": "run", "command": "cat NOTICE", "thought": "And the notice?"},
    {"observation": "run", "command": "cat NOTICE", "exit_code": 1, "content": "no such file"},
    {"action": "finish", "outputs": {}, "thought": "The licence is there."},
]


def old_run(history: Any = OLD_EVENTS, **fields: Any) -> dict:
    known = {
        "issue": {"owner": "house", "repo": "lifts", "number": 5, "title": "Add a licence"},
        "issue_type": "issue",
        "instruction": "Please fix it.",
        "git_patch": "diff --git a/LICENSE b/LICENSE",
        "history": history,
        "metrics": {"accumulated_cost": 0.75, "costs": [0.25, 0.5]},
        "success": True,
        "result_explanation": "The licence was added.",
        "error": None,
    }
    return {**known, **fields}
