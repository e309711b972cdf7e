"""One service, asked: its address, a key, time-outs, and retries that change nothing twice."""

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Final

import httpx

from mnemolog.http_errors import Busy
from mnemolog.http_problems import MEDIA_TYPE, error_of
from mnemolog.http_wire import JSON, PREFIX, TOKEN_HEADER
from mnemolog.schemas.errors import InvalidSetting, LogUnavailable, MnemologError, StoreUnavailable
from mnemolog.schemas.positions import Token

ATTEMPTS_MAX: Final = 4
BACK_OFF_SECONDS: Final = 0.2  # before the second attempt; then twice as long
CONNECT_SECONDS_MAX: Final = 5.0
ANSWER_SECONDS_MAX: Final = 120.0  # above a service's own bound, which says more
CONNECTIONS_MAX: Final = 32
# A connection that was lost is soon there again; who has waited for an answer has waited enough.
_LOST: Final = (httpx.NetworkError, httpx.RemoteProtocolError, httpx.ConnectTimeout)
_BUSY: Final = 503  # without a document it comes from the server itself, or a proxy before it


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to a service: `appends` says that its failure is the log's."""

    method: str
    path: str
    params: Mapping[str, Any] | None = None
    body: Any = None
    after: Token | None = None
    appends: bool = False


class Client:
    """Asks the service at *url*. Any thread may use it."""

    def __init__(self, url: str, *, key: str | None) -> None:
        """Make a client; nothing is asked yet. Raises InvalidSetting for what is no address."""
        self._address = _address(url)
        headers = {} if key is None else {"Authorization": f"Bearer {_sendable(key)}"}
        self._http = httpx.Client(
            base_url=self._address,
            headers=headers,
            timeout=httpx.Timeout(ANSWER_SECONDS_MAX, connect=CONNECT_SECONDS_MAX),
            limits=httpx.Limits(max_connections=CONNECTIONS_MAX),
            # A proxy of the environment knows no way to this very machine.
            trust_env=not _is_this_machine(self._address.host),
        )
        self._closed = threading.Event()

    def send(self, ask: Ask) -> bytes:
        """Return the answer to *ask*.

        A failed connection and a service that is busy are tried again: an event's id is fixed
        before it is sent. Raises what the service tells, or StoreUnavailable.
        """
        request = self._request(ask)
        wait = BACK_OFF_SECONDS
        for attempt in range(1, ATTEMPTS_MAX + 1):
            try:
                return self._answer(ask, request)
            except (Busy, StoreUnavailable) as error:
                may_retry = isinstance(error, Busy) or isinstance(error.__cause__, _LOST)
                if not may_retry or attempt == ATTEMPTS_MAX or self._closed.wait(wait):
                    raise
            wait *= 2
        raise AssertionError("the last attempt returns or raises")

    def close(self) -> None:
        """Let the connections go. Harmless twice."""
        self._closed.set()
        self._http.close()

    def _request(self, ask: Ask) -> httpx.Request:
        headers = {} if ask.after is None else {TOKEN_HEADER: str(ask.after)}
        content = None
        if ask.body is not None:
            headers["Content-Type"] = JSON
            content = json.dumps(ask.body).encode()  # in ASCII: a lone surrogate is an escape
        try:
            return self._http.build_request(
                ask.method, PREFIX + ask.path, params=ask.params, content=content, headers=headers
            )
        except UnicodeEncodeError as error:
            raise InvalidSetting("query", ask.path, "it holds a lone surrogate") from error

    def _answer(self, ask: Ask, request: httpx.Request) -> bytes:
        if self._closed.is_set():
            raise self._unavailable(ask, "this handle was closed")
        try:
            response = self._http.send(request)
        except httpx.HTTPError as error:
            raise self._unavailable(ask, f"{type(error).__name__}: {error}") from error
        if response.is_success:
            return response.content
        raise self._told(ask, response)

    def _told(self, ask: Ask, response: httpx.Response) -> MnemologError:
        """Return the error that *response* tells of."""
        media_type = response.headers.get("content-type", "").partition(";")[0]
        if media_type == MEDIA_TYPE:
            try:
                problem = response.json()
            except ValueError:
                problem = None
            if isinstance(problem, dict):
                return error_of(problem)
        reason = f"it answered {response.status_code} {media_type}, and no problem document"
        if response.status_code == _BUSY:
            return Busy(str(self._address), reason)
        return self._unavailable(ask, reason)

    def _unavailable(self, ask: Ask, reason: str) -> StoreUnavailable:
        kind = LogUnavailable if ask.appends else StoreUnavailable
        hint = "Is the service running there? A retry with the same id adds nothing twice."
        return kind(str(self._address), reason, hint=hint)


def _address(url: str) -> httpx.URL:
    try:
        address = httpx.URL(url)
    except (httpx.InvalidURL, UnicodeError) as error:
        raise InvalidSetting("data", url, "http://host:port of a service") from error
    if not address.host or address.query or address.fragment or address.userinfo:
        raise InvalidSetting("data", url, "http://host:port of a service, and nothing behind it")
    return address


def _sendable(key: str) -> str:
    if not (isinstance(key, str) and key.isascii() and key.isprintable() and key.strip()):
        raise InvalidSetting("key", "…", "a key of `mnemolog serve keys add`")
    return key


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
