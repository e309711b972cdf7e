"""Appending as any program does it: our JSON, CloudEvents, batches; once by id, whole or not."""

import json

import pytest

from mnemolog.http_wire import TOKEN_HEADER
from support.remembering import decoded, opened
from support.serving import problem, served

CLOUD_EVENT = {
    "specversion": "1.0",
    "id": "ce-1",
    "source": "/ci",
    "type": "mnemolog.observation.recorded",
    "agent": "ops-1",
    "data": {"text": "the build is red"},
}
GUEST = {**CLOUD_EVENT, "id": "g-1", "type": "com.example.built", "data": {"any": ["thing"]}}


@pytest.fixture
def service():
    """Give a service that appends and projects nothing: it is there at once."""
    with served(opens=lambda tenant: opened(tenant=tenant, projects=False)) as one:
        yield one


@pytest.fixture
def http(service):
    with service.http() as client:
        yield client


@pytest.fixture(scope="module")
def asked():
    """Give a client of a service that answers, too."""
    with served() as one, one.http() as client:
        yield client


def count(service):
    with service.memory() as memory:
        return len(decoded(memory))


def cloud(http, value, *, batch=False):
    kind = f"application/cloudevents{'-batch' * batch}+json; charset=utf-8"
    return http.post("/v1/events", content=json.dumps(value), headers={"Content-Type": kind})


def test_one_event_in_our_json(service, http):
    scope = {"agent": "ops-1", "id": "e-1", "occurred_at": "2030-01-02", "tags": ["a"]}
    event = {"type": "observation.recorded", "fields": {"text": "x"}, "scope": scope}
    answers = [http.post("/v1/events", json=event) for _ in range(2)]
    assert {one.status_code for one in answers} == {200}
    first, again = (one.json() for one in answers)
    assert first == again
    assert (first["token"], answers[0].headers[TOKEN_HEADER]) == ("0@0", "0@0")
    assert first["events"][0]["position"] == [0, 0]
    assert count(service) == 1


def test_what_was_appended_can_be_asked_for_by_the_token_that_came_back(asked):
    scope = {"agent": "ops-1", "id": "e-1", "occurred_at": "2030-01-02", "tags": ["a"]}
    event = {"type": "observation.recorded", "fields": {"text": "x"}, "scope": scope}
    after = {TOKEN_HEADER: asked.post("/v1/events", json=event).headers[TOKEN_HEADER]}
    found = asked.get("/v1/get", params={"id": "e-1"}, headers=after).json()
    assert found["event"]["data"] == {"text": "x", "tags": ["a"]}
    assert found["event"]["envelope"]["occurred_at"] == "2030-01-02T00:00:00Z"


def test_many_events_go_in_order_and_the_token_covers_all(service, http):
    events = [{"type": "observation.recorded", "fields": {"text": str(n)}} for n in range(1_000)]
    told = http.post("/v1/events", json={"events": events}).json()
    assert [one["position"][1] for one in told["events"]] == list(range(1_000))
    assert told["token"] == "0@999"
    refused = http.post("/v1/events", json={"events": [*events, events[0]]})
    assert (problem(refused)["code"], refused.status_code) == ("invalid_event", 422)


def test_of_a_call_with_one_bad_event_nothing_is_appended(service, http):
    good = {"type": "observation.recorded", "fields": {"text": "x"}}
    told = problem(http.post("/v1/events", json={"events": [good, {**good, "fields": {}}]}))
    assert (told["code"], told["field"]) == ("invalid_event", "text")
    batch = [CLOUD_EVENT, {**CLOUD_EVENT, "id": "ce-2", "data": {}}]
    assert problem(cloud(http, batch, batch=True))["status"] == 422
    assert count(service) == 0


def test_cloud_events_ours_and_guests_one_and_many(service, http):
    one = cloud(http, CLOUD_EVENT).json()
    assert [event["id"] for event in one["events"]] == ["ce-1"]
    many = cloud(http, [CLOUD_EVENT, GUEST], batch=True).json()
    assert [event["event_type"] for event in many["events"]] == [
        "observation.recorded",
        "com.example.built",
    ]
    assert many["events"][0] == one["events"][0]  # it was there
    assert count(service) == 2


def test_what_a_cloud_event_says_is_recalled(asked):
    token = cloud(asked, CLOUD_EVENT).json()["token"]
    body = {"question": "build", "agent": "ops-1", "kinds": ["episode"]}
    found = asked.post("/v1/recall", json=body, headers={TOKEN_HEADER: token}).json()
    assert "the build is red" in [memory["text"] for memory in found["memories"]]


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"tenant": "another"}, "tenant"),
        ({"type": "mnemolog.export.begun"}, "type"),
        ({"type": "mnemolog.dream.dreamt"}, "dream.dreamt"),
        ({"specversion": "0.3"}, "event"),
        ({"id": None}, "event"),
        ({"agent": "../pwn"}, "observation.recorded"),
    ],
)
def test_a_cloud_event_that_no_log_here_takes_is_refused(service, http, changed, field):
    told = problem(cloud(http, {**CLOUD_EVENT, **changed}))
    assert (told["status"], told["field"]) == (422, field)
    assert count(service) == 0


@pytest.mark.parametrize(
    "body",
    [
        [],
        "text",
        {"events": []} | {"more": 1},
        {"events": "x"},
        None,
    ],
)
def test_what_is_neither_one_event_nor_many_is_refused(http, body):
    assert problem(http.post("/v1/events", json=body))["status"] == 400


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"type": 7},
        {"type": "observation.recorded", "fields": []},
        {"type": "observation.recorded", "fields": {"text": "x"}, "scope": {"tenant": "other"}},
        {"type": "observation.recorded", "fields": {"text": "x"}, "tenant": "other"},
        {"type": "observation.recorded", "fields": {"text": "x"}, "scope": {"caused_by": {}}},
        {"type": "observation.recorded", "fields": {"text": "x"}, "scope": {"occurred_at": 7}},
        {"type": "observation.recorded", "fields": {"text": "x"}, "scope": {"source": []}},
        {"type": "observation.recorded", "fields": {"text": "x"}, "scope": {"agent": {"a": 1}}},
    ],
)
def test_an_event_with_what_it_can_not_have_is_refused(service, http, event):
    assert problem(http.post("/v1/events", json=event))["status"] == 422
    assert count(service) == 0


def test_no_events_append_nothing(service, http):
    assert http.post("/v1/events", json={"events": []}).json() == {"events": [], "token": ""}
    assert cloud(http, [], batch=True).json() == {"events": [], "token": ""}


def test_a_policy_goes_to_every_partition_and_comes_alone(service, http):
    policy = {"type": "policy.changed", "fields": {"revision": 1, "policy": {}}}
    told = http.post("/v1/events", json=policy).json()
    assert len(told["events"]) == 1
    alone = {"events": [policy, policy]}
    assert "alone" in problem(http.post("/v1/events", json=alone))["detail"]


def test_a_cloud_event_over_the_size_of_an_event_says_both_sizes(http):
    told = problem(cloud(http, {**CLOUD_EVENT, "data": {"text": "x" * 1_100_000}}))
    assert (told["status"], told["code"]) == (413, "event_too_large")
    assert "1048576" in told["detail"]


def test_forgetting_takes_ids_texts_and_a_reason(asked):
    event = {"type": "observation.recorded", "fields": {"text": "pin 0000"}, "scope": {"id": "pin"}}
    token = asked.post("/v1/events", json=event).json()["token"]
    asked.get("/v1/wait", headers={TOKEN_HEADER: token}).raise_for_status()
    gone = asked.post("/v1/forget", json={"refs": [{"id": "pin"}], "reason": "asked to"}).json()
    after = {TOKEN_HEADER: gone["token"]}
    assert problem(asked.get("/v1/get", params={"id": "pin"}, headers=after))["status"] == 404
    assert problem(asked.post("/v1/forget", json={"refs": [{"id": "no"}]}))["status"] == 404
    assert problem(asked.post("/v1/forget", json={"refs": [{"id": 7}]}))["field"] == "refs.0.id"
