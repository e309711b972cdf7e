"""The sessions of a Claude Code file while they are told, and those of sub-agents beside them."""

from dataclasses import dataclass
from typing import Any, Final

from mnemolog.importers.base import Here, Options, Placed, Problem, Scope, Source, Telling
from mnemolog.importers.bounded import Bounded
from mnemolog.importers.claude_code_chain import LANES_MAX, Lane, Step
from mnemolog.importers.claude_code_lines import Asked
from mnemolog.importers.folders import project_of
from mnemolog.importers.story import CALLS_MAX, Story, Told

FORMAT: Final = "claude-code"
SUB_AGENT: Final = "sub-agent"  # behind the agent's name: whose events a sub-agent's are
_SPAWNING: Final = ("Task", "Agent")  # the tools that start a sub-agent


@dataclass(slots=True)
class Run:
    """A session, or a sub-agent's part of one, and what of it the next line needs."""

    name: str
    story: Story
    prompt: tuple[str, str] | None = None  # the last one's digest and event
    goal: str = ""  # its words, in one line
    message: str | None = None  # the model's last one
    is_rewound: bool = False  # since its last rewind it has not come to rest


@dataclass(slots=True)
class _Spawn:
    """A call that starts a sub-agent, and the run that it started."""

    prompt: Any
    action: str
    run: Run | None = None


@dataclass(frozen=True, slots=True)
class Now:
    """A step at the moment that it is told."""

    step: Step
    run: Run
    here: Here
    source: Source
    runs: "Runs"

    @property
    def story(self) -> Story:
        """Who tells it."""
        return self.run.story

    def problem(self, reason: str) -> Problem:
        """Return a Problem of the step's first line."""
        return self.source.problem(self.here.place, reason)


class Runs:
    """Finds the run that a line belongs to, and begins it at its first line."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._told = Told()
        self._runs: Bounded[Lane, Run] = Bounded(LANES_MAX)
        self._spawns: Bounded[tuple[str, str], _Spawn] = Bounded(CALLS_MAX)

    def at(self, step: Step, here: Here) -> tuple[Run, list[Placed]]:
        """Return the run of *step*, and its start if this is its first line."""
        run = self._runs.get(step.lane)
        if run is not None:
            return run, []
        spawn = self._spawn_of(step) if step.lane.sub_agent else None
        run = self._runs[step.lane] = self._new(step)
        if spawn is not None:
            spawn.run = run
        cause = None if spawn is None else spawn.action
        return run, run.story.start({}, here, name=("session", run.name), cause=cause)

    def note_call(self, lane: Lane, asked: Asked, action: str) -> None:
        """Remember a call that starts a sub-agent."""
        if asked.tool in _SPAWNING:
            spawn = _Spawn(asked.arguments.get("prompt"), action)
            self._spawns[lane.session, asked.call] = spawn

    def note_answer(self, lane: Lane, call: str, here: Here) -> list[Placed]:
        """End the run of the sub-agent whose call was answered."""
        spawn = self._spawns.pop((lane.session, call), None)
        if spawn is None or spawn.run is None:
            return []
        return spawn.run.story.close({}, here, name=("session", spawn.run.name, "ended", call))

    def _new(self, step: Step) -> Run:
        agent, session = self._options.agent or FORMAT, step.lane.session
        if step.lane.sub_agent is not None:
            agent, session = f"{agent}/{SUB_AGENT}", f"{session}/{step.lane.sub_agent}"
        scope = Scope(
            agent=agent,
            user=self._options.user,
            project=self._options.project or project_of(step.line.value.get("cwd")),
            session=session,
        )
        return Run(session, Story(Telling(FORMAT, scope, seed=()), self._told))

    def _spawn_of(self, step: Step) -> _Spawn | None:
        """Return the call that started the run of *step*: it has its prompt, or is the newest."""
        waiting = [
            spawn
            for (session, _), spawn in reversed(self._spawns.items())
            if session == step.lane.session and spawn.run is None
        ]
        same = (spawn for spawn in waiting if spawn.prompt == step.words)
        return next(same, waiting[0] if waiting else None)
