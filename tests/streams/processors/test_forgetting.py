"""What is forgotten is in no checkpoint that is saved later, and those before are forgotten."""

import pytest

from mnemolog.schemas.events import experience as ex
from mnemolog.schemas.events.memory import MemoryForgotten
from mnemolog.schemas.ids import identity_of
from mnemolog.schemas.policy import CheckpointPolicy
from mnemolog.streams.processing import output_id, source_of
from mnemolog.streams.processors.checkpoints import CHECKPOINTS, folded
from mnemolog.streams.processors.work_state import STATES
from support.histories import AGENT, happened, identity, memory_of, opened

SECRET = "the password is hunter2"
TELLING = [
    ex.ObservationRecorded(text=SECRET),
    ex.MessageExchanged(role="user", text=SECRET),
    ex.TaskStarted(goal=SECRET),
    ex.TaskStarted(goal="g", plan=SECRET),
    ex.PlanChanged(plan="p", steps=(SECRET,)),
    ex.TaskProgressed(note=SECRET, node="n"),
    ex.DecisionMade(what="w", why=SECRET),
    ex.TaskBlocked(reason="r", needs=SECRET),
    ex.ActionStarted(action="a", tool="bash", arguments={"token": SECRET}),
    ex.ActionFinished(action="a", success=True, result=SECRET),
    ex.ActionFinished(action="a", success=False, error=SECRET),
]


def told(*events):
    """Return what the fold finds of each event, and the last state."""
    state, found = None, []
    for recorded in opened(*(happened(event, task="t1") for event in events)):
        step = folded(state, recorded, CheckpointPolicy(quiet_events=0))
        state = step.state
        found.append(step.found)
    return found, state


@pytest.mark.parametrize("event", TELLING, ids=lambda event: event.event_type)
@pytest.mark.parametrize(
    "forgotten",
    [
        MemoryForgotten(events=(identity("e0"),)),
        MemoryForgotten(memories=(memory_of("e0"),)),
        MemoryForgotten(texts=(SECRET,)),
    ],
    ids=["event", "memory", "text"],
)
def test_what_is_forgotten_is_in_no_checkpoint_afterwards(event, forgotten):
    found, state = told(event, forgotten, ex.TaskPaused())
    assert "hunter2" not in STATES.dump_json(state).decode()
    assert "hunter2" not in repr(found[2])
    assert "hunter2" in repr(told(event, ex.TaskPaused())[0]), "it would be there"


def test_a_checkpoint_that_was_filled_with_it_before_is_forgotten_too():
    seen, other = ex.ObservationRecorded(text=SECRET), ex.ObservationRecorded(text="the pool")
    forget = MemoryForgotten(events=(identity("e0"),))
    found, _ = told(seen, ex.TaskPaused(), other, ex.TaskPaused(), forget, forget)
    saved = output_id(CHECKPOINTS, identity("e1"))
    assert found[4] == {
        "forgotten": [identity_of(key=AGENT, source=source_of(CHECKPOINTS), event_id=saved)]
    }
    assert found[5] is None, "once"
    assert found[3]["checkpoint"]["intermediate_results"]["from_events"] == ["e2"]


def test_what_others_said_stays():
    other = ex.ObservationRecorded(text="the pool is full")
    forget = MemoryForgotten(texts=(SECRET,))
    found, _ = told(ex.ObservationRecorded(text=SECRET), other, forget, ex.TaskPaused())
    assert found[3]["checkpoint"]["key_observations"] == ["the pool is full"]
