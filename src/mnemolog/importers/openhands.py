"""OpenHands: runs of an agent with what came of them, or a conversation's events alone.

A file holds one run after another (an object with its `history`), or one event after another. Ids
restart in every run, so that each run has a name of its own.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from mnemolog.importers.base import (
    HEAD_BYTES,
    Found,
    Options,
    Problem,
    Scope,
    Seconds,
    Source,
    Unreadable,
)
from mnemolog.importers.documents import Document, documents
from mnemolog.importers.moments import moment_of_text
from mnemolog.importers.openhands_end import end
from mnemolog.importers.openhands_events import FORMAT, About, EventStream
from mnemolog.importers.openhands_fields import args_of, id_of
from mnemolog.importers.outlines import outlines
from mnemolog.importers.shapes import mapping, name_or_none, text_at
from mnemolog.importers.words import goal_of
from mnemolog.schemas.errors import InvalidEvent, shown
from mnemolog.schemas.ids import check_name

AGENT_DEFAULT: Final = "openhands"
_RUN: Final = frozenset({"instance_id", "test_result", "instruction", "git_patch", "issue"})
_RUN_MIN: Final = 2  # of these an object has whose `history` lies beyond the head
_EVENT: Final = frozenset({"id", "timestamp", "source"})
_SAYING: Final = frozenset({"action", "observation"})


class OpenHands:
    """Imports OpenHands' runs and event streams."""

    name = FORMAT

    def recognises(self, path: str, head: bytes) -> bool:
        """Say whether *head* shows a run or an event."""
        del path
        # A long message stands before the action.
        saying = _SAYING | {"message"} if len(head) >= HEAD_BYTES else _SAYING
        return any(
            _is_run_of(keys)
            or (keys >= _EVENT and "kind" not in keys and not keys.isdisjoint(saying))
            for keys in outlines(head)
        )

    def read(self, source: Source, options: Options) -> Iterator[Found]:
        """Yield the events of each run in *source*, and a Problem for what is none."""
        seconds = Seconds(options.start)
        stream: EventStream | None = None  # of the events that stand by themselves
        last: int | None = None  # the id of the last of these
        for document in documents(source):
            if isinstance(document, Problem):
                yield document
            elif isinstance(document.value, dict) and "history" in document.value:
                yield from _run(document, source, options, seconds)
            else:
                number = id_of(document.value)
                restarts = number is not None and last is not None and number < last
                last = last if number is None else number
                if stream is None or restarts:
                    about = _about_stream(document.value, options)
                    stream = EventStream(about, source, seconds)
                yield from stream.hear(document.place, document.value)


def _is_run_of(keys: frozenset[str]) -> bool:
    known = len(keys & _RUN)
    return known >= _RUN_MIN or ("history" in keys and known > 0)


def _run(document: Document, source: Source, options: Options, seconds: Seconds) -> Iterator[Found]:
    """Tell a run: its events, and what came of it."""
    run, place = document.value, document.place
    history = run["history"] if run["history"] is not None else []
    if not isinstance(history, list):
        yield source.problem(place, f"history {shown(history)} is no list of events")
        return
    events = [event for item in history for event in (item if isinstance(item, list) else [item])]
    try:
        about = _about_run(run, events, options)
    except InvalidEvent as error:
        yield source.problem(place, str(error))
        return
    stream = EventStream(about, source, seconds)
    for number, event in enumerate(events, start=1):
        yield from stream.hear(f"{place}, event {number}", event)
    if not events:
        yield from stream.begin(place, about.started or seconds.tick())
    yield from end(stream, run)


def _about_run(run: Mapping[str, Any], events: list[Any], options: Options) -> About:
    """Return what *run* says of itself. Raises InvalidEvent for a name that is none."""
    issue, instance = mapping(run.get("issue")), mapping(run.get("instance"))
    metadata = mapping(run.get("metadata"))
    started = _moment(metadata.get("start_time"))
    repository = "/".join(filter(None, (text_at(issue, "owner"), text_at(issue, "repo"))))
    named = run.get("instance_id") or (f"{repository}#{issue.get('number')}" if issue else None)
    begins = events[0] if events else [run.get("instruction"), metadata.get("start_time")]
    task = None if named is None else check_name(str(named), field="instance_id")
    session = f"{task or FORMAT}-{_digest(begins)}"
    described = text_at(instance, "problem_statement") or text_at(issue, "title")
    told = described.partition("\n")[0] or text_at(run, "instruction")
    scope = Scope(
        agent=options.agent or _agent(text_at(metadata, "agent_class")),
        user=options.user,
        project=options.project or name_or_none(text_at(instance, "repo") or repository),
        session=session,
        task=task or session,
    )
    return About(
        scope=scope,
        goal=goal_of(told, otherwise=f"task {scope.task}"),
        model=text_at(mapping(metadata.get("llm_config")), "model") or None,
        started=started,
    )


def _about_stream(first: Any, options: Options) -> About:
    """Return what the first event of a stream says of it."""
    session = f"{FORMAT}-{_digest(first)}"
    agent = options.agent or _agent(text_at(args_of(first), "agent_class"))
    return About(
        scope=Scope(
            agent=agent, user=options.user, project=options.project, session=session, task=session
        )
    )


def _agent(agent_class: str) -> str:
    return name_or_none(agent_class) or AGENT_DEFAULT


def _digest(value: Any) -> str:
    written = json.dumps(value, sort_keys=True)
    return hashlib.sha256(written.encode()).hexdigest()[:16]


def _moment(value: Any) -> datetime | None:
    try:
        return moment_of_text(value)
    except Unreadable:
        return None
