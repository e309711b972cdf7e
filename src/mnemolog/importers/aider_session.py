"""One session of Aider on its way into the log: what each block becomes.

docs/importing.md has it as a table. Events are named by all that was told of the session before
them, and by themselves.
"""

import hashlib
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from mnemolog.importers.aider_blocks import Block
from mnemolog.importers.aider_edits import without_edits
from mnemolog.importers.aider_prints import Print, print_of, use_of
from mnemolog.importers.base import Found, Here, Placed, Telling
from mnemolog.importers.bounded import Bounded
from mnemolog.importers.spending import Spending
from mnemolog.importers.story import CALLS_MAX, Story, Told
from mnemolog.importers.words import goal_of
from mnemolog.schemas.events import Event
from mnemolog.schemas.events.experience import (
    CheckpointSaved,
    FeedbackGiven,
    MessageExchanged,
    ObservationRecorded,
)

EDIT: Final = "edit"  # the tool of a SEARCH/REPLACE block
UNDONE: Final = "undone"  # the label of a commit that was taken back
_COMMAND: Final = re.compile(r"(?:\S*[\\/])?aider(?:\.exe)?(?: .*)?")
_EXIT: Final = re.compile(r"/(?:exi?t?|q(?:uit)?)\s*")
# What the program writes in the user's place.
_BY_THE_PROGRAM: Final = re.compile(
    r"# (?:Fix any errors below|Question: |\d+ SEARCH/REPLACE block)|The LLM did not conform"
)
_HASH_CHARS: Final = 7  # of a commit's hash, by which it is known again
Commits = Bounded[str, str]  # of a file: a hash -> the event of its checkpoint


@dataclass(slots=True)
class _Pending:
    """An edit without an outcome: what names its call, and its file."""

    call: str
    path: str


class Session:
    """Tells one session, block by block."""

    def __init__(
        self, telling: Telling, block: Block, *, begun: datetime, told: Told, commits: Commits
    ) -> None:
        """*block* is where the session starts, in the file and at *begun*."""
        self._unsaid: Block | None = block
        self._story = Story(telling, told)
        self._begun = begun
        self._commits = commits
        self._spending = Spending()
        self._digest = ""  # of all that was told
        self._count = 0
        self._model: str | None = None
        self._goal = ""
        self._asked = ""  # what the last prompt handed to a command
        self._edits: deque[_Pending] = deque(maxlen=CALLS_MAX)
        self._checkpoint: str | None = None  # the last one
        self._run: list[str] = []  # prints that are told together

    def tell(self, block: Block) -> Iterator[Found]:
        """Tell a prompt, an answer, or prints."""
        yield from self._start(block)
        self._count += 1
        match block.kind:
            case "prompt":
                yield from self._prompt(block)
            case "answer":
                yield from self._spending.made(self._answer(block))
            case _:
                for text in block.texts:
                    yield from self._print(block, print_of(text))
                yield from self._spending.answered(self._observe(block))

    def finish(self) -> Iterator[Found]:
        """Tell what waits; no more is known of the session."""
        yield from self._start(None)
        yield from self._spending.finish()

    def end(self, block: Block) -> Iterator[Found]:
        """Tell that the session ended before *block*, with all that it left open."""
        yield from self.finish()
        yield from self._give_up(self._here(block))
        if not self._story.is_closed:
            yield from self._story.close({}, self._here(block), name=self._named("ended", ""))

    # Blocks

    def _start(self, block: Block | None) -> list[Placed]:
        """Tell the start once, titled with the command, which stands in the first prints."""
        begun, self._unsaid = self._unsaid, None
        if begun is None:
            return []
        printed = block.texts if block is not None and block.kind == "print" else []
        title = next((text for text in printed if _COMMAND.fullmatch(text)), None)
        if title is not None:
            printed.remove(title)
        return self._story.start({"title": title}, self._here(begun), name=("session",), cause=None)

    def _prompt(self, block: Block) -> Iterator[Found]:
        """Tell what a person asked; what a command repeats of its own prompt is told once."""
        yield from self._spending.finish()
        (text,) = block.texts
        is_repeat = bool(self._asked) and text.strip() == self._asked
        self._asked = text.partition(" ")[2].strip() if text.startswith("/") else ""
        if is_repeat:
            return
        here = self._here(block)
        yield from self._give_up(here)
        role = "system" if _BY_THE_PROGRAM.match(text) else "user"
        yield from self._opened(here)
        yield from self._tell(MessageExchanged, {"role": role, "text": text}, here, text)
        if role == "user":
            self._goal = goal_of(text, otherwise=self._goal)
        if _EXIT.fullmatch(text):
            yield from self._story.close({}, here, name=self._named("ended", ""))

    def _answer(self, block: Block) -> list[Found]:
        """Tell what the model said, and its edits as calls."""
        self._asked = ""
        (answer,) = block.texts
        here = self._here(block)
        words, edits = without_edits(answer)
        fields = {"role": "assistant", "text": words}
        found: list[Found] = [*self._opened(here)]
        found += self._tell(MessageExchanged, fields, here, answer)
        cause = self._story.previous
        for number, edit in enumerate(edits):
            call = f"{self._digest[:16]}-{number}"
            arguments = {"path": edit.path, "search": edit.search, "replace": edit.replace}
            asked = {"tool": EDIT, "arguments": arguments}
            found += self._story.call(call, asked, here, name=("edit", call), cause=cause)
            self._edits.append(_Pending(call, edit.path))
        return found

    def _print(self, block: Block, printed: Print) -> Iterator[Found]:
        """Tell what a print means; the rest waits to be told together."""
        self._asked = ""
        match printed.kind:
            case "chatter":
                return
            case "model":
                self._model = printed.about
            case "rest":
                self._run.append(printed.text)
            case _:
                yield from self._spending.answered(self._observe(block))
                if printed.kind == "spent":
                    yield from self._spending.spent(use_of(printed.text, self._model))
                else:
                    yield from self._spending.answered(self._outcome(block, printed))

    def _outcome(self, block: Block, printed: Print) -> list[Found]:
        here = self._here(block)
        match printed.kind:
            case "applied" | "missed" | "others applied":
                return self._edited(here, printed)
            case "commit":
                return [*self._commit(here, printed)]
            case "broken":
                target = self._checkpoint or self._story.previous
                by = "linter" if printed.about == "lint" else "tests"
                label = f"{printed.about} errors"
                return [*self._judge(here, target, label=label, by=by)]
            case "removed":
                target = self._commits.get(printed.about[:_HASH_CHARS])
                by = self._story.telling.scope.user or "user"
                judged = self._judge(here, target, label=UNDONE, by=by) if target else []
                return [*judged, *self._saw(here, printed.text)]
            case _:
                return [*self._saw(here, printed.text)]

    # How it is told

    def _edited(self, here: Here, printed: Print) -> list[Found]:
        """Tell what became of edits; the line itself where none waits for it."""
        success = printed.kind != "missed"
        is_any = printed.kind == "others applied"
        edits = [edit for edit in self._edits if is_any or edit.path == printed.about]
        if not success:
            del edits[1:]  # each that failed has a line of its own
        fields = {"success": success, "result" if success else "error": printed.text}
        found: list[Found] = []
        for edit in edits:
            self._edits.remove(edit)
            found += self._story.answer(edit.call, fields, here, otherwise=("edit", edit.call))
        return found or [*self._saw(here, printed.text)]

    def _commit(self, here: Here, printed: Print) -> list[Placed]:
        """Tell a commit: a state of the files from which work can go on."""
        name = self._named("commit", printed.about)
        event_id = self._story.id_of(*name)
        state = {
            "id": event_id,
            "timestamp": here.at,
            "agent": self._story.telling.scope.agent,
            "current_goal": self._goal or goal_of(printed.text, otherwise=printed.about),
            "plan_summary": printed.text,
            "intermediate_results": {"commit": printed.about},
        }
        if self._checkpoint is not None:
            state["parent"] = self._checkpoint
        self._checkpoint = self._commits[printed.about[:_HASH_CHARS]] = event_id
        cause = self._story.previous
        return self._story.tell(
            CheckpointSaved, {"checkpoint": state}, here, name=name, cause=cause
        )

    def _judge(self, here: Here, target: str | None, *, label: str, by: str) -> list[Placed]:
        fields = {"target": target, "score": -1.0, "label": label, "given_by": by}
        name = self._named("feedback", label)
        return self._story.aside(FeedbackGiven, fields, here, name=name, cause=target)

    def _observe(self, block: Block) -> list[Found]:
        """Tell the prints that waited to be told together."""
        text, self._run = "\n".join(self._run), []
        return [*self._saw(self._here(block), text)] if text.strip() else []

    def _saw(self, here: Here, text: str) -> list[Placed]:
        fields = {"text": text, "stated_by": "tool"}
        return self._tell(ObservationRecorded, fields, here, text)

    def _tell(
        self, model: type[Event], fields: dict[str, Any], here: Here, text: str
    ) -> list[Placed]:
        name = self._named(model.event_type, text)
        return self._story.tell(model, fields, here, name=name, cause=self._story.previous)

    def _opened(self, here: Here) -> list[Placed]:
        """Tell another start if the session goes on though it was left."""
        if not self._story.is_closed:
            return []
        return self._story.start({}, here, name=self._named("again", ""), cause=None)

    def _give_up(self, here: Here) -> list[Placed]:
        self._edits.clear()
        return self._story.orphan_calls(here)

    def _here(self, block: Block) -> Here:
        return Here(block.place, self._begun + timedelta(seconds=self._count))

    def _named(self, kind: str, text: str) -> tuple[str, str]:
        """Return what names the next event: all that was told before, and itself."""
        told = f"{self._digest}\n{kind}\n{text}"
        self._digest = hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()
        return kind, self._digest
