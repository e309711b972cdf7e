"""The numbers in force. They are changed by `policy.changed` events, never by a setting.

The formulas that use them are in projections/write_rule/, projections/weights/decay.py and
streams/processors/.
"""

from types import MappingProxyType
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt

from mnemolog.schemas.fields import Amount, Flag, Name, Share

# A kind of memory -> days after which a memory of importance 0, never used, has faded to 1/e.
_TIME_CONSTANT_DAYS: Final = MappingProxyType(
    {
        "constraint": 180.0,
        "decision": 120.0,
        "preference": 120.0,
        "skill": 120.0,
        "concept": 90.0,
        "fact": 90.0,
        "lesson": 90.0,
        "checkpoint": 30.0,
        "episode": 30.0,
        "plan": 21.0,
        "result": 14.0,
    }
)


class _Numbers(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class WritePolicy(_Numbers):
    """Which events become memories, and how important they are at first."""

    rule: Annotated[StrictInt, Field(ge=1, le=1)] = 1  # the version of the write rule's code
    importance: Share = 0.5
    importance_success: Share = 0.2
    importance_lesson: Share = 0.3
    importance_positive_feedback: Share = 0.2
    importance_preference: Share = 0.9
    importance_concept: Share = 0.8
    importance_fact: Share = 0.7
    importance_constraint_min: Share = 0.8
    result_head_characters: Annotated[StrictInt, Field(ge=50, le=4_000)] = 600


class DecayPolicy(_Numbers):
    """How a memory's weight falls with age and rises with use."""

    time_constant_days: dict[Name, Amount] = Field(
        default_factory=lambda: dict(_TIME_CONSTANT_DAYS)
    )
    time_constant_days_other: Amount = 30.0
    importance_stretch: Amount = 4.0
    weight_initial: Amount = 1.0
    weight_min: Amount = 0.01
    weight_max: Amount = 10.0
    feedback_gain: Amount = 0.2  # utility gain of a whole point of feedback


Trigger = Literal[
    "requested",
    "blocked",
    "paused",
    "phase-changed",
    "plan-changed",
    "node-completed",
    "loop",
    "context",
    "error",
    "decision",
    "day-ended",
    "minutes",
    "events",
    "costly",
]
TRIGGERS: Final[tuple[Trigger, ...]] = Trigger.__args__  # type: ignore[attr-defined]


class CheckpointPolicy(_Numbers):
    """When an agent's state is saved by itself. Times are those at which the events occurred.

    An event saves one checkpoint at most, for the first of its triggers in the order of
    `TRIGGERS`, and none where nothing was told since the last one.
    """

    rule: Annotated[StrictInt, Field(ge=1, le=1)] = 1  # the version of the rule's code
    enabled: Flag = True
    triggers: Annotated[tuple[Trigger, ...], Field(max_length=len(TRIGGERS))] = TRIGGERS
    imported: Flag = False  # whether histories that an importer brought in trigger, too
    events_max: Annotated[StrictInt, Field(ge=1, le=100_000)] = 100  # told since the last one
    minutes_max: Amount = 60.0  # from the first event since the last one
    context_share: Share = 0.85  # of the window; once each time that it is reached
    loop_actions: Annotated[StrictInt, Field(ge=2, le=1_000)] = 5  # the same, in a row
    # A decision is a key one that weighed so many alternatives, or that has the tag "key".
    decision_alternatives_min: Annotated[StrictInt, Field(ge=0, le=4_096)] = 1
    quiet_events: Annotated[StrictInt, Field(ge=0, le=100_000)] = 10  # of errors and decisions
    day_ends_at_minute: Annotated[StrictInt, Field(ge=0, le=1_439)] = 1_080  # 18:00
    day_offset_minutes: Annotated[StrictInt, Field(ge=-1_440, le=1_440)] = 0  # east of UTC


class Policy(_Numbers):
    """The rules and numbers in force in a partition."""

    write: WritePolicy = WritePolicy()
    decay: DecayPolicy = DecayPolicy()
    checkpoints: CheckpointPolicy = CheckpointPolicy()


BUILT_IN: Final = Policy()
