"""Times without a zone, from a clock that went back or lies ahead, in units that nobody named."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from mnemolog.schemas.errors import InvalidEvent
from support.raw_records import put_changed
from support.remembering import opened, texts, the_event

NOW = datetime.now(UTC)
NAIVE = "2025-04-30T16:32:54.707474"
ZONED = {
    NAIVE: (datetime(2025, 4, 30, 16, 32, 54, 707474, UTC), True),
    "2025-05-12T20:27:38-04:00": (datetime(2025, 5, 13, 0, 27, 38, 0, UTC), False),
    "2025-08-22T09:38:56Z": (datetime(2025, 8, 22, 9, 38, 56, 0, UTC), False),
    "2025-09-01 08:00+09:00": (datetime(2025, 8, 31, 23, 0, 0, 0, UTC), False),
    "20250902T080000": (datetime(2025, 9, 2, 8, 0, 0, 0, UTC), True),
    datetime(2025, 9, 3, 1): (datetime(2025, 9, 3, 1, tzinfo=UTC), True),  # noqa: DTZ001
    datetime(2025, 9, 4, 1, tzinfo=timezone(timedelta(hours=-11))): (
        datetime(2025, 9, 4, 12, tzinfo=UTC),
        False,
    ),
    date(2025, 9, 5): (datetime(2025, 9, 5, tzinfo=UTC), True),
}


@pytest.mark.bad_input(37)
def test_times_of_all_kinds_have_one_order_and_those_without_a_zone_are_flagged():
    with opened(agent="ops-1") as mem:
        for number, when in enumerate(ZONED):
            said = mem.observe(f"pool {number}", occurred_at=when)
            event = the_event(mem, said)
            assert (event.occurred_at, event.envelope.assumed_utc) == ZONED[when]
        mem.wait_for(mem.end())
        rows = mem.sql("SELECT occurred_at, assumed_utc FROM events ORDER BY occurred_at").rows
        assert [(at.replace(tzinfo=UTC), flag) for at, flag in rows] == list(ZONED.values())
        for at in ("2025-10-01T00:00", "2025-10-01T00:00+09:00", NOW):
            found = mem.recall("pool", at=at, hits_max=50)
            assert (len(found), found.missing) == (len(ZONED), ())
            assert all(0 < memory.weight <= 1 for memory in found)
        since = mem.recall("pool", occurred_from=NAIVE, occurred_until="2025-08-22T11:38:56+02:00")
        assert sorted(texts(since)) == ["pool 0", "pool 1"]


@pytest.mark.bad_input(37)
def test_what_others_publish_without_a_zone_is_flagged_too():
    with opened(agent="ops-1") as mem:
        token, _ = put_changed(mem, {"text": "x"}, lambda told: told.update(time=NAIVE))
        mem.wait_for(token)
        assert mem.sql("SELECT occurred_at, assumed_utc FROM events").rows == [
            (ZONED[NAIVE][0].replace(tzinfo=None), True)
        ]


@pytest.mark.bad_input(39)
@pytest.mark.parametrize("steps", [(593, 590), (0, 0), (900, 500, 100), (5, 4, 6, 1)])
def test_order_is_by_sequence_whatever_the_clock_says(steps):
    with opened(agent="a") as mem:
        for sequence, ms in enumerate(steps):
            at = f"2025-01-01T09:58:23.{ms:03}Z"
            mem.plan(f"plan {sequence}", occurred_at=at, task="t")
            saved = mem.checkpoint(f"goal {sequence}", plan_summary="on", occurred_at=at, task="t")
        more = mem.observe("seen", occurred_at="2025-01-01T09:58:22Z", task="t")
        mem.wait_for(more.token)
        assert mem.resume("t").checkpoint.saved.id == saved.id
        told = [entry.text for entry in mem.timeline(task="t") if entry.type == "plan.changed"]
        assert [text.split()[1].rstrip(":") for text in told] == [*map(str, range(len(steps)))]
        assert mem.timeline(task="t")[-1].event_id == more.id
        assert all(memory.weight <= 1.0 for memory in mem.recall("plan", hits_max=50))


@pytest.mark.bad_input(41)
def test_stamps_from_the_future_weigh_no_more_and_rank_no_higher_than_now():
    with opened(agent="ops-1") as mem:
        days = (-400, -10, 0, 10, 30, 365, 60_000)
        for day in days:
            mem.remember("the pool has 50", occurred_at=NOW + timedelta(days=day), session=str(day))
        mem.wait_for(mem.end())
        found = {row.row.session: row for row in unmerged(mem, days)}
        assert len(found) == len(days)
        for day in days:
            memory = found[str(day)]
            assert 0 < memory.weight <= 1
            assert memory.scores["recency"] <= 1
            if day > 0:
                assert memory.weight == pytest.approx(found["0"].weight)
                assert memory.scores["recency"] == pytest.approx(found["0"].scores["recency"])
        assert found["-400"].weight < found["-10"].weight < found["0"].weight


def unmerged(mem, days):
    """Return the memory of each day, each asked for by itself: equal texts are shown once."""
    return [mem.recall("pool", session=str(day), at=NOW)[0] for day in days]


@pytest.mark.bad_input(41)
def test_a_question_from_long_ago_or_far_ahead_is_answered():
    with opened(agent="ops-1") as mem:
        mem.wait_for(mem.remember("the pool has 50").token)
        for at in ("1900-01-01", "1970-01-01", "2199-12-31T23:59:59Z"):
            (found,) = mem.recall("pool", at=at)
            assert 0 < found.weight <= 1
            assert mem.recall("pool", at=at, as_of=at).missing == ()


NUMBERS = (
    *(1757015076, 1757015076.651, 1757015076651, 1757015076651000, 1757015076651000000, -1, 0),
    *("1757015076", "1757015076651", "2012011012345", "201201101234567.5", "1757015076.651"),
    *("57647-01-01", "+057647-01-01T00:00:00Z", "0000-00-00", "2025-02-30", "1e9", "9" * 400),
    *(timedelta(days=1), True, [2025, 1, 1], {"seconds": 5}, b"2025-01-01", "2025-01-01T", "now"),
)
GIVING = {
    "occurred_at": lambda m, t: m.observe("x", occurred_at=t),
    "occurred_at of a checkpoint": lambda m, t: m.checkpoint("x", plan_summary="y", occurred_at=t),
    "occurred_at of a call": lambda m, t: m.act("bash", occurred_at=t).__enter__(),
    "valid_from": lambda m, t: m.remember("x", valid_from=t),
    "valid_until": lambda m, t: m.remember("x", valid_until=t),
    "at": lambda m, t: m.recall("x", at=t),
    "as_of": lambda m, t: m.recall("x", as_of=t),
    "occurred_from": lambda m, t: m.recall("x", occurred_from=t),
    "occurred_until": lambda m, t: m.recall("x", occurred_until=t),
    "at of a resume": lambda m, t: m.resume("t", at=t),
}


@pytest.fixture(scope="module")
def mem():
    with opened(agent="ops-1") as memory:
        memory.checkpoint("go", plan_summary="on", task="t")
        memory.wait_for(memory.end())
        yield memory


@pytest.mark.bad_input(43)
@pytest.mark.parametrize("number", NUMBERS, ids=lambda value: repr(value)[:20])
@pytest.mark.parametrize("field", GIVING)
def test_a_number_is_no_time_and_an_absurd_time_is_refused(mem, field, number):
    before = mem.end()
    with pytest.raises(InvalidEvent) as refused:
        GIVING[field](mem, number)
    assert refused.value.field.lstrip("/") == field.split()[0]
    assert mem.end() == before


@pytest.mark.bad_input(43)
@pytest.mark.parametrize("number", [1757015076651, "1757015076651", "2012011012345", True])
def test_a_number_as_the_time_of_a_record_is_listed_and_not_guessed(number):
    with opened(agent="ops-1") as mem:
        put_changed(mem, {"text": "x"}, lambda told: told.update(time=number), agent="odd")
        last = mem.observe("a neighbour")
        assert texts(mem.recall("neighbour", after=last.token)) == ["a neighbour"]
        assert mem.sql("SELECT text FROM observations").rows == [("a neighbour",)]
