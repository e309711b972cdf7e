"""Bodies, requests and time are bounded, and whatever comes is answered by a problem document."""

import json
import socket
import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from mnemolog import Memory
from mnemolog.http_errors import BodyTooLarge, Busy
from mnemolog.schemas.errors import LogUnavailable
from mnemolog.service.tenants import Tenants
from support import nasty
from support.polling import eventually
from support.remembering import opened
from support.serving import problem, served

EVENT = {"type": "observation.recorded", "fields": {"text": "x"}}
PATHS = (
    *("/v1/events", "/v1/forget", "/v1/recall", "/v1/get", "/v1/history", "/v1/why", "/v1/end"),
    *("/v1/resume", "/v1/timeline", "/v1/checkpoints", "/v1/saved", "/v1/wait", "/v1/status"),
)
MEDIA = (
    *("application/json", "application/cloudevents+json", "application/cloudevents-batch+json"),
    *("text/plain", "", "application/json; charset=utf-16", "multipart/form-data"),
)


def quick(tenant):
    return opened(tenant=tenant, projects=False)


@pytest.fixture(scope="module")
def service():
    with served(body_bytes=100_000, wait_seconds=0.05, body_seconds=1.0) as one:
        yield one


@pytest.fixture
def http(service):
    with service.http() as client:
        yield client


# Bodies


@pytest.mark.parametrize("size", [100_001, 300_000, 2_000_000])
def test_a_body_that_is_too_large_is_told_so(http, size):
    told = problem(http.post("/v1/events", content=b"x" * size))
    assert (told["status"], told["code"]) == (413, "body_too_large")
    assert "100000" in told["detail"]


def test_so_is_one_that_comes_in_pieces_without_its_length(http):
    told = problem(http.post("/v1/events", content=(b"x" * 1_000 for _ in range(150))))
    assert told["code"] == "body_too_large"


def test_the_client_says_so_too_and_does_not_try_again(service):
    with Memory(service.url) as far, pytest.raises(BodyTooLarge):
        far.observe("x" * 200_000)


def test_a_body_that_does_not_come_is_given_up(service):
    host, port = service.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(
            b"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"
        )
        answer = b""
        while not answer.endswith(b"}"):
            answer += connection.recv(65_536) or b"}"
    assert b" 408 " in answer.splitlines()[0]
    assert b'"code": "body_too_slow"' in answer


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"not json", b'{"a":', b"\xff\xfe", b"\0" * 99, b'{"a": NaN}', b'{"a":1,"a":2}'),
        *(b"[" * 50_000, b'{"question": ' * 5_000, b"9" * 90_000, b"\xef\xbb\xbf{}", b"null"),
    ],
)
def test_junk_is_a_bad_request(http, body):
    headers = {"Content-Type": "application/json"}
    for path in ("/v1/events", "/v1/recall", "/v1/forget"):
        assert problem(http.post(path, content=body, headers=headers))["status"] in {400, 422}


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(
    path=st.sampled_from(PATHS),
    media=st.sampled_from(MEDIA),
    body=st.one_of(st.binary(max_size=200), nasty.texts.map(lambda t: json.dumps(t).encode())),
)
def test_any_bytes_get_an_answer_or_a_problem(service, path, media, body):
    with capture_logs() as logs, service.http() as http:
        answer = http.post(path, content=body, headers={"Content-Type": media})
        assert answer.status_code < 500
        problem(answer)
    assert not [one for one in logs if one["log_level"] in {"error", "critical"}]


NAMES = ("type", "fields", "scope", "question", "refs", "text", "agent", "kinds", "at", "id")
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | nasty.texts,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)
    ),
    max_leaves=8,
)


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(path=st.sampled_from(PATHS[:3]), value=ANY, sound=st.booleans())
def test_any_json_gets_an_answer_or_a_problem(service, path, value, sound):
    base = {"/v1/events": EVENT, "/v1/recall": {"question": "x"}, "/v1/forget": {"text": "x"}}
    body = {**base[path], **(value if isinstance(value, dict) else {})} if sound else value
    with capture_logs() as logs, service.http() as http:
        answer = http.post(
            path, content=json.dumps(body), headers={"Content-Type": "application/json"}
        )
    assert answer.status_code < 500, answer.text
    assert answer.is_success or problem(answer)
    assert not [one for one in logs if one["log_level"] in {"error", "critical"}]


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(
    path=st.sampled_from([*PATHS[3:], "/v1/%2e%2e", "/v2", "/"]),
    query=st.dictionaries(
        st.sampled_from(
            ("id", "identity", "kind", "whole", "agent", "task", "rows_max", "at", "x")
        ),
        nasty.texts.filter(lambda t: t.isprintable()),
        max_size=4,
    ),
    token=st.sampled_from([None, "", "0@0", "junk", "1@2,3", "0@" + "9" * 5_000, "-1@-1", "7@7"]),
)
def test_any_query_gets_an_answer_or_a_problem(service, path, query, token):
    headers = {} if token is None else {"Mnemolog-Token": token}
    with capture_logs() as logs, service.http() as http:
        answer = http.get(path, params=query, headers=headers)
    assert answer.status_code < 500 or answer.status_code == 504, answer.text
    assert answer.is_success or problem(answer)
    assert not [one for one in logs if one["log_level"] in {"error", "critical"}]


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/"), ("PUT", "/v1/events"), ("GET", "/docs")]
)
def test_what_is_not_there_is_a_problem_too(http, method, path):
    answer = http.request(method, path)
    assert problem(answer)["code"] == "no_such_endpoint"
    assert answer.status_code == (405 if method == "PUT" else 404)


# Failures that nobody foresaw


def test_a_fault_of_ours_is_logged_and_told_without_its_words(monkeypatch):
    with served(opens=quick) as one, one.memory() as memory, one.http() as http:
        fault = ZeroDivisionError("a secret")
        monkeypatch.setattr(memory, "end", lambda: (_ for _ in ()).throw(fault))
        with capture_logs() as logs:
            told = problem(http.get("/v1/end"))
    assert (told["status"], told["code"]) == (500, "internal")
    assert "secret" not in json.dumps(told)
    assert [one["event"] for one in logs if one["log_level"] == "error"] == ["a request failed"]


# Requests and time


class Held:
    """A log that acknowledges when it is let."""

    def __init__(self, log):
        self._append, self.let, self.waiting = log.append, threading.Event(), 0

    def append(self, records, **more):
        self.waiting += 1
        assert self.let.wait(60)
        return self._append(records, **more)


@pytest.fixture
def held():
    limits = {"appends_at_once": 2, "queued": 1, "answer_seconds": 0.3}
    with served(opens=quick, **limits) as one, one.memory() as memory:
        log = Held(memory.engine.log)
        memory.engine.log.append = log.append
        try:
            yield one, log
        finally:
            log.let.set()


def post(service, answers):
    with service.http() as http:
        answers.append(http.post("/v1/events", json=EVENT))


def test_more_than_may_wait_are_told_to_come_back_and_asking_goes_on(held):
    service, log = held
    answers = []
    threads = [threading.Thread(target=post, args=(service, answers)) for _ in range(3)]
    for thread in threads:
        thread.start()
    with service.http() as http:
        busy = eventually(
            lambda: next(
                (one for one in [http.post("/v1/events", json=EVENT)] if one.status_code == 503),
                None,
            ),
            what="the service is busy",
        )
        assert problem(busy)["code"] == "busy"
        assert busy.headers["retry-after"] == "1"
        assert http.get("/v1/end").status_code == 200
    for thread in threads:
        thread.join(60)
    assert {problem(one)["status"] for one in answers} <= {503, 504}
    assert log.waiting <= 3


def test_a_client_tries_again_while_a_service_is_busy(monkeypatch):
    with served(opens=quick) as one, Memory(one.url) as far:
        append, failures = one.service.append, [Busy("append", "3 are under way")] * 2

        async def busy(*arguments):
            if failures:
                raise failures.pop()
            return await append(*arguments)

        monkeypatch.setattr(one.service, "append", busy)
        assert far.observe("x").position == (0, 0)
        assert not failures


def test_a_client_gives_up_after_some_attempts(monkeypatch):
    with served(opens=quick) as one, Memory(one.url) as far:
        asked = []

        async def away(*arguments):
            asked.append(1)
            raise LogUnavailable("the topic", "no broker")

        monkeypatch.setattr(one.service, "append", away)
        with pytest.raises(LogUnavailable, match="no broker"):
            far.observe("x")
        assert len(asked) == 1  # the log itself has waited for long


def test_of_many_tenants_as_many_are_open_as_may_be():
    memories = []

    def opens(tenant):
        memories.append(quick(tenant))
        return memories[-1]

    tenants = Tenants(opens, open_max=2)
    for name in ("a", "b", "a", "c"):
        with tenants.using(name):
            pass
    assert tenants.opened() == ["a", "c"]  # b was not used for the longest time
    with pytest.raises(LogUnavailable, match="closed"):
        memories[1].observe("x")
    with tenants.using("a"), tenants.using("c"):
        with pytest.raises(Busy), tenants.using("b"):
            pass
        assert tenants.opened() == ["a", "c"]
    with tenants.using("b"):
        assert tenants.opened() == ["c", "b"]
    assert len(memories) == 4
    tenants.close()
    tenants.close()
    with pytest.raises(Busy), tenants.using("a"):
        pass


def test_a_tenant_that_could_not_be_opened_is_opened_by_the_next_who_asks():
    failures = [LogUnavailable("the topic", "no broker")]

    def opens(tenant):
        if failures:
            raise failures.pop()
        return quick(tenant)

    tenants = Tenants(opens, open_max=1)
    with pytest.raises(LogUnavailable), tenants.using("a"):
        pass
    with tenants.using("a") as memory:
        assert memory.observe("x").position == (0, 0)
    tenants.close()
