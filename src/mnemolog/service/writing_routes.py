"""Endpoints that append."""

from typing import Any

from fastapi import APIRouter, Request, Response

from mnemolog.http_wire import PREFIX, TOKEN_HEADER, AppendedEvents, appended_told
from mnemolog.memory import Memory
from mnemolog.service.answers import (
    PROBLEMS,
    TOKEN_SENT,
    After,
    Appender,
    answer,
    body_as,
    described,
    media_type_of,
    service_of,
)
from mnemolog.service.appending import MEDIA_TYPES, append
from mnemolog.service.asked import EventBody, EventsBody, ForgetBody, SavingBody
from mnemolog.service.named import Named

APPENDED = {200: {"headers": {TOKEN_HEADER: TOKEN_SENT}}, **PROBLEMS}

router = APIRouter(prefix=PREFIX, tags=["append"])


@router.post(
    "/events",
    response_model=AppendedEvents,
    responses=APPENDED,
    openapi_extra=described(EventBody, EventsBody, kinds=MEDIA_TYPES),
    operation_id="append",
)
async def append_events(request: Request, caller: Appender) -> Response:
    """Append one event or many, in order; answers once the log has them durably.

    An event that was appended before, of the same agent, source and id, counts once: retry with
    the same ids. All are checked before the first is appended. What rules others (policies,
    teams, erasures, skips) needs the right admin.
    """
    body, media_type = await request.body(), media_type_of(request)

    def appends(memory: Memory) -> AppendedEvents:
        return append(memory, body, media_type=media_type, rights=caller.rights)

    appended = await service_of(request).append(caller, appends)
    return answer(AppendedEvents, appended, token=appended.token)


@router.post(
    "/forget",
    response_model=AppendedEvents,
    responses=APPENDED,
    openapi_extra=described(ForgetBody),
    operation_id="forget",
)
async def forget(request: Request, caller: Appender, after: After = None) -> Response:
    """Forget memories, events or a text for good, in every read model.

    An id is looked up there: the token of what was just appended makes it known.
    """
    asked = await body_as(ForgetBody, request)
    scope: Any = {} if asked.scope is None else asked.scope.model_dump(exclude_none=True)

    def forgets(memory: Memory) -> AppendedEvents:
        refs = [Named(ref.id, ref.identity) for ref in asked.refs]
        done = memory.forget(*refs, text=asked.text, reason=asked.reason, **scope)
        return AppendedEvents(events=[appended_told(done)], token=str(done.token))

    appended = await service_of(request).append(caller, forgets, after=after)
    return answer(AppendedEvents, appended, token=appended.token)


@router.post(
    "/save",
    response_model=AppendedEvents,
    responses=APPENDED,
    openapi_extra=described(SavingBody),
    operation_id="save",
)
async def save(request: Request, caller: Appender) -> Response:
    """Save an agent's state before a costly action, by the rule that saves checkpoints by policy.

    Answers no event where nothing was told since the last checkpoint, or the policy wants none.
    """
    asked = await body_as(SavingBody, request)
    scope: Any = asked.scope.model_dump(exclude_none=True)

    def saves(memory: Memory) -> AppendedEvents:
        done = memory._save_before(scope)  # noqa: SLF001 - the client's half of it asks for this
        events = [] if done is None else [appended_told(done)]
        return AppendedEvents(events=events, token="" if done is None else str(done.token))

    appended = await service_of(request).append(caller, saves)
    return answer(AppendedEvents, appended, token=appended.token)
