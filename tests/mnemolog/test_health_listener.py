"""Health and metrics are told over HTTP, to this machine, while all else may hang."""

import json
import socket
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest

from mnemolog.health_listener import HealthListener, watched
from mnemolog.schemas.errors import StoreUnavailable
from mnemolog.watch_settings import LISTEN_DEFAULT, Watching, place_of
from support.polling import eventually
from support.remembering import opened
from support.watched import Clock, watch_of


@contextmanager
def listening(watch):
    listener = HealthListener(watch, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{listener.port}"
    finally:
        listener.close()
        watch.stop()


def get(url, **headers):
    """Return status, media type and body of an answer, whatever it is."""
    request = urllib.request.Request(url, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.headers["Content-Type"], answer.read().decode()
    except urllib.error.HTTPError as answer:
        with answer:
            return answer.code, answer.headers["Content-Type"], answer.read().decode()


def test_who_is_well_says_so():
    with opened() as memory, listening(watch := watch_of(Clock(), a=memory)) as url:
        watch.look()
        status, kind, body = get(f"{url}/healthz")
        assert (status, kind) == (200, "application/json")
        assert json.loads(body) == {"status": "alive", "level": "ok", "details": []}
        assert get(f"{url}/readyz?verbose")[0] == 200
        status, kind, body = get(f"{url}/metrics")
        assert status == 200
        assert kind.startswith("text/plain; version=0.0.4")
        assert 'mnemolog_owner{tenant="a"} 1.0' in body
        assert get(f"{url}/other")[0] == 404


def test_what_is_stuck_is_not_alive_and_what_is_closed_not_ready(monkeypatch):
    with opened() as memory, listening(watch := watch_of(Clock(), a=memory, b=None)) as url:
        watch.look()
        assert get(f"{url}/healthz")[0] == 200
        status, _, body = get(f"{url}/readyz")
        assert status == 503
        assert json.loads(body)["details"] == ["tenant: it is not open yet"]
        monkeypatch.setattr(memory.engine.dispatcher, "failure", ZeroDivisionError("ours"))
        watch.look()
        status, _, body = get(f"{url}/healthz")
        assert (status, json.loads(body)["status"]) == (503, "not alive")


def test_a_page_of_another_host_is_not_answered():
    with listening(watch_of(Clock())) as url:
        assert get(f"{url}/metrics", Host="evil.example")[0] == 400
        assert get(f"{url}/metrics", Host="localhost:1")[0] == 200


@contextmanager
def taken(host, port):
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            other.bind((host, port))
            other.listen()
        except OSError:
            pass  # somebody has it already, which is as well
        yield


def test_a_place_that_is_taken_is_an_error_where_it_was_named_and_a_word_where_not():
    with taken(*place_of(LISTEN_DEFAULT)):
        named = Watching(listen=place_of(LISTEN_DEFAULT))
        with pytest.raises(StoreUnavailable, match="8421"):
            watched(watch_of(Clock()), named, by_default=True).__enter__()
        with watched(watch_of(Clock()), Watching(), by_default=True) as watch:
            eventually(watch._thread.is_alive, what="it watches all the same")


@pytest.mark.parametrize(("off", "by_default"), [(True, True), (False, False)])
def test_nothing_listens_where_nobody_wants_it(off, by_default, monkeypatch):
    monkeypatch.setattr("mnemolog.health_listener.HealthListener", lambda *_: pytest.fail("no"))
    with watched(watch_of(Clock()), Watching(is_off=off), by_default=by_default):
        pass
