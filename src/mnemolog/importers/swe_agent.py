"""SWE-agent trajectories: thoughts, commands, what they showed, and where the run stood.

A file may lack the steps and have only the messages: then these are told.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from mnemolog.importers.base import (
    Found,
    Options,
    Problem,
    Scope,
    Seconds,
    Source,
    Telling,
    Unreadable,
)
from mnemolog.importers.chat_conversation import linked
from mnemolog.importers.chat_messages import Message, message_of
from mnemolog.importers.documents import Document, documents
from mnemolog.importers.outlines import outlines
from mnemolog.importers.shapes import listed, mapping, text_at
from mnemolog.importers.swe_agent_steps import FORMAT, Steps
from mnemolog.importers.teller import Teller
from mnemolog.importers.usage import model_use
from mnemolog.importers.words import goal_of
from mnemolog.schemas.errors import InvalidEvent, shown
from mnemolog.schemas.events.experience import MessageExchanged, SessionStarted, TaskStarted
from mnemolog.schemas.fields import is_blank
from mnemolog.schemas.ids import check_name
from mnemolog.schemas.values import parse_json

AGENT_DEFAULT: Final = "swe-agent"
_BESIDE: Final = frozenset({"environment", "history", "info"})
_STEP: Final = (b'"action"', b'"observation"', b'"thought"')
_MARKS: Final = (b'"message_type"', b'"is_demo"', b'"agent"')  # of SWE-agent's messages
_ISSUE = re.compile(r"\bISSUE:\s+(\S.*)")


class SWEAgent:
    """Imports SWE-agent trajectories."""

    name = FORMAT

    def recognises(self, path: str, head: bytes) -> bool:
        """Say whether *head* shows a trajectory, or the messages of one."""
        del path
        has_messages = b'"role"' in head and any(mark in head for mark in _MARKS)
        has_steps = all(mark in head for mark in _STEP)
        return any(
            ("trajectory" in keys and (has_steps or not keys.isdisjoint(_BESIDE)))
            or ("history" in keys and has_messages)
            for keys in outlines(head)
        )

    def read(self, source: Source, options: Options) -> Iterator[Found]:
        """Yield the events of each run in *source*, and a Problem for what is none."""
        for document in documents(source):
            if isinstance(document, Problem):
                yield document
            else:
                yield from _run(document, source, options)


@dataclass(frozen=True, slots=True)
class _Opening:
    """What stands in a history before the agent's first turn, without demonstrations."""

    instructions: str
    said: list[tuple[str, Message]]  # place, message
    turns: list[tuple[str, Any]]  # place, message of any kind
    digest: str
    problems: list[tuple[str, str]]  # place, reason


def _run(document: Document, source: Source, options: Options) -> Iterator[Found]:
    run, place, seconds = document.value, document.place, Seconds(options.start)
    steps, history = (listed(mapping(run).get(name)) for name in ("trajectory", "history"))
    if not steps and not history:
        yield source.problem(place, f"{shown(run)} has neither steps nor messages")
        return
    opening = _opening(history, place)
    replay = _replay(run)
    problem = mapping(replay.get("problem_statement"))
    try:
        scope = _scope(problem, opening, steps, options)
    except InvalidEvent as error:
        yield source.problem(place, str(error))
        return
    goal = _goal(text_at(problem, "text"), opening, scope)
    teller = Teller(Telling(FORMAT, scope, seed=(str(scope.session),)), source)
    for where, reason in opening.problems:
        yield source.problem(where, reason)
    teller.at(place, seconds.tick(), item="start", key=opening.digest)
    yield teller.tell(SessionStarted, {"instructions": opening.instructions or None})
    yield teller.tell(TaskStarted, {"goal": goal})
    for number, (_, message) in enumerate(opening.said):
        said = {"role": message.role, "text": message.text}
        parts = {"parts": list(message.parts)} if message.parts else {}
        yield teller.tell(MessageExchanged, {**said, **parts}, number=number)
    told = Steps(teller, scope, goal=goal, digest=opening.digest, clock=seconds)
    if steps:
        yield from told.of_trajectory(steps, place)
    else:
        yield from told.of_history(opening.turns)
    info = mapping(run.get("info"))
    model = mapping(mapping(replay.get("agent")).get("model")).get("name")
    stats = mapping(info.get("model_stats"))
    use = model_use(model, stats, cost_usd=stats.get("instance_cost"))
    yield from told.end(f"{place}, info", info.get("exit_status"), text_at(info, "submission"), use)


def _opening(history: list[Any], place: str) -> _Opening:
    instructions: list[str] = []
    said: list[tuple[str, Message]] = []
    turns: list[tuple[str, Any]] = []
    problems: list[tuple[str, str]] = []
    digest = ""
    for number, value in enumerate(history, start=1):
        where = f"{place}, message {number}"
        if isinstance(value, dict) and value.get("is_demo"):
            continue  # somebody else lived it
        if turns or (isinstance(value, dict) and value.get("role") == "assistant"):
            turns.append((where, value))
            continue
        digest = linked(digest, value)
        try:
            message = message_of(value)
        except Unreadable as error:
            problems.append((where, str(error)))
            continue
        if message.role == "system" and not said:
            instructions.append(message.text)
        else:
            said.append((where, message))
    return _Opening("\n\n".join(instructions), said, turns, digest, problems)


def _scope(
    problem: Mapping[str, Any], opening: _Opening, steps: list[Any], options: Options
) -> Scope:
    """Return whose the run is. Raises InvalidEvent for a name that is none.

    A run is named after its problem and how it begins.
    """
    named = problem.get("id")
    task = None if named is None else check_name(named, field="problem_statement.id")
    digest = opening.digest or linked("", steps[0] if steps else None)
    session = f"{task or FORMAT}-{digest[:16]}"
    return Scope(
        agent=options.agent or AGENT_DEFAULT,
        user=options.user,
        project=options.project,
        session=session,
        task=task or session,
    )


def _goal(problem: str, opening: _Opening, scope: Scope) -> str:
    """Return the first line of the problem or the issue, or else the first paragraph."""
    words = "\n\n".join(message.text for _, message in opening.said)
    issue = _ISSUE.search(words)
    told = (problem.partition("\n")[0], issue[1] if issue else "", words.partition("\n\n")[0])
    first = next((text for text in told if not is_blank(text)), words)
    return goal_of(first, otherwise=f"task {scope.task}")


def _replay(run: Any) -> dict[str, Any]:
    """Return how the run was set up, which is an object or its JSON."""
    config = run.get("replay_config") if isinstance(run, dict) else None
    if isinstance(config, str):
        try:
            config = parse_json(config.encode("utf-8", "surrogatepass"))
        except InvalidEvent:
            return {}
    return config if isinstance(config, dict) else {}
