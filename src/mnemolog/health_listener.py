"""Health and metrics over HTTP for who runs this process: /healthz, /readyz, /metrics.

It has no keys, and tells of every tenant: it listens on this machine alone unless somebody says
otherwise. It answers while everything else hangs, since it does nothing but tell what was seen.
"""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

import structlog

from mnemolog.schemas.errors import StoreUnavailable
from mnemolog.service.hosts import is_loopback, name_in
from mnemolog.watch_settings import LISTEN_DEFAULT, Watching, place_of
from mnemolog.watching import Told, Watch

REQUEST_SECONDS_MAX: Final = 10.0  # for a request to come
PLAIN: Final = "text/plain; charset=utf-8"
JSON: Final = "application/json"

_log = structlog.get_logger("mnemolog.watch")


class HealthListener:
    """Listens at *host* and *port*, from the making to `close`. Raises StoreUnavailable."""

    def __init__(self, watch: Watch, host: str, port: int) -> None:
        try:
            self._server = _Server(watch, host, port)
        except OSError as error:
            hint = "Is another worker listening there? MNEMOLOG_HEALTH_LISTEN names another place."
            raise StoreUnavailable(f"{host} port {port}", str(error), hint=hint) from error
        self.port: int = self._server.server_address[1]
        name = "mnemolog-health"
        self._thread = threading.Thread(target=self._server.serve_forever, name=name, daemon=True)
        self._thread.start()
        _log.info("health is told", host=host, port=self.port)

    def close(self) -> None:
        """Listen no longer. Harmless twice."""
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def told(watch: Watch, watching: Watching, *, by_default: bool) -> Iterator[None]:
    """Let *watch* be asked where *watching* says while the block runs.

    With *by_default* it listens though nothing was said, if that place is free. Raises
    StoreUnavailable for a place that was named and can't be listened at.
    """
    listener = _listener(watch, watching, by_default=by_default)
    try:
        yield
    finally:
        if listener is not None:
            listener.close()


@contextmanager
def watched(watch: Watch, watching: Watching, *, by_default: bool) -> Iterator[Watch]:
    """Let *watch* look, and be asked as `told` says, while the block runs."""
    with told(watch, watching, by_default=by_default):
        watch.start()
        try:
            yield watch
        finally:
            watch.stop()


def _listener(watch: Watch, watching: Watching, *, by_default: bool) -> HealthListener | None:
    if watching.is_off:
        return None
    if watching.listen is not None:
        return HealthListener(watch, *watching.listen)
    if not by_default:
        return None
    try:
        return HealthListener(watch, *place_of(LISTEN_DEFAULT))
    except StoreUnavailable as error:
        _log.warning("health is not told", error=str(error), hint=error.hint)
        return None


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, watch: Watch, host: str, port: int) -> None:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        self.address_family = found[0]
        self.watch = watch
        self.is_local = is_loopback(host)
        super().__init__((host, port), _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = REQUEST_SECONDS_MAX
    server_version = "mnemolog"
    sys_version = ""

    def do_GET(self) -> None:
        """Answer."""
        watch, path = self.server.watch, self.path.partition("?")[0]
        if self.server.is_local and not is_loopback(name_in(self.headers.get("Host", ""))):
            self._tell(HTTPStatus.BAD_REQUEST, PLAIN, b"the Host header names another host\n")
        elif path == "/healthz":
            self._tell_health("alive", watch.alive())
        elif path == "/readyz":
            self._tell_health("ready", watch.ready())
        elif path == "/metrics":
            from mnemolog.metrics import CONTENT_TYPE  # noqa: PLC0415 - its client is slow to load

            self._tell(HTTPStatus.OK, CONTENT_TYPE, watch.metrics())
        else:
            self._tell(HTTPStatus.NOT_FOUND, PLAIN, b"/healthz, /readyz, /metrics\n")

    do_HEAD = do_GET  # noqa: N815 - as above

    def log_message(self, *_: object) -> None:
        """Say nothing of each request."""

    def _tell_health(self, word: str, seen: Told) -> None:
        status = HTTPStatus.OK if seen.is_well else HTTPStatus.SERVICE_UNAVAILABLE
        said = {
            "status": word if seen.is_well else f"not {word}",
            "level": seen.level.word,
            "details": seen.details,
        }
        self._tell(status, JSON, json.dumps(said).encode())

    def _tell(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
