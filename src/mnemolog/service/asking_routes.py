"""Endpoints that answer. They write nothing, but for the record of a recall, where it is kept."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request, Response

from mnemolog.http_wire import (
    PREFIX,
    EventTold,
    ResumedTold,
    SavedTold,
    TokenTold,
    Told,
    event_told,
    resumed_told,
    saved_told,
    told,
)
from mnemolog.known import Known
from mnemolog.memory import Memory
from mnemolog.projections.checkpoints.stored import (
    SavedCheckpoint,
    TimelineEntry,
)
from mnemolog.projections.kinds import NAMES
from mnemolog.projections.recall.answer import Recalled
from mnemolog.replay.lineage import Node
from mnemolog.schemas.envelope import RecordedEvent
from mnemolog.schemas.errors import InvalidSetting
from mnemolog.service.answers import (
    PROBLEMS,
    Admin,
    After,
    Reader,
    answer,
    body_as,
    described,
    service_of,
)
from mnemolog.service.asked import (
    CheckpointsQuery,
    GetQuery,
    RecallBody,
    RefQuery,
    ResumeQuery,
    TimelineQuery,
    WaitQuery,
)
from mnemolog.service.core import Caller, token_of
from mnemolog.service.named import Named
from mnemolog.status import status
from mnemolog.waiting import ROWS

router = APIRouter(prefix=PREFIX, tags=["ask"], responses=PROBLEMS)


async def _asked(
    request: Request,
    caller: Caller,
    kind: Any,
    call: Callable[[Memory], Any],
    *,
    after: str | None = None,
) -> Response:
    """Return what *call* says of the caller's memory, a value of *kind*, as the answer."""

    def asks(memory: Memory) -> Response:
        return answer(kind, call(memory))  # written in the thread, too: an answer may be large

    return await service_of(request).ask(caller, asks, after=after)


@router.post(
    "/recall",
    response_model=Recalled,
    operation_id="recall",
    openapi_extra=described(RecallBody),
)
async def recall(request: Request, caller: Reader, after: After = None) -> Response:
    """Return the memories that bear on a question, best first, each with its source."""
    asked = (await body_as(RecallBody, request)).model_dump()
    return await _asked(request, caller, Recalled, lambda m: m.recall(**asked), after=after)


@router.get("/get", response_model=Told, operation_id="get")
async def get(
    request: Request, caller: Reader, asked: Annotated[GetQuery, Query()], after: After = None
) -> Response:
    """Return a memory with its weight, or an event whole."""
    found = partial(_found, asked=asked)
    return await _asked(request, caller, Told, lambda m: told(found(m)), after=after)


def _found(memory: Memory, asked: GetQuery) -> Known | RecordedEvent:
    ref = Named(asked.id, asked.identity)
    match asked.kind:
        case "memory":
            return memory.memory(ref)
        case "event":
            return memory.event(ref, whole=asked.whole)
        case "any":
            return memory.get(ref, whole=asked.whole)


STATUS: Final = dict[str, Any]  # what an operator looks at grows with every release
EVENTS: Final = Sequence[EventTold]


@router.get("/history", response_model=EVENTS, operation_id="history")
async def history(
    request: Request, caller: Reader, asked: Annotated[RefQuery, Query()], after: After = None
) -> Response:
    """Return the events that formed and changed a memory, oldest first."""

    def asks(memory: Memory) -> list[EventTold]:
        return [event_told(event) for event in memory.history(Named(asked.id, asked.identity))]

    return await _asked(request, caller, EVENTS, asks, after=after)


@router.get("/why", response_model=Node, operation_id="why")
async def why(
    request: Request, caller: Reader, asked: Annotated[RefQuery, Query()], after: After = None
) -> Response:
    """Return what a memory, a decision or another event came from, as a tree."""
    ref = Named(asked.id, asked.identity)
    return await _asked(request, caller, Node, lambda m: m.why(ref), after=after)


@router.get("/resume", response_model=ResumedTold, operation_id="resume")
async def resume(
    request: Request, caller: Reader, asked: Annotated[ResumeQuery, Query()], after: After = None
) -> Response:
    """Return where a task stands: its newest sound checkpoint and what came after it."""

    def asks(memory: Memory) -> ResumedTold:
        return resumed_told(memory.resume(asked.task, at=asked.at))

    return await _asked(request, caller, ResumedTold, asks, after=after)


@router.get("/timeline", response_model=Sequence[TimelineEntry], operation_id="timeline")
async def timeline(
    request: Request, caller: Reader, asked: Annotated[TimelineQuery, Query()], after: After = None
) -> Response:
    """Return the last events of an agent, a task, a session or a project, oldest first."""
    call = partial(_called, "timeline", asked.model_dump())
    return await _asked(request, caller, Sequence[TimelineEntry], call, after=after)


@router.get("/checkpoints", response_model=Sequence[SavedCheckpoint], operation_id="checkpoints")
async def checkpoints(
    request: Request,
    caller: Reader,
    asked: Annotated[CheckpointsQuery, Query()],
    after: After = None,
) -> Response:
    """Return saved checkpoints of a task and an agent, the newest first."""
    call = partial(_called, "checkpoints", asked.model_dump())
    return await _asked(request, caller, Sequence[SavedCheckpoint], call, after=after)


def _called(verb: str, asked: dict[str, Any], memory: Memory) -> Any:
    return getattr(memory, verb)(**asked)


@router.get("/saved", response_model=SavedTold, operation_id="saved")
async def saved(
    request: Request, caller: Reader, asked: Annotated[RefQuery, Query()], after: After = None
) -> Response:
    """Return a checkpoint whole, with its vector if there is one."""
    ref = Named(asked.id, asked.identity)
    asks = partial(_saved, ref)
    return await _asked(request, caller, SavedTold, asks, after=after)


def _saved(ref: Named, memory: Memory) -> SavedTold:
    return saved_told(memory.saved(ref))


@router.get("/end", response_model=TokenTold, operation_id="end")
async def end(request: Request, caller: Reader) -> Response:
    """Return the token of all that the log holds now."""

    def asks(memory: Memory) -> Response:
        token = str(memory.end())
        return answer(TokenTold, TokenTold(token=token), token=token)

    return await service_of(request).ask(caller, asks)


@router.get("/wait", response_model=TokenTold, operation_id="wait")
async def wait(
    request: Request, caller: Reader, asked: Annotated[WaitQuery, Query()], after: After = None
) -> Response:
    """Answer once the read models hold what the token in the header covers."""
    token = token_of(after or "")
    await service_of(request).wait(
        caller,
        token,
        timeout_seconds=asked.timeout_seconds,
        projections=ROWS if asked.projections is None else _names(asked.projections),
        vectors=asked.vectors,
    )
    return answer(TokenTold, TokenTold(token=str(token)), token=str(token))


def _names(projections: str) -> tuple[str, ...]:
    names = tuple(name for name in projections.split(",") if name)
    for name in names:
        if name not in NAMES:
            raise InvalidSetting("projections", name, f"one of {', '.join(NAMES)}")
    return names


@router.get("/status", response_model=STATUS, operation_id="status")
async def status_of_tenant(request: Request, caller: Admin) -> Response:
    """Return how the tenant stands, as `mnemolog status --json` does: for operators' eyes."""
    return await _asked(request, caller, STATUS, lambda m: status(m.engine).to_dict())
