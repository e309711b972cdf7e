"""A service on a real loopback socket, in a thread of this process, and what asks it."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from mnemolog.http_problems import MEDIA_TYPE
from mnemolog.memory import Memory
from mnemolog.service.app import bounded
from mnemolog.service.core import Service
from mnemolog.service.keys import KeyFile
from mnemolog.service.limits import Limits
from mnemolog.service.serving import listening
from support.histories import START
from support.polling import eventually
from support.remembering import opened

END_SECONDS_MAX = 60
# For httpx, which would read the certificates of all the world for each client, over HTTP too.
NO_TLS = False


@dataclass
class Served:
    """A service that runs, and where."""

    url: str
    service: Service

    @contextmanager
    def memory(self, tenant: str = "default") -> Iterator[Memory]:
        """Give the memory that the service itself has of *tenant*."""
        with self.service.tenants.using(tenant) as memory:
            yield memory

    def http(self, key: str | None = None, **more: Any) -> httpx.Client:
        """Return a plain HTTP client, as any program has."""
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        around = {"trust_env": False, "verify": NO_TLS, "timeout": 60, **more}
        return httpx.Client(base_url=self.url, headers=headers, **around)


@contextmanager
def served(
    *,
    opens: Callable[[str], Memory] = lambda tenant: opened(tenant=tenant),
    tenant: str = "default",
    keys: Path | None = None,
    **limits: Any,
) -> Iterator[Served]:
    """Run a service until the block's end."""
    service = Service(opens, tenant=tenant, keys=keys, limits=Limits(**limits))
    bound = listening("127.0.0.1", 0)
    config = uvicorn.Config(
        bounded(service), log_config=None, access_log=False, timeout_graceful_shutdown=5
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    try:
        eventually(lambda: server.started, what="the service listens")
        yield Served(f"http://127.0.0.1:{bound.getsockname()[1]}", service)
    finally:
        server.should_exit = True
        thread.join(END_SECONDS_MAX)
        assert not thread.is_alive()


def key_for(path: Path, tenant: str, *rights: str) -> str:
    """Add a key to the file at *path* and return it."""
    made = KeyFile(path).add(
        name="a test", tenant=tenant, rights=rights or ("read", "append"), now=lambda: START
    )
    return made[1]


def problem(response: httpx.Response) -> dict[str, Any]:
    """Return the problem that *response* is."""
    assert response.headers["content-type"] == MEDIA_TYPE, response.text
    told: dict[str, Any] = response.json()
    assert told["status"] == response.status_code
    assert {"type", "title", "detail", "code", "hint"} <= told.keys()
    return told
