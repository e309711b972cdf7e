"""ToolBench: search trees of tool calls, which an agent walked depth first.

A tree is a task, each of its branch points a checkpoint with the one above it as parent, and to
try another branch is to resume from there. docs/importing.md says what becomes of each node.
"""

import hashlib
import json
from collections.abc import Iterator
from typing import Any, Final

from mnemolog.importers.base import Found, Options, Problem, Scope, Seconds, Source, Telling
from mnemolog.importers.documents import Document, documents
from mnemolog.importers.outlines import outlines
from mnemolog.importers.shapes import mapping
from mnemolog.importers.toolbench_search import FORMAT, JUDGE, Search
from mnemolog.schemas.errors import shown
from mnemolog.schemas.events import experience as happened
from mnemolog.schemas.fields import is_blank

AGENT_DEFAULT: Final = "toolbench"
TREE_DEPTH_MAX: Final = 512  # JSON levels: a node takes two, and real trees are 31 nodes deep
_MARKS: Final = frozenset({"tree", "answer_generation"})
_BEFORE_THE_NODES: Final = frozenset({"win", "tree"})


class ToolBench:
    """Imports the search trees that ToolBench's runs leave."""

    name = FORMAT

    def recognises(self, path: str, head: bytes) -> bool:
        """Say whether *head* shows a search tree with its answer, or the beginning of one."""
        del path
        return any(
            keys >= _MARKS or (keys >= _BEFORE_THE_NODES and b'"node_type"' in head)
            for keys in outlines(head)
        )

    def read(self, source: Source, options: Options) -> Iterator[Found]:
        """Yield what happened in each tree of *source*, node after node."""
        seconds = Seconds(options.start)
        for document in documents(source, depth_max=TREE_DEPTH_MAX):
            if isinstance(document, Problem):
                yield document
            else:
                yield from _run(document, source, options, seconds)


def _run(document: Document, source: Source, options: Options, seconds: Seconds) -> Iterator[Found]:
    value, place = document.value, document.place
    root = _root(value)
    if root is None:
        yield source.problem(place, f"{shown(value)} holds no tree of nodes")
        return
    answer = mapping(value.get("answer_generation"))
    query = answer.get("query")
    if not isinstance(query, str) or is_blank(query):
        yield source.problem(f"{place}, answer_generation", f"query {shown(query)} is no text")
        query = None
    name = _name(query, root)
    scope = Scope(
        agent=options.agent or AGENT_DEFAULT,
        user=options.user,
        project=options.project,
        session=name,
        task=name,
    )
    telling = Telling(FORMAT, scope, seed=(name,))
    search = Search(telling, query=query, source=source, place=place, seconds=seconds)
    yield from search.begin()
    yield from search.walk(root)
    yield from _end(search, won=value.get("win"), answer=answer)


def _root(value: Any) -> dict[str, Any] | None:
    """Return the tree's first node: `tree.tree`, or `tree` itself."""
    tree = mapping(mapping(value).get("tree"))
    inner = mapping(tree.get("tree"))
    return next((node for node in (inner, tree) if "children" in node), None)


def _name(query: str | None, root: dict[str, Any]) -> str:
    """Return the session's and the task's name: a digest of what was asked, or of the first steps.

    The source has no name for a run: two runs of one query share what they have in common.
    """
    children = root["children"] if isinstance(root["children"], list) else []
    steps = [mapping(child).get("description") for child in children]
    said = json.dumps(steps if query is None else query)
    return f"query-{hashlib.sha256(said.encode()).hexdigest()[:16]}"


def _end(search: Search, *, won: Any, answer: dict[str, Any]) -> Iterator[Found]:
    """Tell what came of the search, if the source says it."""
    if not isinstance(won, bool):
        if won is not None:
            yield search.problem(f"win {shown(won)} is neither true nor false")
        return
    said, ending = answer.get("final_answer"), answer.get("finish_type")
    outcome = said if isinstance(said, str) and not is_blank(said) else _without_answer(answer)
    how = f" ({ending})" if isinstance(ending, str) and ending else ""
    label = ("win" if won else "no win") + how
    key = hashlib.sha256(json.dumps([won, said, ending]).encode()).hexdigest()
    ended = {"outcome": outcome, "success": True} if won else {"outcome": outcome}
    model = happened.TaskCompleted if won else happened.TaskAbandoned
    yield from search.tell(model, ended, key=key)
    target = search.previous
    yield from search.tell(happened.SessionEnded, {"success": won}, key=key)
    judged = {"target": target, "score": 1.0 if won else -1.0, "label": label}
    fields = {**judged, "given_by": JUDGE}
    yield from search.tell(happened.FeedbackGiven, fields, key=key, cause=target)


def _without_answer(answer: dict[str, Any]) -> str:
    count = answer.get("query_count")
    asked = f" after {count} model calls" if isinstance(count, int) else ""
    return f"The search ended without an answer{asked}."
