"""Running the service: where it may listen, and its end on SIGTERM or Ctrl-C."""

import signal
import socket
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import structlog
import uvicorn

from mnemolog.health_listener import told
from mnemolog.memory import Memory
from mnemolog.schemas.errors import InvalidSetting, StoreUnavailable
from mnemolog.service.app import bounded
from mnemolog.service.core import Service
from mnemolog.service.hosts import is_loopback
from mnemolog.service.keys import FILE, KeyFile
from mnemolog.settings import Settings

HOST_DEFAULT: Final = "127.0.0.1"
PORT_DEFAULT: Final = 8420
PORT_MAX: Final = 65_535
CONNECTIONS_MAX: Final = 2_048  # open at one time; the bound on requests is below it
BACKLOG_MAX: Final = 512
IDLE_SECONDS_MAX: Final = 30  # for the next request of a connection
END_SECONDS_MAX: Final = 30  # for what is under way when the service is told to end

_log = structlog.get_logger("mnemolog.service")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What to serve, and where. `keys` is the file; None for the one in the data folder."""

    settings: Settings
    host: str = HOST_DEFAULT
    port: int = PORT_DEFAULT
    keys: Path | None = None


def key_file(settings: Settings, given: Path | None) -> Path:
    """Return the file of keys: the *given* one, or the one in the data folder."""
    if given is not None:
        return given
    if settings.is_in_memory:
        raise InvalidSetting("keys", settings["data"], "a memory without a folder: name a file")
    return Path(settings["data"]).expanduser().absolute() / FILE


def serve(wanted: Wanted, *, tell: Callable[[str], None] = lambda _: None) -> None:
    """Serve until SIGTERM or Ctrl-C. *tell* hears the address once it is listened at.

    Raises InvalidSetting for a place where it may not listen, StoreUnavailable where it can't.
    """
    service = service_for(wanted)
    with (
        closing(listening(wanted.host, wanted.port)) as bound,
        told(service.watch, service.watching, by_default=False),
    ):
        address = _address(bound)
        config = uvicorn.Config(
            bounded(service),
            log_config=None,
            access_log=False,
            server_header=False,
            limit_concurrency=CONNECTIONS_MAX,
            timeout_keep_alive=IDLE_SECONDS_MAX,
            timeout_graceful_shutdown=END_SECONDS_MAX,
            lifespan="on",
        )
        _log.info("serving", address=address, keys=service.has_keys)
        tell(address)
        if threading.current_thread() is threading.main_thread():
            # The server ends well on SIGTERM, and then sends it again to who had it before.
            signal.signal(signal.SIGTERM, lambda *_: None)
        uvicorn.Server(config).run(sockets=[bound])


def service_for(wanted: Wanted) -> Service:
    """Return the service that is *wanted*. Raises InvalidSetting: see `check_place`."""
    settings = wanted.settings
    has_file = wanted.keys is not None or not settings.is_in_memory
    path = key_file(settings, wanted.keys) if has_file else None
    has_keys = path is not None and (wanted.keys is not None or path.exists())
    keys = KeyFile(path).read() if path is not None and has_keys else []
    check_place(wanted.host, wanted.port, has_keys=bool(keys))
    if path is not None and path.exists():
        _log.info("keys are read", path=str(path), keys=len(keys))
    return Service(
        _opener(settings),
        tenant=settings.tenant,
        keys=path if has_keys else None,
        watching=settings.watching,
    )


def check_place(host: str, port: int, *, has_keys: bool) -> None:
    """Raise InvalidSetting for a place where a service may not listen."""
    if not 0 <= port <= PORT_MAX:
        raise InvalidSetting("port", port, f"0 to {PORT_MAX}; 0 takes a free one")
    if not has_keys and not is_loopback(host):
        limit = "only this machine may ask without a key: `mnemolog serve keys add` makes one"
        raise InvalidSetting("host", host, limit)


def _opener(settings: Settings) -> Callable[[str], Memory]:
    """Return what opens a tenant's memory by *settings*, whose values it names one by one."""
    given: dict[str, Any] = {
        "data": settings["data"],
        "log": settings["log"] or None,
        "embedder": settings["embedder"],
        "partitions": settings.partitions,
    }

    def opens(tenant: str) -> Memory:
        return Memory(tenant=tenant, **given)

    return opens


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens there. Raises StoreUnavailable."""
    try:
        family, *_, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, socket.SOCK_STREAM)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(place)
        bound.listen(BACKLOG_MAX)
    except OSError as error:
        raise StoreUnavailable(
            f"{host} port {port}", str(error), hint="Is another service listening there?"
        ) from error
    return bound


def _address(bound: socket.socket) -> str:
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
