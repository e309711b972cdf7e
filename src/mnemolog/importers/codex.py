"""Codex: the rollouts that it keeps as JSON Lines, one for each session.

docs/importing.md says what becomes of each line. Types that nobody knows are passed over.
"""

import hashlib
import json
from collections.abc import Iterator
from typing import Any, Final

from mnemolog.importers.base import (
    Found,
    Here,
    Options,
    Problem,
    Scope,
    Source,
    Telling,
    Unreadable,
)
from mnemolog.importers.bounded import Bounded
from mnemolog.importers.codex_lines import COMPACTED, EVENT, ITEM, META, TURN, Line, line_of
from mnemolog.importers.codex_session import Session
from mnemolog.importers.documents import Document, documents
from mnemolog.importers.folders import project_of
from mnemolog.importers.line_times import LineTimes
from mnemolog.importers.outlines import outlines
from mnemolog.importers.spending import Spending
from mnemolog.importers.unknown import Unknown
from mnemolog.importers.usage import model_use
from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.ids import check_name

FORMAT: Final = "codex"
SUB_AGENT: Final = "sub-agent"  # behind the agent's name: whose events a sub-agent's are
SESSIONS_MAX: Final = 64  # of a file that are remembered
_TOLD: Final = (TURN, ITEM, EVENT, COMPACTED)
_SHOWN: Final = ("user_message", "agent_message", "agent_reasoning")
# What the program keeps for itself, or says elsewhere too.
_SILENT_TYPES: Final = ("state", "ghost_snapshot", "session_state")
_SILENT_ITEMS: Final = ("ghost_snapshot", "compaction", "other")
_SILENT_EVENTS: Final = (
    *("agent_reasoning_raw_content", "agent_reasoning_section_break", "context_compacted"),
    *("entered_review_mode", "exited_review_mode", "turn_diff", "plan_update", "warning"),
    *("background_event", "stream_error", "error", "view_image_tool_call", "deprecation_notice"),
    *("session_configured", "hook_started", "dynamic_tool_call_request"),
)
_SILENT_ENDINGS: Final = ("_begin", "_end", "_delta", "_started", "_completed", "_updated")
_GIVEN_UP: Final = ("task_started", "turn_aborted")
_MARKS: Final = (frozenset({"type", "payload"}), frozenset({"id", "timestamp", "instructions"}))
_TYPES: Final = tuple(f'"{type_}"'.encode() for type_ in (META, TURN, ITEM, EVENT, "instructions"))


class Codex:
    """Imports rollouts of Codex."""

    name = FORMAT

    def recognises(self, path: str, head: bytes) -> bool:
        """Say whether *head* shows lines of a rollout."""
        del path
        has_marks = any(marks <= keys for keys in outlines(head) for marks in _MARKS)
        return has_marks and any(type_ in head for type_ in _TYPES)

    def read(self, source: Source, options: Options) -> Iterator[Found]:
        """Yield the events of the sessions in *source*, in the order of the lines."""
        reading = _Reading(source, options)
        for document in documents(source):
            if isinstance(document, Problem):
                yield document
            else:
                yield from reading.take(document)
        yield from reading.finish()


class _Reading:
    """A file on its way from lines to events."""

    def __init__(self, source: Source, options: Options) -> None:
        self._source = source
        self._options = options
        self._sessions: Bounded[str, Session] = Bounded(SESSIONS_MAX)
        self._session: Session | None = None
        self._copied: str | None = None  # the session whose history the present one begins with
        self._spending = Spending()
        self._total: Any = None  # what was used in all when numbers came last
        self._unknown = Unknown()
        self._times = LineTimes(source, options.start)

    def take(self, document: Document) -> Iterator[Found]:
        try:
            line = line_of(document.place, document.value)
            at, problems = self._times.moment(line.timestamp, line.place)
            yield from problems
            yield from self._tell(line, Here(line.place, at, _item(line)))
        except Unreadable as error:
            yield self._source.problem(document.place, str(error))

    def finish(self) -> Iterator[Found]:
        yield from self._spending.finish()
        yield from self._unknown.problems(self._source)

    def _tell(self, line: Line, here: Here) -> Iterator[Found]:
        if line.type == META:
            yield from self._meta(line, here)
        elif line.type in _TOLD:
            if self._session is None:
                yield from self._begin(_name_of(line), here)
            assert self._session is not None, "it was begun"
            yield from self._line(self._session, line, here)
        elif line.type not in _SILENT_TYPES:
            self._unknown.add(line.type, line.place)

    def _line(self, session: Session, line: Line, here: Here) -> Iterator[Found]:
        if line.type == TURN:
            session.model = line.payload.get("model")
            yield from self._other(session.give_up_calls(here))
        elif line.type == COMPACTED:
            yield from self._other(session.compaction(line, here))
        elif line.type == ITEM:
            yield from self._item(session, line, here)
        else:
            yield from self._event(session, line, here)

    def _item(self, session: Session, line: Line, here: Here) -> Iterator[Found]:
        found = session.item(line, here)
        if found is None:
            if line.kind not in _SILENT_ITEMS:
                self._unknown.add(f"{line.type} {line.kind}", line.place)
        elif line.kind.endswith("_output"):
            yield from self._spending.answered(found)
        elif line.kind == "message" and line.payload.get("role") != "assistant":
            yield from self._other(found)
        else:
            yield from self._spending.made(found)

    def _event(self, session: Session, line: Line, here: Here) -> Iterator[Found]:
        match line.kind:
            case "user_message":
                yield from self._other(session.shown(line, here))
            case kind if kind in _SHOWN:
                yield from self._spending.made(session.shown(line, here))
            case "token_count":
                yield from self._count(line, session.model)
            case "thread_rolled_back":
                yield from self._other(session.rewind(here))
            case "task_complete" | "turn_complete":
                yield from self._other(session.rest(here))
            case "shutdown_complete":
                yield from self._other(session.end(here))
            case kind if kind in _GIVEN_UP:
                yield from self._other(session.give_up_calls(here))
            case kind if kind not in _SILENT_EVENTS and not kind.endswith(_SILENT_ENDINGS):
                self._unknown.add(f"{line.type} {kind}", line.place)

    def _count(self, line: Line, model: Any) -> Iterator[Found]:
        """Take numbers; those that are told again are of no new use."""
        info = line.payload.get("info")
        if isinstance(info, dict) and info.get("total_token_usage") != self._total:
            self._total = info.get("total_token_usage")
            yield from self._spending.spent(model_use(model, info.get("last_token_usage")))

    def _other(self, found: list[Found]) -> Iterator[Found]:
        """Yield what no use of the model made, and before it what waits for numbers."""
        yield from self._spending.finish()
        yield from found

    def _meta(self, line: Line, here: Here) -> Iterator[Found]:
        """Begin the session, or go on with it: then a process died in between, or it is a copy."""
        try:
            name = check_name(line.payload.get("id"), field="id")
        except InvalidEvent as error:
            raise Unreadable(str(error)) from error
        yield from self._spending.finish()
        if self._session is not None and name in (self._session.name, self._copied):
            yield from self._session.give_up_calls(here)
            return
        forked = line.payload.get("forked_from_id")
        self._copied = forked if isinstance(forked, str) else None
        yield from self._begin(name, here, line)

    def _begin(self, name: str, here: Here, meta: Line | None = None) -> Iterator[Found]:
        self._session = self._sessions.get(name)
        if self._session is not None:
            return
        payload = {} if meta is None else meta.payload
        source = payload.get("source")
        agent = self._options.agent or FORMAT
        if isinstance(source, dict) and "subagent" in source:
            agent = f"{agent}/{SUB_AGENT}"
        scope = Scope(
            agent=agent,
            user=self._options.user,
            project=self._options.project or project_of(payload.get("cwd")),
            session=name,
        )
        session = Session(Telling(FORMAT, scope, seed=(name,)))
        self._session = self._sessions[name] = session
        yield from session.start(here, _instructions(payload))


def _item(line: Line) -> str | None:
    found = line.payload.get("id", line.payload.get("call_id"))
    return found if isinstance(found, str) and found else None


def _name_of(line: Line) -> str:
    """Return a name for a session that has none: it begins with *line*."""
    whole = json.dumps([line.type, dict(line.payload)], sort_keys=True)
    return f"session-{hashlib.sha256(whole.encode()).hexdigest()[:16]}"


def _instructions(payload: Any) -> str | None:
    base = payload.get("base_instructions")
    told = (payload.get("instructions"), base.get("text") if isinstance(base, dict) else base)
    return next((text for text in told if isinstance(text, str) and text), None)
