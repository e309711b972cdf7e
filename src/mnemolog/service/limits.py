"""Every bound of the service, by name."""

from dataclasses import dataclass
from typing import Final

BODY_BYTES_MAX: Final = 16_777_216  # of one request
BODIES_BYTES_MAX: Final = 268_435_456  # of all requests that are under way
BODY_SECONDS_MAX: Final = 30.0  # in which a request's body has to come
REQUESTS_MAX: Final = 1_024  # under way at one time
APPENDS_AT_ONCE_MAX: Final = 16
ASKS_AT_ONCE_MAX: Final = 16
WAITS_AT_ONCE_MAX: Final = 64
QUEUED_MAX: Final = 256  # for each of the three
WAIT_SECONDS_MAX: Final = 60.0  # for what a token covers
ANSWER_SECONDS_MAX: Final = 90.0  # a recall's own bound and an append's are below it
TENANTS_MAX: Final = 64  # open at one time
EVENTS_MAX: Final = 1_000  # in one append


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The bounds of one service."""

    body_bytes: int = BODY_BYTES_MAX
    bodies_bytes: int = BODIES_BYTES_MAX
    body_seconds: float = BODY_SECONDS_MAX
    requests: int = REQUESTS_MAX
    appends_at_once: int = APPENDS_AT_ONCE_MAX
    asks_at_once: int = ASKS_AT_ONCE_MAX
    waits_at_once: int = WAITS_AT_ONCE_MAX
    queued: int = QUEUED_MAX
    wait_seconds: float = WAIT_SECONDS_MAX
    answer_seconds: float = ANSWER_SECONDS_MAX
    tenants: int = TENANTS_MAX
