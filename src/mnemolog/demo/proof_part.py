"""The last part of the show: analysts' questions; the index lost, rebuilt, and proved equal."""

import shutil
from typing import TYPE_CHECKING, Final

from mnemolog.demo.auth_part import ask_auth
from mnemolog.demo.stage import Stage, shown
from mnemolog.projections.kinds import MEMORIES

if TYPE_CHECKING:
    from mnemolog import Memory

DIGEST_CHARACTERS: Final = 16  # shown
QUERIES: Final = {
    "Which decisions rest on what was remembered?": (
        "SELECT agent, what, len(because_memories) AS memories FROM decisions"
        " WHERE len(because_memories) > 0 ORDER BY occurred_at"
    ),
    "Which memories helped?": (
        "SELECT kind, uses, occurred_at::DATE AS day, text FROM memories"
        " WHERE uses > 0 ORDER BY uses DESC, occurred_at"
    ),
    "How did each agent's tool calls end?": (
        "SELECT agent, status, count(*) AS calls FROM actions GROUP BY ALL ORDER BY ALL"
    ),
}


def ask_as_analyst(stage: Stage) -> None:
    """Ask the published tables."""
    stage.screen.step("An analyst asks in SQL: memory.sql(...), or DuckDB on the published file")
    with stage.memory() as memory:
        for question, statement in QUERIES.items():
            table = memory.sql(statement)
            stage.screen.say(f"? {question}", style="cyan")
            stage.screen.say(statement, style="dim")
            stage.screen.table(table.columns, table.rows)
            stage.screen.prove("the tables answer", holds=bool(table.rows))


def lose_and_rebuild(stage: Stage) -> None:
    """Delete the recall index from the disk, rebuild it from the log, and compare."""
    stage.screen.step("The recall index is deleted from the disk")
    with stage.memory(record_recalls=False) as memory:
        before = memory.digests()[MEMORIES]
        folder = memory.engine.folder / MEMORIES
        found = _found(memory, stage)
    shutil.rmtree(folder)
    stage.screen.say(f"digest {before[:DIGEST_CHARACTERS]}..., then: rm -r {folder}")
    with stage.memory(read_only=True) as memory:
        left = _found(memory, stage)
    stage.screen.prove("nothing can be recalled any more", holds=not folder.exists() and not left)

    stage.screen.step("It is rebuilt from the log, and everything is compared with a fresh fold")
    with stage.memory(record_recalls=False, rebuilding=[MEMORIES]) as memory:
        with stage.screen.busy("memory.rebuild('memories') ..."):
            (built,) = memory.rebuild(MEMORIES)
        stage.screen.say(f"{built.rows} rows, digest {built.digest[:DIGEST_CHARACTERS]}...")
        stage.screen.prove("the digest is the one from before", holds=built.digest == before)
        memory.wait_for(memory.end(), vectors=True)
        again = _found(memory, stage)
        stage.screen.prove("the first question finds the same memories", holds=again == found)
        _verify(memory, stage)


def _found(memory: "Memory", stage: Stage) -> list[str]:
    return [one.id for one in ask_auth(memory, now=stage.now)]


def _verify(memory: "Memory", stage: Stage) -> None:
    with stage.screen.busy("memory.verify() ..."):
        compared = memory.verify()
    for one in compared:
        stage.screen.say(shown(str(one)))
    stage.screen.prove("verify says equal", holds=all(one.is_equal for one in compared))
