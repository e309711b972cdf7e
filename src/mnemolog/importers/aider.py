"""Aider: the chat history that it keeps as Markdown, one file for all sessions in a folder.

docs/importing.md says what becomes of each block. The file is read as a stream.
"""

import hashlib
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from mnemolog.importers.aider_blocks import START, Block, blocks
from mnemolog.importers.aider_session import Commits, Session
from mnemolog.importers.base import Found, Options, Problem, Scope, Source, Telling
from mnemolog.importers.story import Told
from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.times import instant

FORMAT: Final = "aider"
COMMITS_MAX: Final = 4_096  # that are remembered, so that one that is taken back is known
_NAME: Final = re.compile(r"\.aider\.chat\.history[^/\\]*\.md(?:\.gz)?")
_MARKS: Final = re.compile(rb"^(?:####|>) .*  \r?$", re.MULTILINE)  # of a prompt, of a print
_HEADER: Final = re.compile(rb"^# aider chat started at \d{4}-", re.MULTILINE)


class Aider:
    """Imports chat histories of Aider."""

    name = FORMAT

    def recognises(self, path: str, head: bytes) -> bool:
        """Say whether *head* shows the start of a session, or the file is called as Aider does."""
        return _HEADER.search(head) is not None or _NAME.search(path) is not None

    def read(self, source: Source, options: Options) -> Iterator[Found]:
        """Yield the events of every session in *source*, in the order of the file."""
        if not self.recognises(source.name, source.head) and not _MARKS.search(source.head):
            reason = "no start of a session, no prompt and no print: any text would be an answer"
            yield source.problem("file", reason)
            return
        reading = _Reading(source, options)
        for block in blocks(source):
            if isinstance(block, Problem):
                yield block
            else:
                yield from reading.take(block)
        yield from reading.finish()


class _Reading:
    """A file on its way from blocks to events."""

    def __init__(self, source: Source, options: Options) -> None:
        self._source = source
        self._options = options
        self._told = Told()
        self._commits = Commits(COMMITS_MAX)
        self._session: Session | None = None

    def take(self, block: Block) -> Iterator[Found]:
        if block.kind == "start":
            yield from self._start(block)
            return
        if self._session is None:  # the end of a session whose start is not in the file
            digest = hashlib.sha256("\n".join(block.texts).encode("utf-8", "surrogatepass"))
            begun, _ = instant(self._options.start, field="start")
            self._begin(block, f"earlier-{digest.hexdigest()[:16]}", begun)
        assert self._session is not None, "it was begun"
        yield from self._session.tell(block)

    def finish(self) -> Iterator[Found]:
        if self._session is not None:
            yield from self._session.finish()

    def _start(self, block: Block) -> Iterator[Found]:
        """End the session before, for the program was started again, and begin the next."""
        if self._session is not None:
            yield from self._session.end(block)
        written = START.fullmatch(block.texts[0])
        assert written is not None, "a start is one by this mark"
        name = written[1].replace(" ", "T")
        try:
            begun, _ = instant(name, field="time")
        except InvalidEvent as error:
            yield self._source.problem(block.place, f"{error}; it has the time of --start")
            begun, _ = instant(self._options.start, field="start")
        self._begin(block, name, begun)

    def _begin(self, block: Block, name: str, begun: datetime) -> None:
        options = self._options
        scope = Scope(
            agent=options.agent or FORMAT,
            user=options.user,
            project=options.project,
            session=name,
        )
        self._session = Session(
            Telling(FORMAT, scope, seed=(name,)),
            block,
            begun=begun.replace(tzinfo=None),  # local, of a zone that nobody knows
            told=self._told,
            commits=self._commits,
        )
