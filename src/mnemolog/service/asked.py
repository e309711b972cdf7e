"""What may be asked, by name: a query's parameters and a question's body. Nothing else is read."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from mnemolog.asking import TIMELINE_ROWS
from mnemolog.http_wire import Kind
from mnemolog.projections.recall.question import RECALL_SECONDS
from mnemolog.service.limits import WAIT_SECONDS_MAX


class Query(BaseModel):
    """Parameters of a query: an unknown one is refused, so that none is silently without effect."""

    model_config = ConfigDict(extra="forbid")


class RefQuery(Query):
    """An event, a memory or a decision."""

    id: Annotated[str, Field(description="An event's or a memory's id.")]
    identity: Annotated[
        str | None,
        Field(description="The event's identity, where several agents' events have the id."),
    ] = None


class GetQuery(RefQuery):
    """A memory or an event."""

    kind: Annotated[Kind, Field(description="What it must be; a memory's id begins with mem_.")] = (
        "any"
    )
    whole: Annotated[
        bool, Field(description="With texts that stand beside the log, rather than their heads.")
    ] = True


class TimelineQuery(Query):
    """Whose events."""

    agent: str | None = None
    task: str | None = None
    session: str | None = None
    project: str | None = None
    rows_max: int = TIMELINE_ROWS


class CheckpointsQuery(Query):
    """Whose checkpoints."""

    task: str | None = None
    agent: str | None = None
    rows_max: int = TIMELINE_ROWS


class ResumeQuery(Query):
    """The task to take up again."""

    task: str
    at: Annotated[str | None, Field(description="The time of asking (RFC 3339); now.")] = None


class WaitQuery(Query):
    """For what to wait."""

    timeout_seconds: Annotated[float, Field(ge=0, le=WAIT_SECONDS_MAX)] = WAIT_SECONDS_MAX
    projections: Annotated[
        str | None,
        Field(description="Names, joined by commas; those that recall and resume read."),
    ] = None
    vectors: Annotated[bool, Field(description="Wait for the vectors, too.")] = False


class RecallBody(BaseModel):
    """A question, and which memories it may see; what is left out does not restrict."""

    model_config = ConfigDict(extra="forbid", strict=True)

    question: str
    hits_max: int = 10
    tokens_max: int | None = None
    focus: Annotated[str, Field(description="What to look for first; docs/cli.md lists them.")] = (
        "balanced"
    )
    timeout_seconds: float = RECALL_SECONDS
    at: Annotated[str | None, Field(description="The time of asking (RFC 3339); now.")] = None
    as_of: Annotated[str | None, Field(description="What was true at that time.")] = None
    include_outdated: bool = False
    explain: bool = False
    agent: str | None = None
    user: str | None = None
    project: str | None = None
    session: str | None = None
    task: str | None = None
    kinds: list[str] = []
    tags: list[str] = []
    importance_min: float = 0.0
    occurred_from: str | None = None
    occurred_until: str | None = None


class ScopeBody(BaseModel):
    """Whose event it is, when it happened, and what it came from."""

    model_config = ConfigDict(extra="forbid")

    agent: str | None = None
    user: str | None = None
    project: str | None = None
    session: str | None = None
    task: str | None = None
    phase: str | None = None
    occurred_at: Annotated[str | None, Field(description="RFC 3339; now.")] = None
    caused_by: Annotated[str | None, Field(description="An event's or a memory's id.")] = None
    correlation: str | None = None
    tags: list[str] | None = None
    model_use: dict[str, Any] | None = None
    id: Annotated[
        str | None, Field(description="For who retries: (agent, source, id) counts once.")
    ] = None
    source: str | None = None


class EventBody(BaseModel):
    """An event of ours. docs/events.md lists the types; schemas/json/ has each one's fields."""

    model_config = ConfigDict(extra="forbid")

    type: Annotated[str, Field(description="Such as observation.recorded.")]
    fields: dict[str, Any] | None = None
    scope: ScopeBody | None = None


class EventsBody(BaseModel):
    """Many events of ours."""

    model_config = ConfigDict(extra="forbid")

    events: list[EventBody]


class SavingBody(BaseModel):
    """Whose state is to be saved, and when: the scope of the action that is about to start."""

    model_config = ConfigDict(extra="forbid")

    scope: ScopeBody


class RefBody(BaseModel):
    """What is meant: an id, with the event's identity where several events have it."""

    model_config = ConfigDict(extra="forbid")

    id: str
    identity: str | None = None


class ForgetBody(BaseModel):
    """What is to be forgotten for good: memories and events, and a text wherever it stands."""

    model_config = ConfigDict(extra="forbid")

    refs: list[RefBody] = []
    text: str | None = None
    reason: str | None = None
    scope: ScopeBody | None = None
