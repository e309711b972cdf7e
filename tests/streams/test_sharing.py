"""Each topic goes whole to one worker, and stays there while it lives and the load allows."""

from hypothesis import given
from hypothesis import strategies as st

from mnemolog.streams.sharing import shared_out

MEMBERS = st.sampled_from("abcd")
TOPICS = st.frozensets(st.sampled_from([f"t{number}" for number in range(8)]))
CLAIMS = st.dictionaries(MEMBERS, TOPICS)


def load(owners):
    return sorted(list(owners.values()).count(member) for member in set(owners.values()))


def test_nobody_asks_for_nothing():
    assert shared_out({}, {}) == {}
    assert shared_out({"a": []}, {}) == {}


def test_tenants_spread_over_the_workers():
    every = [f"t{number}" for number in range(7)]
    assert load(shared_out({"a": every, "b": every, "c": every}, {})) == [2, 2, 3]


def test_a_tenant_stays_where_it_was():
    every = ["t1", "t2", "t3", "t4"]
    held = {"a": ["t4", "t2"], "b": ["t1", "t3"]}
    assert shared_out({"a": every, "b": every}, held) == {
        "t1": "b",
        "t2": "a",
        "t3": "b",
        "t4": "a",
    }


def test_what_a_dead_worker_had_goes_to_the_others():
    every = ["t1", "t2", "t3"]
    assert set(shared_out({"b": every}, {"a": ["t1"], "b": ["t2"]}).values()) == {"b"}


def test_a_worker_that_joins_gets_a_share_and_no_more_moves_than_that():
    every = [f"t{number}" for number in range(6)]
    held = {"a": every}
    owners = shared_out({"a": every, "b": every}, held)
    assert load(owners) == [3, 3]


def test_a_worker_gets_only_what_it_asks_for():
    owners = shared_out({"a": ["t1"], "b": ["t1", "t2", "t3"]}, {})
    assert owners == {"t1": "a", "t2": "b", "t3": "b"}


def test_a_worker_that_woke_and_claims_what_it_lost_makes_no_second_owner():
    every = ["t1", "t2"]
    held = {"a": every, "b": ["t1"]}
    assert sorted(shared_out({"a": every, "b": every}, held).values()) == ["a", "b"]


@given(wanted=CLAIMS, held=CLAIMS)
def test_every_topic_that_somebody_asks_for_has_one_owner_that_asks_for_it(wanted, held):
    owners = shared_out(wanted, held)
    assert owners.keys() == set().union(*wanted.values())
    assert all(topic in wanted[member] for topic, member in owners.items())


@given(wanted=CLAIMS, held=CLAIMS)
def test_what_was_shared_out_stays_as_it_is(wanted, held):
    owners = shared_out(wanted, held)
    held = {member: [t for t, m in owners.items() if m == member] for member in wanted}
    asked = {member: frozenset(owners) for member in wanted}
    once = shared_out(asked, held)
    held = {member: [t for t, m in once.items() if m == member] for member in wanted}
    assert shared_out(asked, held) == once
