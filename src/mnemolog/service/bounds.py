"""The outermost layer: bounds on requests and bodies, and the last word on failures.

It reads the whole body before anything else sees the request, and answers nothing but problem
documents of its own.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

import structlog

from mnemolog.http_errors import BadRequest, BodyTooLarge, BodyTooSlow, Busy
from mnemolog.http_problems import MEDIA_TYPE, problem_of, status_of
from mnemolog.schemas.errors import MnemologError
from mnemolog.service.hosts import is_loopback, name_in
from mnemolog.service.limits import Limits

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

RETRY_AFTER_SECONDS: Final = b"1"
ALIVE: Final = "/healthz"
DRAINED_BODIES_MAX: Final = 4  # what is too large is read on for so long: else no answer is read

_log = structlog.get_logger("mnemolog.service")


class Bounds:
    """Lets *app* answer what stays within *limits*. With *loopback_only*, named so, too.

    A browser that is led here by another host's name would be let in without a key: so a request
    has to name this host.
    """

    def __init__(self, app: App, limits: Limits, *, loopback_only: bool) -> None:
        self.app = app
        self._limits = limits
        self._loopback_only = loopback_only
        self._under_way = 0
        self._bytes_held = 0

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request, or run the application's beginning and end."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        answer = _Answer(send)
        self._under_way += 1
        try:
            await self._answered(scope, receive, answer)
        except MnemologError as error:
            await answer.fail(error)
        except Exception:  # noqa: BLE001 - the last word: whatever it is, it is ours to look at
            _log.exception("a request failed", path=scope["path"])
            await answer.fail(MnemologError("the service failed at this request"))
        finally:
            self._under_way -= 1

    async def _answered(self, scope: Message, receive: Receive, answer: "_Answer") -> None:
        is_alive = scope["path"] == ALIVE  # however busy it is
        if self._under_way > self._limits.requests and not is_alive:
            raise Busy("service", f"{self._limits.requests} requests are under way")
        if self._loopback_only and not is_loopback(name_in(_header(scope, b"host"))):
            raise BadRequest("the Host header names another host; without keys only loopback is")
        held = _Held()
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                body = await self._body(scope, receive, held)
            await self.app(scope, _replayed(body, receive), answer.send)
        except TimeoutError as error:
            if held.is_whole:
                raise
            raise BodyTooSlow(f"no body within {self._limits.body_seconds:g} s") from error
        finally:
            self._bytes_held -= held.bytes

    async def _body(self, scope: Message, receive: Receive, held: "_Held") -> bytes:
        """Return the body. Raises BodyTooLarge, or Busy where all bodies together are too large."""
        told = _header(scope, b"content-length")
        most = self._limits.body_bytes
        is_too_large = told.isdecimal() and (len(told) > len(str(most)) or int(told) > most)
        parts, size, more = [], 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise BadRequest("the connection ended within the body")
            part, more = message.get("body", b""), message.get("more_body", False)
            size += len(part)
            is_too_large = is_too_large or size > most
            if size > DRAINED_BODIES_MAX * most:
                break
            if not is_too_large:
                self._hold(len(part), held)
                parts.append(part)
        if is_too_large:
            raise BodyTooLarge(most)
        held.is_whole = True
        return b"".join(parts)

    def _hold(self, size: int, held: "_Held") -> None:
        if self._bytes_held + size > self._limits.bodies_bytes:
            raise Busy("service", f"{self._bytes_held} bytes of bodies are under way")
        self._bytes_held += size
        held.bytes += size


class _Held:
    """How much of a body is held, and whether that is all of it."""

    bytes = 0
    is_whole = False


class _Answer:
    """An answer under way: a failure is told only while nothing of it went out."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._begun = False

    async def send(self, message: Message) -> None:
        self._begun = True
        await self._send(message)

    async def fail(self, error: MnemologError) -> None:
        """Send *error* as a problem document."""
        if self._begun:
            return
        status = status_of(error)
        content = json.dumps(problem_of(error)).encode()
        headers = [
            (b"content-type", MEDIA_TYPE.encode()),
            (b"content-length", str(len(content)).encode()),
            *headers_of(error),
        ]
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        await self.send({"type": "http.response.body", "body": content})


def headers_of(error: MnemologError) -> list[tuple[bytes, bytes]]:
    """Return the headers that go with *error*: when to retry, how to say who one is."""
    match status_of(error):
        case 503:
            return [(b"retry-after", RETRY_AFTER_SECONDS)]
        case 401:
            return [(b"www-authenticate", b"Bearer")]
        case _:
            return []


def _header(scope: Message, name: bytes) -> str:
    found: bytes = next((value for key, value in scope["headers"] if key == name), b"")
    return found.decode("latin-1")


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return what gives *body* at once, and then whatever else comes."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay
