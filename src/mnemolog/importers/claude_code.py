"""Claude Code: the sessions that it keeps as JSON Lines, one line for each thing that happens.

docs/importing.md says what becomes of each. What belongs together is found by ids and parents,
never by walking a chain to its root, and within named bounds.
"""

from collections.abc import Iterator
from typing import Final

from mnemolog.importers.base import Found, Options, Problem, Source, Unreadable
from mnemolog.importers.claude_code_ahead import Ahead
from mnemolog.importers.claude_code_chain import Chain
from mnemolog.importers.claude_code_lines import Line, line_of
from mnemolog.importers.claude_code_runs import FORMAT
from mnemolog.importers.claude_code_telling import Teller
from mnemolog.importers.documents import Document, documents
from mnemolog.importers.line_times import LineTimes
from mnemolog.importers.outlines import outlines
from mnemolog.importers.unknown import Unknown

_TOLD: Final = ("user", "assistant", "system", "attachment", "summary")
# What the program keeps for itself: progress, titles, queues, copies of files.
_SILENT: Final = (
    *("progress", "queue-operation", "file-history-snapshot", "attribution-snapshot"),
    *("custom-title", "ai-title", "agent-name", "agent-color", "agent-setting", "tag"),
    *("last-prompt", "pr-link", "mode", "permission-mode", "worktree-state"),
    *("content-replacement", "speculation-accept", "marble-origami-commit"),
)
_MARKS: Final = (
    frozenset({"sessionId", "parentUuid"}),
    frozenset({"sessionId", "uuid"}),
    frozenset({"type", "uuid", "message"}),
    frozenset({"type", "summary", "leafUuid"}),
    frozenset({"type", "messageId", "snapshot"}),
    frozenset({"type", "operation", "sessionId"}),
)


class ClaudeCode:
    """Imports sessions of Claude Code."""

    name = FORMAT

    def recognises(self, path: str, head: bytes) -> bool:
        """Say whether *head* shows lines of a session."""
        del path
        return any(marks <= keys for keys in outlines(head) for marks in _MARKS)

    def read(self, source: Source, options: Options) -> Iterator[Found]:
        """Yield the events of every session in *source*, in the order of the lines."""
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
        self._chain = Chain()
        self._ahead = Ahead()
        self._teller = Teller(source, options)
        self._unknown = Unknown()
        self._times = LineTimes(source, options.start)

    def take(self, document: Document) -> Iterator[Found]:
        try:
            line = line_of(document.place, document.value)
            if not self._is_told(line):
                return
            at, problems = self._times.moment(line.value.get("timestamp"), line.place)
            yield from problems
            step = self._chain.take(line, at)
        except Unreadable as error:
            yield self._source.problem(document.place, str(error))
            return
        for known in self._ahead.take(step):
            yield from self._teller.tell(known)

    def finish(self) -> Iterator[Found]:
        for step in self._ahead.finish():
            yield from self._teller.tell(step)
        yield from self._unknown.problems(self._source)

    def _is_told(self, line: Line) -> bool:
        """Say whether something may be told of *line*; one that is not may be a parent still."""
        if line.kind in _TOLD:
            return line.kind != "summary" or self._chain.parent_of(line) is not None
        if line.kind not in _SILENT:
            self._unknown.add(line.kind, line.place)
        if line.uuid is not None and line.session is not None:
            self._chain.take(line, self._times.before)
        return False
