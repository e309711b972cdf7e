"""The application: endpoints, their errors, and the document that describes them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.responses import PlainTextResponse
from pydantic.json_schema import models_json_schema

from mnemolog.http_errors import NoSuchEndpoint
from mnemolog.schemas.errors import MnemologError
from mnemolog.service import asking_routes, writing_routes
from mnemolog.service.answers import (
    PROBLEMS,
    Admin,
    Problem,
    answer,
    problem,
    service_of,
    unusable,
)
from mnemolog.service.asked import EventBody, EventsBody, ForgetBody, RecallBody, SavingBody
from mnemolog.service.bounds import Bounds
from mnemolog.service.core import Service

API_VERSION: Final = "1"
TITLE: Final = "mnemolog"
_BY_HAND: Final = (EventBody, EventsBody, ForgetBody, RecallBody, SavingBody, Problem)
_PLACE: Final = "#/components/schemas/{model}"
# What the codec says of an event is in asyncapi.json: here only what every CloudEvent has.
_CLOUD_EVENT: Final[dict[str, Any]] = {
    "title": "CloudEvent",
    "description": "A CloudEvent 1.0. Ours are described in schemas/json/asyncapi.json.",
    "type": "object",
    "required": ["specversion", "id", "source", "type"],
    "properties": {
        "specversion": {"const": "1.0"},
        "id": {"type": "string", "minLength": 1},
        "source": {"type": "string", "minLength": 1},
        "type": {"type": "string", "minLength": 1},
        "data": {},
    },
}

health = APIRouter(tags=["health"], responses=PROBLEMS)


@health.get("/healthz", response_model=dict[str, str], operation_id="healthz")
async def healthz(request: Request) -> Response:
    """Say that the process lives, and that nothing stands still in it which a restart may mend."""
    service_of(request).check_alive()
    return answer(dict[str, str], {"status": "alive"})


@health.get("/readyz", response_model=dict[str, str], operation_id="readyz")
async def readyz(request: Request) -> Response:
    """Say that one may ask: open tenants' logs answer, their projections are not far behind."""
    await service_of(request).check_ready()
    return answer(dict[str, str], {"status": "ready"})


@health.get(
    "/metrics",
    response_class=PlainTextResponse,
    responses={200: {"description": "Metrics in Prometheus's text format, version 0.0.4."}},
    operation_id="metrics",
)
async def metrics(request: Request, caller: Admin) -> Response:
    """Return the metrics of the caller's tenant, and of no other."""
    from mnemolog.metrics import CONTENT_TYPE  # noqa: PLC0415 - its client is slow to load

    return Response(service_of(request).metrics(caller), media_type=CONTENT_TYPE)


def application(service: Service) -> FastAPI:
    """Return the endpoints of *service*, without the bounds around them."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        service.start()
        yield
        service.close()

    app = FastAPI(
        title=TITLE,
        version=API_VERSION,
        summary="Event-sourced memory for AI agents: append, recall, resume, ask why.",
        lifespan=lifespan,
        docs_url=None,  # their pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.service = service
    for router in (writing_routes.router, asking_routes.router, health):
        app.include_router(router)
    app.add_exception_handler(MnemologError, _told)
    app.add_exception_handler(RequestValidationError, _unusable)
    app.add_exception_handler(Exception, _failed)
    app.add_exception_handler(404, _no_such)
    app.add_exception_handler(405, _no_such)
    setattr(app, "openapi", lambda: _document(app))  # noqa: B010 - the way that FastAPI documents
    return app


def bounded(service: Service) -> Bounds:
    """Return the application of *service* within its bounds: this is what a server runs."""
    app = application(service)
    return Bounds(app, service.limits, loopback_only=not service.has_keys)


async def _told(_: Request, error: Exception) -> Response:
    assert isinstance(error, MnemologError), error
    return problem(error)


async def _failed(_: Request, error: Exception) -> Response:
    del error  # its words are the log's, and not the caller's: the bounds log it
    return problem(MnemologError("the service failed at this request"))


async def _unusable(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError), error
    first = error.errors()[0]
    return problem(unusable(first["loc"][1:], first.get("input"), first["msg"]))


async def _no_such(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 404)
    found = NoSuchEndpoint(f"nothing answers {request.method} {request.url.path}")
    told = problem(found, status=status)
    for name, value in (getattr(error, "headers", None) or {}).items():
        told.headers[name] = value  # which methods there are
    return told


def _without_null(parameters: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return *parameters* as a query or a header can have them: absent, but never null."""
    told = []
    for one in parameters:
        schema = dict(one["schema"])
        kinds = [kind for kind in schema.pop("anyOf", []) if kind != {"type": "null"}]
        told.append({**one, "schema": {**schema, **kinds[0]} if kinds else schema})
    return told


def _document(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document: what is read by hand is described, too."""
    if app.openapi_schema is None:
        made = get_openapi(
            title=app.title,
            version=app.version,
            summary=app.summary,
            routes=app.routes,
        )
        _, named = models_json_schema([(m, "validation") for m in _BY_HAND], ref_template=_PLACE)
        schemas = made.setdefault("components", {}).setdefault("schemas", {})
        schemas.update({**named["$defs"], "CloudEvent": _CLOUD_EVENT})
        for methods in made["paths"].values():
            for operation in methods.values():
                operation["parameters"] = _without_null(operation.get("parameters", []))
        app.openapi_schema = made
    return app.openapi_schema
