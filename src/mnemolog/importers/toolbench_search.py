"""A search tree as it was walked: thoughts, calls, branch points, and ways back to them.

The walk keeps its own stack: a tree may be deeper than Python's. A node's id is derived from the
steps that led to it, so that two runs share the steps that they have in common.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from mnemolog.importers.base import Found, Here, Placed, Problem, Seconds, Source, Telling
from mnemolog.importers.chat_messages import arguments_of, message_of
from mnemolog.importers.shapes import text_at
from mnemolog.importers.story import Story, Told
from mnemolog.importers.toolbench_checkpoint import Step, brief_call, state_of
from mnemolog.importers.words import decision_of, goal_of
from mnemolog.schemas.errors import shown
from mnemolog.schemas.events import Event
from mnemolog.schemas.events import experience as happened
from mnemolog.schemas.fields import is_blank

if TYPE_CHECKING:
    from datetime import datetime

FORMAT: Final = "toolbench"
JUDGE: Final = "search"  # who prunes a branch and says what won
GOAL_UNKNOWN: Final = "A query that its file does not tell"
_KINDS: Final = ("Thought", "Action", "Action Input")
_ESSENCE: Final = ("node_type", "description", "observation", "observation_code")
_SOUND: Final = frozenset({0, 3, 4})  # an answer came, the search was finished, or was given up


@dataclass(frozen=True, slots=True)
class _Visit:
    """A node that is still to be told, and what was told on the way to it."""

    node: Any
    key: str  # a digest of the steps up to it, and of which of its equal siblings it is
    cause: str
    step: Step | None = None  # the last one on the way
    checkpoint: str | None = None  # of the nearest branch point above
    goes_back: bool = False  # to that checkpoint: another branch was tried before
    tool: str | None = None  # of the Action above an Action Input


class Search:
    """Tells one tree: `begin`, `walk` its root, then `tell` what came of it."""

    def __init__(
        self,
        telling: Telling,
        *,
        query: str | None,
        source: Source,
        place: str,
        seconds: Seconds,
    ) -> None:
        self._telling = telling
        self._story = Story(telling, Told())
        self._query = query
        self._goal = goal_of(query or "", otherwise=GOAL_UNKNOWN)
        self._source = source
        self._run = self._place = place
        self._seconds = seconds
        self._at: datetime
        self._nodes = 0
        self._item: str | None = None  # the number of the node that is being told

    @property
    def previous(self) -> str:
        """The id of the event that was told last."""
        assert self._story.previous is not None, "`begin` tells the first"
        return self._story.previous

    def problem(self, reason: str) -> Problem:
        """Return a Problem of what is being told."""
        return self._source.problem(self._place, reason)

    def begin(self) -> Iterator[Found]:
        """Tell that the session and the task started, with the query."""
        self._at = self._seconds.tick()
        yield from self.tell(happened.SessionStarted, {}, key="")
        if self._query is not None:
            said = {"role": "user", "text": self._query}
            yield from self.tell(happened.MessageExchanged, said, key="")
        yield from self.tell(happened.TaskStarted, {"goal": self._goal}, key="")

    def tell(
        self,
        model: type[Event],
        fields: Mapping[str, Any],
        *,
        key: str,
        cause: str | None = None,
    ) -> list[Placed]:
        """Tell an event of the step *key*, caused by *cause* or the one before it."""
        here = Here(self._place, self._at, item=self._item)
        name, before = (model.event_type, key), cause or self._story.previous
        return self._story.tell(model, fields, here, name=name, cause=before)

    def walk(self, root: dict[str, Any]) -> Iterator[Found]:
        """Tell the tree depth first, children in their order, as the agent tried them."""
        waiting = [_Visit(root, key=_digest(_essence(root)), cause=self.previous)]
        while waiting:
            visit = waiting.pop()
            self._at = self._seconds.tick()
            self._item, self._nodes = str(self._nodes), self._nodes + 1
            self._place = f"{self._run}, node {self._item}"
            if isinstance(visit.node, dict):
                after = yield from self._visit(visit, visit.node)
                waiting += reversed(self._below(after, visit.node))
            else:
                yield self.problem(f"{shown(visit.node)} is no node")
        self._place, self._item, self._at = self._run, None, self._seconds.tick()

    def _below(self, after: _Visit, node: dict[str, Any]) -> list[_Visit]:
        seen: Counter[str] = Counter()
        below = []
        for nth, child in enumerate(_children(node)):
            said = _essence(child)
            key = _digest(after.key, said, str(seen[said]))
            seen[said] += 1
            below.append(replace(after, node=child, key=key, goes_back=nth > 0))
        return below

    def _visit(self, visit: _Visit, node: dict[str, Any]) -> Generator[Found, None, _Visit]:
        """Tell one node, and return how its children are come to."""
        if visit.goes_back and visit.checkpoint:
            back = {"checkpoint": visit.checkpoint}
            yield from self.tell(happened.TaskResumed, back, key=visit.key, cause=visit.checkpoint)
            visit = replace(visit, cause=self.previous)
        match node.get("node_type"):
            case "Thought":
                visit = yield from self._think(visit, text_at(node, "description"))
            case "Action":
                visit = replace(visit, tool=text_at(node, "description"))
                if not _children(node):
                    visit = yield from self._act(visit, {})
            case "Action Input":
                visit = yield from self._act(visit, node)
            case kind:
                yield self.problem(f"node_type {shown(kind)} is none of {', '.join(_KINDS)}")
        yield from self._judge(visit, node)
        if len(_children(node)) > 1:
            visit = yield from self._save(visit)
        return visit

    def _think(self, visit: _Visit, thought: str) -> Generator[Found, None, _Visit]:
        if is_blank(thought):
            return visit
        told = self.tell(
            happened.DecisionMade, decision_of(thought), key=visit.key, cause=visit.cause
        )
        yield from told
        step = Step.after(visit.step, id=self.previous, thought=thought)
        return replace(visit, cause=self.previous, step=step)

    def _act(self, visit: _Visit, node: dict[str, Any]) -> Generator[Found, None, _Visit]:
        """Tell a call with its answer; one without an answer never got one: the search went on."""
        if visit.tool is None:
            if text_at(node, "description"):  # the root is an empty Action Input
                yield self.problem("an Action Input without its Action")
            return visit
        if is_blank(visit.tool):
            yield self.problem(f"an Action of the name {shown(visit.tool)}")
            return replace(visit, tool=None)
        action = self._telling.id_of(happened.ActionStarted.event_type, visit.key)
        arguments, raw = arguments_of(node.get("description"))
        call = {"action": action, "tool": visit.tool, "arguments": arguments, "raw": raw}
        yield from self.tell(happened.ActionStarted, call, key=visit.key, cause=visit.cause)
        answer = _answer(node)
        finished = {"action": action, "tool": visit.tool, **answer}
        yield from self.tell(happened.ActionFinished, finished, key=visit.key, cause=action)
        said = answer.get("result", answer.get("error"))
        brief = brief_call(action, visit.tool, arguments, answer=said, success=answer["success"])
        step = Step.after(visit.step, id=action, call=brief)
        return replace(visit, cause=self.previous, step=step, tool=None)

    def _judge(self, visit: _Visit, node: dict[str, Any]) -> Iterator[Found]:
        """Tell that a branch was given up, or led to an end."""
        for mark, score in (("pruned", -1.0), ("finished", 1.0)):
            if node.get(mark) is True:
                fields = {"target": visit.cause, "score": score, "label": mark}
                key = _digest(visit.key, mark)
                judged = {**fields, "given_by": JUDGE}
                yield from self.tell(happened.FeedbackGiven, judged, key=key, cause=visit.cause)

    def _save(self, visit: _Visit) -> Generator[Found, None, _Visit]:
        """Tell a branch point: a checkpoint whose parent is the branch point above it."""
        model, scope = happened.CheckpointSaved, self._telling.scope
        saved = self._telling.id_of(model.event_type, visit.key)
        state = {
            "id": saved,
            "timestamp": self._at,
            "agent": scope.agent,
            "current_goal": self._goal,
            "parent": visit.checkpoint,
            **state_of(visit.step, task=str(scope.task)),
        }
        yield from self.tell(model, {"checkpoint": state}, key=visit.key, cause=visit.cause)
        return replace(visit, cause=saved, checkpoint=saved)


def _children(node: Any) -> list[Any]:
    children = node.get("children") if isinstance(node, dict) else None
    return children if isinstance(children, list) else []


def _essence(node: Any) -> str:
    """Return what makes a node the one that it is, whatever stands below it."""
    if not isinstance(node, dict):
        return json.dumps(node)
    return json.dumps([node.get(key) for key in _ESSENCE], sort_keys=True)


def _digest(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _answer(node: dict[str, Any]) -> dict[str, Any]:
    """Return what an observation says of its call; without one nothing will come any more."""
    observed, code = node.get("observation"), node.get("observation_code")
    if observed is None:
        return {"success": False, "orphaned": True}
    text = observed if isinstance(observed, str) else json.dumps(observed, ensure_ascii=False)
    failed = message_of({"role": "tool", "content": text}).failed
    success = not failed and _is_sound(code)
    return {"success": success, "result" if success else "error": text}


def _is_sound(code: Any) -> bool:
    return code is None or (isinstance(code, int) and code in _SOUND)
