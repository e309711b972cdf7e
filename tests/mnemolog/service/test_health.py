"""Whether it lives, and whether it is ready: told to anybody, without a key, however busy it is."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from mnemolog import Memory
from mnemolog.http_errors import Busy
from mnemolog.schemas.errors import LogUnavailable, StoreUnavailable
from support.remembering import opened
from support.serving import key_for, problem, served


def quick(tenant):
    return opened(tenant=tenant, projects=False)


def test_it_lives_and_is_ready_without_a_key(tmp_path):
    keys = tmp_path / "keys.json"
    key_for(keys, "a")
    with served(opens=quick, keys=keys) as one, one.http() as http:
        assert http.get("/healthz").json() == {"status": "alive"}
        assert http.get("/readyz").json() == {"status": "ready"}
        assert http.get("/openapi.json").json()["info"]["title"] == "mnemolog"


def test_it_is_not_ready_while_a_log_does_not_answer(monkeypatch):
    with served(opens=quick) as one, one.memory() as memory, one.http() as http:
        assert http.get("/readyz").status_code == 200

        def away():
            raise LogUnavailable("the topic", "no broker")

        monkeypatch.setattr(memory.engine.log, "ends", away)
        assert problem(http.get("/readyz"))["code"] == "log_unavailable"
        assert http.get("/healthz").status_code == 200


def test_it_lives_though_no_more_requests_are_let_in():
    with served(opens=quick, requests=0) as one, one.http() as http:
        assert problem(http.get("/v1/end"))["code"] == "busy"
        assert problem(http.get("/readyz"))["code"] == "busy"
        assert http.get("/healthz").status_code == 200


@contextmanager
def answering(status: int) -> Iterator[tuple[str, list[str]]]:
    """Run something that is no service of ours and answers every request with *status*."""
    asked: list[str] = []

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize(
    ("status", "error", "times"),
    [(503, Busy, 4), (502, StoreUnavailable, 1), (302, StoreUnavailable, 1), (200, None, 1)],
)
def test_what_is_no_service_is_told_so(status, error, times):
    with answering(status) as (url, asked), Memory(url) as far:
        with pytest.raises(error or StoreUnavailable) as caught:
            far.end()
        assert isinstance(caught.value, StoreUnavailable)
        assert len(asked) == times
