"""A conversation of the OpenHands SDK as it was saved (`base_state.json`): a checkpoint.

The settings of models, tools and secrets are left behind: they are no memory, and keys stand there.
"""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from mnemolog.importers.base import Found, Options, Scope, Source, Telling
from mnemolog.importers.documents import Document
from mnemolog.importers.shapes import listed, mapping
from mnemolog.importers.teller import Teller
from mnemolog.importers.usage import tokens_of
from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.events.experience import CheckpointSaved
from mnemolog.schemas.ids import check_name

FORMAT: Final = "openhands-llm-logs"
AGENT_DEFAULT: Final = "openhands"
_MARKS: Final = frozenset({"execution_status", "agent_status", "confirmation_policy"})
_KEPT: Final = (
    *("execution_status", "agent_status", "max_iterations", "activated_knowledge_skills"),
    *("activated_knowledge_microagents", "activated_path_rules", "invoked_skills"),
    *("blocked_actions", "blocked_messages", "last_user_message_id", "leaf_event_id", "tags"),
)


def is_state(keys: Collection[str]) -> bool:
    """Say whether an object with *keys* is a saved conversation."""
    return "id" in keys and "agent" in keys and not _MARKS.isdisjoint(keys)


def state(
    document: Document, source: Source, options: Options, moment: datetime
) -> Iterator[Found]:
    """Yield the checkpoint that a saved conversation is; *moment*, as it says none itself."""
    value: dict[str, Any] = document.value
    try:
        named = check_name(value.get("id"), field="id")
    except InvalidEvent as error:
        yield source.problem(document.place, str(error))
        return
    agent = options.agent or AGENT_DEFAULT
    scope = Scope(
        agent=agent, user=options.user, project=options.project, session=named, task=named
    )
    teller = Teller(Telling(FORMAT, scope, seed=(named,)), source)
    kept = json.dumps(value, sort_keys=True)
    digest = hashlib.sha256(kept.encode()).hexdigest()
    teller.at(document.place, moment, item="base_state", key=digest)
    checkpoint = {
        "id": teller.id_of(CheckpointSaved),
        "timestamp": moment,
        "agent": agent,
        "current_goal": f"OpenHands conversation {named}",
        "plan_summary": _summary(value),
        "task_state": {
            "task_id": named,
            "variables": _variables(value),
            "working_memory": mapping(value.get("agent_state")),
            "tokens": {"used": _tokens(value)},
        },
    }
    yield teller.tell(CheckpointSaved, {"checkpoint": checkpoint})


def _summary(value: Mapping[str, Any]) -> str:
    status = value.get("execution_status") or value.get("agent_status")
    where = mapping(value.get("workspace")).get("working_dir")
    told = (f"status: {status}" if status else "", f"working directory: {where}" if where else "")
    return ", ".join(filter(None, told)) or "status unknown"


def _variables(value: Mapping[str, Any]) -> dict[str, Any]:
    agent = mapping(value.get("agent"))
    tools = agent.get("tools")
    names = [mapping(tool).get("name") for tool in listed(tools)]
    known = {
        **{key: value.get(key) for key in _KEPT},
        "model": mapping(agent.get("llm")).get("model"),
        "tools": [name for name in names if name],
        "working_directory": mapping(value.get("workspace")).get("working_dir"),
    }
    return {key: kept for key, kept in known.items() if kept not in (None, [], {})}


def _tokens(value: Mapping[str, Any]) -> int:
    """Return the tokens spent so far, by all models."""
    spent = mapping(mapping(value.get("stats")).get("usage_to_metrics")).values()
    uses = [mapping(metrics).get("accumulated_token_usage") for metrics in spent]
    return sum(sum(tokens_of(use)) for use in uses)
