"""What a process keeps in memory does not grow with the log that it follows."""

import gc
import weakref

from mnemolog import Memory
from mnemolog.projections.kinds import NAMES
from mnemolog.schemas.events.experience import ObservationRecorded
from mnemolog.streams.publishing import Draft

EVENTS = 150


def told(memory, turn):
    """Let a few agents say much, each time something else, and wait until all of it is known."""
    drafts = [
        Draft(
            model=ObservationRecorded,
            fields={"text": f"turn {turn}: the lamp {number} of the room is on"},
            agent=f"agent-{number % 7}",
        )
        for number in range(EVENTS)
    ]
    memory.engine.publisher.append(drafts)
    memory.wait_for(memory.end(), projections=NAMES, vectors=True)


def held():
    """Count all objects but weak references: SQLite's driver keeps hundreds, of cursors."""
    gc.collect()
    return sum(not isinstance(one, weakref.ref) for one in gc.get_objects())


def test_three_times_the_log_is_held_by_as_many_objects(tmp_path):
    with Memory(tmp_path, embedder="hashing", processors=False) as memory:
        told(memory, 0)  # fills what has a bound
        before = held()
        told(memory, 1)
        told(memory, 2)
        assert held() - before < EVENTS  # of 600 more: not even one object for two of them
