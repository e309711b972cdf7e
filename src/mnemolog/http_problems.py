"""Errors as problem documents (RFC 9457) and back: the one place that maps classes to statuses."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from mnemolog.http_errors import (
    BadRequest,
    BodyTooLarge,
    BodyTooSlow,
    NoSuchEndpoint,
    Refused,
    UnknownKey,
    UnknownMediaType,
)
from mnemolog.schemas.errors import (
    Circular,
    Damaged,
    EventTooLarge,
    InvalidEvent,
    InvalidSetting,
    LeaseHeld,
    MnemologError,
    NeedsRebuild,
    NewerRelease,
    NoRoom,
    NotFound,
    Parked,
    ReadOnly,
    StoreUnavailable,
    TimedOut,
    shown,
)

MEDIA_TYPE: Final = "application/problem+json"
TYPE_PREFIX: Final = "urn:mnemolog:problem:"
DETAIL_CHARACTERS_MAX: Final = 2_000

# A class that is not here has the status of the nearest class above it.
STATUS: Final[Mapping[type[MnemologError], int]] = {
    MnemologError: 500,
    InvalidEvent: 422,
    EventTooLarge: 413,
    InvalidSetting: 422,
    NeedsRebuild: 503,
    NewerRelease: 503,
    NotFound: 404,
    ReadOnly: 403,
    StoreUnavailable: 503,
    NoRoom: 507,
    TimedOut: 504,
    LeaseHeld: 503,
    Parked: 409,
    Damaged: 500,
    Circular: 422,
    Refused: 403,
    UnknownKey: 401,
    BadRequest: 400,
    BodyTooLarge: 413,
    BodyTooSlow: 408,
    UnknownMediaType: 415,
    NoSuchEndpoint: 404,
}


def status_of(error: MnemologError) -> int:
    """Return the HTTP status that tells of *error*."""
    return next(STATUS[one] for one in type(error).__mro__ if one in STATUS)


def problem_of(error: MnemologError, *, status: int | None = None) -> dict[str, Any]:
    """Return the document that tells of *error*: `error_of` makes the error of it again."""
    problem: dict[str, Any] = {
        "type": TYPE_PREFIX + error.code,
        "title": _title(type(error)),
        "status": status or status_of(error),
        "detail": _safe(str(error))[:DETAIL_CHARACTERS_MAX],
        "code": error.code,
        "hint": error.hint,
    }
    field = getattr(error, "field", None) or getattr(error, "name", None)
    if isinstance(field, str):
        problem["field"] = _safe(field)
    told = {name: _plain(value) for name, value in vars(error).items() if name != "hint"}
    return {**problem, "about": told}


def error_of(problem: Mapping[str, Any]) -> MnemologError:
    """Return the error that *problem* tells of; of a code that this release has not, the root's."""
    code = problem.get("code")
    kind = next((one for one in _kinds(MnemologError) if one.code == code), MnemologError)
    error = kind.__new__(kind)
    error.args = (str(problem.get("detail", code)),)
    about = problem.get("about")
    for name, value in about.items() if isinstance(about, dict) else ():
        setattr(error, name, tuple(value) if isinstance(value, list) else value)
    error.hint = str(problem.get("hint", kind.hint))
    return error


def _kinds(kind: type[MnemologError]) -> Iterator[type[MnemologError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from _kinds(below)


def _title(kind: type[MnemologError]) -> str:
    return (kind.__doc__ or kind.__name__).splitlines()[0].rstrip(".")


def _plain(value: Any) -> Any:
    """Return *value* if JSON can hold it as it is, else its short form."""
    match value:
        case None | bool() | float():
            return value
        case int():
            return value if value.bit_length() <= 63 else shown(value)  # noqa: PLR2004 - JSON's
        case str():
            return _safe(value)[:DETAIL_CHARACTERS_MAX]
        case list() | tuple():
            return [_plain(item) for item in value]
        case _:
            return shown(value)


def _safe(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
