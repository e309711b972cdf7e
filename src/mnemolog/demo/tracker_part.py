"""The second part of the show: two weeks of three teams, asked on days 3, 7 and 10."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from mnemolog import Memory
from mnemolog.demo.stage import RECALL_SECONDS, Stage, events_of
from mnemolog.demo.telling import tell
from mnemolog.demo.tracker import (
    AGENT,
    END,
    LOAD_TEST,
    ON_DAY_3,
    ON_DAY_7,
    ON_DAY_10,
    POOL,
    PROJECT,
    REPORT,
    TRACKER,
    Asked,
    first_day,
    until,
)

if TYPE_CHECKING:
    from mnemolog.projections.recall.answer import Recalled

CONSTRAINTS_MIN: Final = 7
IMPORTANT: Final = 0.8
CHINESE, ENGLISH = 0, 1  # of a moment's questions


def play_tracker(stage: Stage) -> None:
    """Tell the two weeks up to each question, and ask it."""
    screen, start = stage.screen, first_day(stage.now)
    screen.title("A project tracker listens to three teams for two weeks")
    with stage.memory(agent=AGENT, project=PROJECT) as memory:
        screen.step("Day 1 sets the constraints; day 3: order has no connections. What was agreed?")
        tell_until(memory, ON_DAY_3, start=start)
        _count_constraints(memory, stage)
        _ask(memory, stage, ON_DAY_3, language=CHINESE, proves="what day 1 said of it comes first")
        screen.step("Day 7: the weekly report joins day 3's pool with day 5's load test")
        tell_until(memory, ON_DAY_7, start=start, since=ON_DAY_3.when)
        found = _ask(memory, stage, ON_DAY_7, language=ENGLISH, proves="both days are found")
        _report(memory, stage, found, at=start + ON_DAY_7.when)
        screen.step("Day 10, the second Wednesday: after nine days of chatter")
        tell_until(memory, ON_DAY_10, start=start, since=ON_DAY_7.when)
        _ask(memory, stage, ON_DAY_10, language=CHINESE, proves="day 1's constraints come first")
        tell(memory, TRACKER, start=start, events=until(END, since=ON_DAY_10.when))


def tell_until(
    memory: Memory, moment: Asked, *, start: datetime, since: timedelta = timedelta(0)
) -> None:
    """Tell what happened from *since* to *moment*."""
    tell(memory, TRACKER, start=start, events=until(moment.when, since=since))


def ask_tracker(memory: Memory, moment: Asked, *, start: datetime, language: int) -> "Recalled":
    """Return the answer to *moment*'s question, asked at its time."""
    return memory.recall(
        moment.questions[language],
        at=start + moment.when,
        focus=moment.focus,
        kinds=moment.kinds,
        hits_max=5,
        timeout_seconds=RECALL_SECONDS,
    )


def _count_constraints(memory: Memory, stage: Stage) -> None:
    count = (
        "SELECT count(*) FROM memories WHERE project = ? AND importance >= ? AND occurred_at < ?"
    )
    day_2 = first_day(stage.now) + timedelta(days=1)
    until_then = day_2.replace(tzinfo=None)  # the tables' times are UTC
    table = memory.sql(count, parameters=[PROJECT, IMPORTANT * 1_000, until_then])
    found = int(table.rows[0][0])
    stage.screen.prove(
        f"day 1 left {found} memories of importance {IMPORTANT:g} or more",
        holds=found >= CONSTRAINTS_MIN,
    )


def _ask(memory: Memory, stage: Stage, moment: Asked, *, language: int, proves: str) -> "Recalled":
    stage.screen.say(f"? {moment.questions[language]}", style="cyan")
    start = first_day(stage.now)
    answer = ask_tracker(memory, moment, start=start, language=language)
    stage.hits(answer)
    stage.expect(memory, proves, holds=moment.is_met_by(events_of(answer)))
    return answer


def _report(memory: Memory, stage: Stage, found: "Recalled", *, at: datetime) -> None:
    """Decide because of the two, so that the report can be traced to both days."""
    both = [one for one in found if one.provenance.event_id in {POOL, LOAD_TEST}]
    report = memory.decide(
        "周报：order 的池子留在 36，inventory 加一个副本，再压一次",
        why="周三连接耗尽；周五压测时 inventory 最先到顶",
        because=both,
        task=REPORT,
        occurred_at=at,
    )
    memory.wait_for(report.token)
    stage.tree(memory.why(report))
