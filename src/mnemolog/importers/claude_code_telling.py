"""What becomes of the lines of Claude Code, in order. docs/importing.md has it as a table."""

from collections.abc import Iterator
from typing import Final

from mnemolog.importers.base import Found, Here, Options, Source
from mnemolog.importers.bounded import Bounded
from mnemolog.importers.claude_code_chain import Step, digest_of
from mnemolog.importers.claude_code_model import tell_message
from mnemolog.importers.claude_code_program import tell_attachment, tell_summary, tell_system
from mnemolog.importers.claude_code_runs import Now, Runs
from mnemolog.importers.claude_code_user import tell_prompt, tell_rest

MESSAGES_MAX: Final = 65_536  # of the model that are remembered, so that a replay is known as one


class Teller:
    """Tells the steps of one file."""

    def __init__(self, source: Source, options: Options) -> None:
        self._source = source
        self._runs = Runs(options)
        self._prompts: Bounded[str, tuple[str, str] | None] = Bounded(MESSAGES_MAX)

    def tell(self, step: Step) -> Iterator[Found]:
        """Yield the events of *step*; a Problem for what can't be read of it."""
        here = Here(step.line.place, step.at, step.line.uuid)
        run, started = self._runs.at(step, here)
        yield from started
        story, now = run.story, Now(step, run, here, self._source, self._runs)
        before, was_closed = story.previous, story.is_closed
        if step.parent is not None and step.parent.event is not None:
            story.previous = step.parent.event
        story.is_closed = was_closed and not step.moves_on
        told = list(self._told(now))
        for node in step.nodes:
            node.event = story.previous
        yield from _opened(now, told, before) if was_closed and step.moves_on else []
        yield from told

    def _told(self, now: Now) -> Iterator[Found]:
        step = now.step
        if step.message is not None:
            self._prompts.setdefault(step.message, now.run.prompt)
            return tell_message(now)
        if step.is_prompt:
            return self._replay(now) or tell_prompt(now)
        if step.line.kind == "user":
            return tell_rest(now)
        if step.line.kind == "summary":
            return tell_summary(now)
        return tell_system(now) if step.line.kind == "system" else tell_attachment(now)

    def _replay(self, now: Now) -> Iterator[Found] | None:
        """Tell a prompt of which an old message follows: it is the one that stood before it."""
        known = self._prompts.get(now.step.follower or "")
        if known is None or known[0] != digest_of(now.step.words):
            return None
        now.run.prompt, now.story.previous = known, known[1]
        return iter(now.story.orphan_calls(now.here))


def _opened(now: Now, told: list[Found], before: str | None) -> list[Found]:
    """Return a new start if anything is *told* of a session that had ended, and open it.

    A replay of what was told opens nothing.
    """
    story, closed_again = now.story, now.story.is_closed
    if not told:
        story.is_closed = True
        return []
    previous = story.previous
    name = ("session", now.run.name, "again", now.step.ref)
    started = story.start({}, now.here, name=name, cause=before)
    story.previous, story.is_closed = previous, closed_again
    return [*started]
