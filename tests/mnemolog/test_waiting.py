"""Waiting for what was appended: it comes, or it is said why it does not."""

import shutil
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from mnemolog.doctor import examine
from mnemolog.projections.analytics import projection as analytics
from mnemolog.projections.kinds import ANALYTICS, NAMES
from mnemolog.schemas.errors import InvalidSetting, LogReplaced, Parked, TimedOut
from mnemolog.schemas.events.governance import EventSkipped, PolicyChanged
from mnemolog.schemas.partitioning import governance_key
from mnemolog.schemas.positions import Token
from mnemolog.schemas.records import NewRecord
from mnemolog.schemas.values import json_bytes, parse_json
from mnemolog.status import status
from mnemolog.streams.publishing import Draft
from support.log_engines import SQLiteEngine
from support.remembering import opened, texts

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def append_of_ours_that_is_broken(mem, *, agent="ops-1", event_id="broken-1", key=None):
    """Append an event of ours without what it must have, as a careless publisher may."""
    draft = Draft(model=_observation(), fields={"text": "x"}, agent=agent, id=event_id)
    publisher = mem.engine.publisher
    event, envelope = publisher._built(draft, publisher._present())
    envelope = envelope if key is None else replace(envelope, key=key)
    record = mem.engine.publisher.record(event, envelope)
    document = parse_json(record.value)
    del document["data"]["text"]
    raw = NewRecord(record.key, json_bytes(document), record.headers, record.identity, "0" * 32)
    (position,) = mem.engine.log.append([raw])
    return position, record.identity


def _observation():
    from mnemolog.schemas.events.experience import ObservationRecorded  # noqa: PLC0415

    return ObservationRecorded


@pytest.fixture
def mem():
    with opened(agent="ops-1") as memory:
        yield memory


def test_all_read_models_and_vectors_hold_what_was_waited_for(mem):
    said = mem.observe("the pool of auth")
    mem.wait_for(said.token, projections=NAMES, vectors=True)
    assert texts(mem.recall("pool")) == ["the pool of auth"]
    assert mem.sql("SELECT count(*) FROM events", fresh=False).rows == [(1,)]
    assert mem._readers.memories().counts()["vectors"] == 1


def test_a_token_of_another_log_is_refused_at_once(mem):
    with pytest.raises(InvalidSetting, match=r"9@9.*of a log of 1 partitions"):
        mem.wait_for(Token({9: 9}))
    with pytest.raises(InvalidSetting, match=r"9@9"):
        mem.recall("anything", after=Token({9: 9}))


def test_the_empty_token_is_there_at_once(mem):
    mem.wait_for(Token({}), timeout_seconds=0)


def test_what_does_not_come_in_time_is_named(mem):
    with pytest.raises(TimedOut, match=r"0@7 did not happen within 0\.1 s"):
        mem.wait_for(Token({0: 7}), timeout_seconds=0.1)


def test_nobody_projects_for_a_handle_that_only_appends(tmp_path):
    with opened(tmp_path, projects=False, agent="ops-1") as mem:
        token = mem.observe("x").token
        with pytest.raises(TimedOut):
            mem.wait_for(token, timeout_seconds=0.1)


def test_who_waits_hears_how_long(mem):
    heard = []
    mem.wait_for(mem.observe("x").token, tell=heard.append)
    assert heard == sorted(heard)
    assert heard


def test_waiting_for_a_parked_event_raises_and_names_it(mem):
    mem.observe("before it")
    position, _ = append_of_ours_that_is_broken(mem)
    with pytest.raises(Parked, match="text") as raised:
        mem.wait_for(Token.of([position]))
    assert (raised.value.partition, raised.value.offset) == position
    behind = mem.observe("behind it")
    with pytest.raises(Parked, match="an earlier event of its key waits"):
        mem.wait_for(behind.token)
    with pytest.raises(Parked):
        mem.recall("anything", after=behind.token)
    other = mem.observe("of another", agent="ops-2")
    assert texts(mem.recall("it of another", after=other.token)) != []
    assert "behind it" not in texts(mem.recall("behind it", hits_max=50))


def test_a_rebuild_stops_at_a_parked_event_and_a_skip_lets_all_go_on(mem):
    _, identity = append_of_ours_that_is_broken(mem)
    behind = mem.observe("behind it")
    with pytest.raises(Parked, match="text"):
        mem.rebuild("weights")
    skip = Draft(model=EventSkipped, fields={"revision": 1, "skipped": identity}, occurred_at=NOW)
    (skipped,) = mem.engine.publisher.govern(skip)
    mem.wait_for(skipped.token)
    mem.wait_for(behind.token)
    assert texts(mem.recall("behind it")) == ["behind it"]
    assert all(one.comparison.is_equal for one in mem.rebuild())


def test_a_skip_frees_the_key_that_it_waits_in_itself(mem):
    key = governance_key(0, partitions=1)
    _, identity = append_of_ours_that_is_broken(mem, agent=None, key=key)
    (skipped,) = mem.engine.publisher.govern(
        Draft(model=EventSkipped, fields={"revision": 1, "skipped": identity}, occurred_at=NOW)
    )
    mem.wait_for(skipped.token)
    assert all(one.comparison.is_equal for one in mem.rebuild())


def test_who_waits_hears_that_the_log_was_replaced(tmp_path):
    engine = SQLiteEngine(tmp_path / "default" / "log")
    with opened(tmp_path, agent="ops-1") as mem:
        mem.wait_for(mem.observe("the first history").token)
    with opened(tmp_path / "other", projects=False, agent="ops-1") as mem:
        mem.observe("another history")
    shutil.copytree(tmp_path / "other" / "default" / "log", engine.path.parent, dirs_exist_ok=True)
    with pytest.raises(LogReplaced):
        opened(tmp_path)


def test_a_policy_holds_for_every_agent_in_whatever_partition():
    with opened(partitions=4) as mem:
        policy = {"write": {"importance": 0.1}}
        changed = mem.append(PolicyChanged, {"revision": 1, "policy": policy})
        assert sorted(changed.token.offsets) == [0, 1, 2, 3]
        for number in range(8):
            mem.observe(f"reading {number}", agent=f"a{number}")
        found = mem.recall("reading", hits_max=8, after=mem.end())
        assert [one.row.importance for one in found] == [0.1] * 8


def skip(mem, identity):
    draft = Draft(model=EventSkipped, fields={"revision": 1, "skipped": identity}, occurred_at=NOW)
    (skipped,) = mem.engine.publisher.govern(draft)
    return skipped.token


def fails_in_analytics(monkeypatch, event_id):
    """Let the write rule fail on the event *event_id*, in analytics alone."""
    real = analytics.formed_in

    def failing(batch, step):
        if step.item.envelope.id == event_id:
            raise RuntimeError("the rule broke")
        return real(batch, step)

    monkeypatch.setattr(analytics, "formed_in", failing)


@pytest.fixture
def parked_in_analytics(mem, monkeypatch):
    """Append an event that analytics alone parks."""
    fails_in_analytics(monkeypatch, "bad")
    draft = Draft(model=_observation(), fields={"text": "x"}, agent="ops-1", id="bad")
    (parked,) = mem.engine.publisher.append([draft])
    return parked


def test_what_analytics_alone_parked_is_named_to_who_waits_for_analytics(mem, parked_in_analytics):
    mem.wait_for(parked_in_analytics.token)  # the rows that recall reads
    with pytest.raises(Parked, match="analytics parked 0@0: RuntimeError: the rule broke"):
        mem.wait_for(parked_in_analytics.token, projections=NAMES)
    behind = mem.observe("behind it")
    with pytest.raises(Parked, match=r"the rule broke|an earlier event of its key waits"):
        mem.wait_for(behind.token, projections=[ANALYTICS])
    other = mem.observe("of another", agent="ops-2")
    mem.wait_for(other.token, projections=NAMES)


def test_a_question_in_sql_is_answered_though_the_last_event_is_parked(mem, parked_in_analytics):
    assert mem.sql("SELECT count(*) FROM events").rows == [(0,)]


def test_status_counts_and_doctor_names_what_analytics_alone_parked(mem, parked_in_analytics):
    mem.observe("behind it")
    mem.wait_for(mem.observe("of another", agent="ops-2").token, projections=NAMES)
    parked = {one.name: one.parked for one in status(mem.engine).projections}
    assert parked == {**dict.fromkeys(NAMES, 0), ANALYTICS: 2}
    (found,) = [one.detail for one in examine(mem.engine) if one.check == "parked"]
    assert found == (
        "analytics parked observation.recorded of 'ops-1' at 0@0,"
        f" identity {found.partition('identity ')[2][:32]}: RuntimeError: the rule broke"
    )


def test_what_analytics_parked_is_gone_from_what_is_told_once_it_is_skipped(
    mem, parked_in_analytics
):
    behind = mem.observe("behind it")
    mem.wait_for(mem.observe("of another", agent="ops-2").token, projections=NAMES)
    (found,) = [one.detail for one in examine(mem.engine) if one.check == "parked"]
    mem.wait_for(skip(mem, found.partition("identity ")[2][:32]), projections=NAMES)
    mem.wait_for(behind.token, projections=NAMES)
    assert {one.parked for one in status(mem.engine).projections} == {0}
    assert [one for one in examine(mem.engine) if one.check == "parked"] == []


def test_who_only_reads_sees_what_the_owner_of_analytics_parked(tmp_path, monkeypatch):
    fails_in_analytics(monkeypatch, "bad")
    with opened(tmp_path, agent="ops-1") as owner:
        draft = Draft(model=_observation(), fields={"text": "x"}, agent="ops-1", id="bad")
        (parked,) = owner.engine.publisher.append([draft])
        mem = opened(tmp_path, read_only=True)
        with mem, pytest.raises(Parked, match="the rule broke"):
            mem.wait_for(parked.token, projections=[ANALYTICS])
