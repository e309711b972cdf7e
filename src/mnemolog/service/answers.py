"""How endpoints answer, and how they are described: JSON of the wire's types, and problems."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, TypeVar

from fastapi import Depends, Header, Request, Response, Security
from fastapi.security import HTTPBearer
from pydantic import BaseModel, ConfigDict, ValidationError

from mnemolog.http_problems import MEDIA_TYPE, problem_of, status_of
from mnemolog.http_wire import JSON, TOKEN_HEADER, Right, dumped
from mnemolog.schemas.errors import InvalidSetting, MnemologError
from mnemolog.service.appending import check_media_type, read_json
from mnemolog.service.bounds import headers_of
from mnemolog.service.core import TOKEN_CHARACTERS_MAX, Caller, Service

B = TypeVar("B", bound=BaseModel)

_KEY: Final = HTTPBearer(
    auto_error=False,
    scheme_name="key",
    description="A key of `mnemolog serve keys add`; a service without keys needs none.",
)


class Problem(BaseModel):
    """A problem document (RFC 9457)."""

    model_config = ConfigDict(title="Problem")

    type: str
    title: str
    status: int
    detail: str
    code: str
    hint: str
    field: str | None = None
    about: dict[str, Any] = {}


_PROBLEM: Final[dict[str, Any]] = {
    "description": "A problem document: `code` says what it is, `hint` what to do.",
    "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
}
PROBLEMS: Final[dict[int | str, dict[str, Any]]] = {"4XX": _PROBLEM, "5XX": _PROBLEM}
TOKEN_SENT: Final[dict[str, Any]] = {
    "description": "What covers the events of this answer; send it back with a question.",
    "schema": {"type": "string"},
}

_TOKEN: Final = "^([0-9]{1,9}@[0-9]{1,18}(,[0-9]{1,9}@[0-9]{1,18})*)?$"  # noqa: S105 - a form

After = Annotated[
    str | None,
    Header(
        alias=TOKEN_HEADER,
        pattern=_TOKEN,
        max_length=TOKEN_CHARACTERS_MAX,
        description="The answer knows what this token covers: what an append returned.",
    ),
]


def service_of(request: Request) -> Service:
    """Return the service that answers *request*."""
    service: Service = request.app.state.service
    return service


def needs(right: Right) -> Any:
    """Return the dependency that gives who asks, if it has *right*."""

    async def caller(request: Request, _: Annotated[Any, Security(_KEY)] = None) -> Caller:
        return service_of(request).caller(request.headers.get("authorization"), right=right)

    return Depends(caller)


Reader = Annotated[Caller, needs("read")]
Appender = Annotated[Caller, needs("append")]
Admin = Annotated[Caller, needs("admin")]


def answer(kind: Any, value: Any, *, token: str | None = None) -> Response:
    """Return *value*, of the wire's type *kind*, as the answer."""
    headers = None if token is None else {TOKEN_HEADER: token}
    return Response(dumped(kind, value), media_type=JSON, headers=headers)


def problem(error: MnemologError, *, status: int | None = None) -> Response:
    """Return *error* as the answer."""
    document = problem_of(error, status=status)
    headers = {name.decode(): value.decode() for name, value in headers_of(error)}
    return Response(
        dumped(dict[str, Any], document),
        status_code=status or status_of(error),
        media_type=MEDIA_TYPE,
        headers=headers,
    )


def media_type_of(request: Request) -> str:
    """Return what the body is said to be, without parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def body_as(model: type[B], request: Request) -> B:
    """Return the JSON body as a *model*. Raises BadRequest, or InvalidSetting with the field."""
    check_media_type(media_type_of(request), JSON)
    said = read_json(await request.body())
    try:
        return model.model_validate(said)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        raise unusable(first["loc"], first.get("input"), first["msg"]) from error


def unusable(place: Sequence[Any], value: Any, limit: str) -> InvalidSetting:
    """Return the error that says of what was asked at *place* that it can't be used."""
    return InvalidSetting(".".join(map(str, place)) or "body", value, limit)


def described(*models: type[BaseModel], kinds: Sequence[str] = (JSON,)) -> dict[str, Any]:
    """Return what describes a body that is read by hand: one of *models* in JSON, or *kinds*."""
    named = [{"$ref": f"#/components/schemas/{model.__name__}"} for model in models]
    ours: dict[str, Any] = {"schema": named[0] if len(named) == 1 else {"anyOf": named}}
    event = {"$ref": "#/components/schemas/CloudEvent"}
    schemas: dict[str, Callable[[], dict[str, Any]]] = {
        JSON: lambda: ours,
        "application/cloudevents+json": lambda: {"schema": event},
        "application/cloudevents-batch+json": lambda: {
            "schema": {"type": "array", "items": event, "maxItems": 1_000}
        },
    }
    return {"requestBody": {"required": True, "content": {k: schemas[k]() for k in kinds}}}
