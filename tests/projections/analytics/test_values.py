"""Values come out as they went in, whatever their kind, and what fails waits by itself."""

import json
from dataclasses import replace

import pyarrow as pa
import pytest

from contracts.projection_contract import changed, place_in
from mnemolog.projections.analytics import fold as folding
from mnemolog.projections.analytics import projection as analytics
from mnemolog.projections.analytics.projection import AnalyticsProjection
from mnemolog.projections.batch import Batch, decoded
from mnemolog.projections.choosing import Step
from mnemolog.schemas.errors import StoreUnavailable
from mnemolog.schemas.events import experience as ex
from mnemolog.schemas.events import memory as mem
from mnemolog.schemas.values import json_bytes
from support.histories import batches, codec, happened, recorded


@pytest.fixture
def projection(tmp_path):
    projection = AnalyticsProjection.open(place_in(tmp_path))
    yield projection
    projection.close()


def apply(projection, *events, records_max=5_000):
    for batch in batches(recorded(*events), records_max=records_max):
        projection.apply(batch)


def ask(projection, statement):
    return projection._connection.execute(statement).fetchall()


@pytest.mark.bad_input(11)
def test_integers_past_64_bits_keep_every_digit(projection):
    data = {"tweet_id": 2**63, "n": 2**64, "deep": [{"x": -(2**200)}], "cost": 0.1}
    apply(
        projection,
        ex.ObservationRecorded(text="seen", data=data),
        ex.ActionStarted(action="a", tool="t", arguments=data),
        ex.ActionFinished(action="a", success=True, data=data),
    )
    for column in ("data FROM observations", "arguments FROM actions", "data FROM actions"):
        [(text,)] = ask(projection, f"SELECT {column}")
        assert json.loads(text) == data
    [(text,)] = ask(
        projection, "SELECT data->'data' FROM events WHERE type = 'observation.recorded'"
    )
    assert json.loads(text) == data


@pytest.mark.bad_input(17)
def test_keys_that_differ_only_in_case_both_stay(projection):
    apply(projection, ex.ObservationRecorded(text="x", data={"agent": {"name": "a", "Name": "b"}}))
    found = ask(projection, "SELECT data->>'$.agent.name', data->>'$.agent.Name' FROM observations")
    assert found == [("a", "b")]


@pytest.mark.bad_input(13)
@pytest.mark.slow
def test_a_type_that_changes_late_changes_nothing(projection):
    values = [*[3] * 25_000, True, 1.5]
    apply(projection, *(ex.ObservationRecorded(text="", data={"retries": v}) for v in values))
    found = ask(
        projection,
        "SELECT data->>'retries', json_type(data, '$.retries'), count(*) FROM observations"
        " GROUP BY ALL ORDER BY ALL",
    )
    assert found == [("1.5", "DOUBLE", 1), ("3", "UBIGINT", 25_000), ("true", "BOOLEAN", 1)]


def test_explicit_defaults_and_nulls_are_the_same_as_none(projection):
    bare = recorded(ex.DecisionMade(what="go"))[0]
    full = changed(
        bare,
        lambda d: d["data"].update(
            why=None, alternatives=[], because_events=[], because_memories=[], model_use=None
        ),
    )
    full = changed(full, lambda d: d.update(id="other"), offset=1)
    for batch in batches([bare, full]):
        projection.apply(batch)
    rows = ask(
        projection,
        "SELECT DISTINCT what, why, alternatives, because_events, because_memories, confidence"
        " FROM decisions",
    )
    assert rows == [("go", None, [], [], [], None)]
    assert ask(projection, "SELECT DISTINCT tags, model, tokens_in FROM events") == [
        ([], None, None)
    ]


def test_a_time_in_the_data_is_read_in_any_form_that_the_codec_takes(projection):
    superseded = recorded(mem.MemorySuperseded(memory="m"))[0]
    for offset, written in enumerate(
        ["2025-05-12T20:27:38-04:00", "20250513T002738Z", "2025-05-13 00:27:38.000000"]
    ):
        record = changed(superseded, lambda d, w=written: d["data"].update(valid_until=w))
        record = changed(record, lambda d, n=offset: d.update(id=f"s{n}"), offset=offset)
        for batch in batches([record]):
            projection.apply(batch)
    found = ask(projection, "SELECT DISTINCT valid_until::VARCHAR FROM memory_changes")
    assert found == [("2025-05-13 00:27:38",)]


@pytest.mark.parametrize(
    "text", ["a\tb\r\nc", "\x1b[31m", "é", "e\u0301", "👩‍👩‍👧‍👦", "'; --", "\\u0000"]
)
def test_texts_stay_as_they_are(projection, text):
    apply(projection, ex.MessageExchanged(role="user", text=text))
    assert ask(projection, "SELECT text FROM messages") == [(text,)]


def test_a_guests_event_is_one_row_even_if_it_is_called_as_one_of_ours(projection):
    ours = recorded(ex.MessageExchanged(role="user", text="hello"))[0]

    def as_guest(document):
        document.update(id="g", type="message.exchanged", session=5, user="../x", task="t1")
        document.update(data=[1, 2**70], dataschema="http://example.com/v:x")

    def as_bytes(document):
        del document["data"]
        document.update(id="b", type="com.example.picture", data_base64="AAEC")

    def as_nothing(document):
        del document["data"]
        document.update(id="n", type="com.example.ping")

    guests = [
        changed(ours, change, offset=offset)
        for offset, change in enumerate([as_guest, as_bytes, as_nothing], 1)
    ]
    for batch in batches([ours, *guests]):
        projection.apply(batch)
    assert list(projection.parked()) == []
    rows = ask(
        projection,
        "SELECT event_id, type, guest, version, session, user_id, task, data FROM events"
        " WHERE guest ORDER BY log_offset",
    )
    assert rows == [
        ("g", "message.exchanged", True, None, None, None, "t1", f"[1,{2**70}]"),
        ("b", "com.example.picture", True, None, None, None, None, '{"data_base64":"AAEC"}'),
        ("n", "com.example.ping", True, None, None, None, None, None),
    ]
    assert ask(projection, "SELECT text FROM messages") == [("hello",)]


def test_an_event_without_agent_or_time_has_a_key_and_a_time(projection):
    record = recorded(happened(ex.ObservationRecorded(text="alone"), agent=None))[0]
    record = changed(record, lambda document: document.pop("time"))
    for batch in batches([record]):
        projection.apply(batch)
    [(key, agent, occurred, recorded_at)] = ask(
        projection, "SELECT key, agent, occurred_at, recorded_at FROM events"
    )
    assert (key, agent) == ("mnemolog:no-agent", None)
    assert occurred == recorded_at


@pytest.mark.bad_input(77)
def test_a_redelivery_within_a_batch_gives_one_row_each(projection):
    e1, e2, e3 = recorded(*(ex.ObservationRecorded(text=f"n{number}") for number in range(3)))
    came = [replace(r, offset=offset) for offset, r in enumerate([e1, e2, e1, e3, e1])]
    projection.apply(decoded(came, codec()))
    assert ask(projection, "SELECT count(*) FROM events") == [(3,)]
    assert ask(projection, "SELECT count(*) FROM observations") == [(3,)]


def test_what_the_write_rule_fails_on_waits_with_its_key_and_no_other(projection, monkeypatch):
    real = analytics.formed_in

    def failing(batch: Batch, step: Step):
        if step.item.recorded.id == "bad":
            raise RuntimeError("the rule broke")
        return real(batch, step)

    monkeypatch.setattr(analytics, "formed_in", failing)
    note = ex.ObservationRecorded(text="note")
    apply(
        projection,
        happened(note, event_id="before"),
        happened(note, event_id="bad"),
        happened(note, event_id="behind"),
        happened(note, agent="ops-2", event_id="elsewhere"),
    )
    found = ask(projection, "SELECT event_id FROM events ORDER BY event_id")
    assert found == [("before",), ("elsewhere",)]
    assert [(one.reason, one.behind) for one in projection.parked()] == [
        ("RuntimeError: the rule broke", False),
        ("RuntimeError: the rule broke", True),
    ]


def test_what_a_statement_fails_on_is_found_and_waits_alone(projection):
    records = recorded(
        *(
            happened(ex.MessageExchanged(role="user", text=f"n{n}"), agent=f"a{n % 5}")
            for n in range(20)
        )
    )
    items = list(decoded(records, codec()).items)
    broken = json.loads(items[7].canonical)
    del broken["data"]["role"]  # as if the codec had let it through
    items[7] = replace(items[7], canonical=json_bytes(broken))
    projection.apply(Batch(items))
    waiting = [one.record.offset for one in projection.parked()]
    assert waiting == [7, 12, 17]
    assert "role" in projection.parked()[0].reason
    assert ask(projection, "SELECT count(*) FROM messages") == [(17,)]


def failing_on(monkeypatch, event_id, error):
    """Let the way of the event *event_id* into Arrow fail with *error*."""
    real = folding.incoming

    def failing(items):
        if any(item.envelope.id == event_id for item in items):
            raise error
        return real(items)

    monkeypatch.setattr(folding, "incoming", failing)


@pytest.mark.parametrize(
    "error",
    [
        pa.ArrowInvalid("no such number"),
        OverflowError("int too big to convert"),
        UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"),
        KeyError("\ud800"),
        RuntimeError("a lone \ud800"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_whatever_a_row_fails_on_before_sql_waits_alone(projection, monkeypatch, error):
    failing_on(monkeypatch, "bad", error)
    note = ex.ObservationRecorded(text="note")
    ids = ["bad" if n == 6 else f"good-{n}" for n in range(10)]
    apply(projection, *(happened(note, agent=f"a{n}", event_id=ids[n]) for n in range(10)))
    found = ask(projection, "SELECT event_id FROM events ORDER BY event_id")
    assert found == [(one,) for one in sorted(ids) if one != "bad"]
    (waiting,) = projection.parked()
    assert (waiting.record.offset, waiting.behind) == (6, False)
    assert waiting.reason.startswith(f"{type(error).__name__}: ")


@pytest.mark.parametrize("error", [OSError("no space left"), MemoryError("no room")])
def test_what_the_store_or_the_machine_lacks_parks_nothing(projection, monkeypatch, error):
    note = happened(ex.ObservationRecorded(text="note"), event_id="bad")
    with monkeypatch.context() as broken:
        failing_on(broken, "bad", error)
        with pytest.raises(StoreUnavailable):
            apply(projection, note)
    assert (list(projection.parked()), projection.progress()) == ([], {})
    apply(projection, note)
    assert ask(projection, "SELECT count(*) FROM events") == [(1,)]
