"""Each filter of a recall restricts over HTTP as it does in process, and nothing else is one."""

from datetime import UTC, datetime

import pytest

from mnemolog import Memory
from mnemolog.asking import Asked
from mnemolog.schemas.errors import InvalidEvent, InvalidSetting
from support.remembering import texts
from support.serving import problem, served

NOW = datetime(2030, 6, 1, tzinfo=UTC)
EARLY, LATE = datetime(2030, 1, 1, tzinfo=UTC), datetime(2030, 3, 1, tzinfo=UTC)
BETWEEN = datetime(2030, 2, 1, tzinfo=UTC)
THIS, OTHER = "the red pool is exhausted", "the blue pool is exhausted"
# What finds THIS alone, for each word that `Asked` has.
FINDS_THIS = {
    "agent": "ops-1",
    "user": "小李",
    "project": "o'brien",
    "session": "s-1",
    "task": "t-1",
    "kinds": ["fact"],
    "tags": ["red", "pool"],
    "importance_min": 0.8,
    "occurred_from": BETWEEN,
    "occurred_until": NOW,
}
WHERE = {**FINDS_THIS, "occurred_until": None}
FINDS_OTHER = {"occurred_until": BETWEEN, "tags": ["blue"], "agent": "ops-2", "kinds": ["decision"]}


@pytest.fixture(scope="module")
def service():
    with served() as one:
        with one.memory() as near:
            near.remember(
                THIS,
                **{name: WHERE[name] for name in ("agent", "user", "project", "session", "task")},
                tags=["red", "pool"],
                importance=0.9,
                occurred_at=LATE,
            )
            scope = {"user": "u", "project": "p", "session": "s", "task": "t"}
            done = near.decide(OTHER, agent="ops-2", tags=["blue"], occurred_at=EARLY, **scope)
            near.wait_for(done.token, vectors=True)
        yield one


def asked_both(service, **where):
    """Return the texts that are found over HTTP, once they are what is found in process."""
    with service.memory() as near, Memory(service.url) as far:
        here, there = (m.recall("which pool?", at=NOW, **where) for m in (near, far))
    assert here.to_dict() == there.to_dict()
    return texts(there)


def test_every_filter_is_among_those_that_are_tried_and_without_one_all_is_found(service):
    assert FINDS_THIS.keys() == Asked.__annotations__.keys()
    assert sorted(asked_both(service)) == sorted([THIS, OTHER])


@pytest.mark.parametrize("name", sorted(FINDS_THIS.keys() - {"occurred_until"}))
def test_a_filter_restricts_from_afar_as_it_does_in_process(service, name):
    assert asked_both(service, **{name: FINDS_THIS[name]}) == [THIS]


@pytest.mark.parametrize("name", sorted(FINDS_OTHER))
def test_a_filter_finds_the_others_too(service, name):
    assert asked_both(service, **{name: FINDS_OTHER[name]}) == [OTHER]


def test_all_filters_at_once_are_one_and_what_fits_none_is_found_by_none(service):
    assert asked_both(service, **FINDS_THIS) == [THIS]
    assert asked_both(service, **{**FINDS_THIS, "agent": "ops-2"}) == []
    for name in ("user", "project", "session", "task"):
        assert asked_both(service, **{name: "x' OR '1'='1"}) == []


def test_times_are_half_open_and_may_be_texts(service):
    assert asked_both(service, occurred_from=LATE, occurred_until="2030-03-01T00:00:00.000001Z")
    assert asked_both(service, occurred_from=EARLY, occurred_until=LATE) == [OTHER]
    assert asked_both(service, occurred_from="2030-02-01") == [THIS]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, ["ops-1"]) for name in ("agent", "user", "project", "session", "task")),
        *((name, 7) for name in ("kinds", "tags", "occurred_from", "occurred_until")),
        ("importance_min", "high"),
        ("importance_min", float("nan")),
        ("occurred_from", "soon"),
    ],
)
def test_a_value_that_is_none_is_refused_from_afar_by_its_name(service, name, value):
    with Memory(service.url) as far, pytest.raises((InvalidEvent, InvalidSetting), match=name):
        far.recall("which pool?", **{name: value})


@pytest.mark.bad_input(61)
@pytest.mark.parametrize("key", ["x') OR 1=1 --", "agent__in", "AGENT", "", "id", "where"])
def test_a_key_that_is_no_filter_is_refused_by_client_and_service_with_its_name(service, key):
    with Memory(service.url) as far, pytest.raises(TypeError) as refused:
        far.recall("which pool?", **{key: "ops-1"})
    assert key in str(refused.value)
    with service.http() as http:
        told = problem(http.post("/v1/recall", json={"question": "which pool?", key: "ops-1"}))
    assert told["status"] == 422
    assert key in told["detail"]
