"""What Prometheus reads: names and labels of ours, numbers that were seen, each tenant alone."""

from contextlib import contextmanager

from prometheus_client.parser import text_string_to_metric_families

from mnemolog import metrics
from mnemolog.health import Health, Level, Verdict
from mnemolog.picture import Counted, Picture, ProcessorSeen, ProjectionSeen, Upkeep
from mnemolog.streams.tally import Tally
from support.polling import eventually
from support.remembering import opened
from support.watched import Clock, watch_of

LABELS = ("tenant", "projection", "processor", "generation", "task", "question", "le")
QUOTES = 'a "tenant"\nof \\ two lines'


def picture(tenant="a", **more):
    tally = Tally()
    tally.records.add(7)
    tally.recreated.add()
    tally.batch_seconds.add(0.02)
    return Picture(
        tenant,
        0.0,
        Health(tenant, (Verdict("moving", "weights", Level.FAILING, "it stands"),)),
        is_open=True,
        projections={"weights": ProjectionSeen(5, 2.5, 1.5, 3, 4)},
        processors={"checkpoints": ProcessorSeen(8, 1, 2, 3)},
        vectors_outstanding=9,
        counted=Counted(appended=11, readers_replaced=2, tally=tally),
        upkeep=Upkeep(
            disk_bytes={("weights", "000002"): 4096},
            failures={"vacuum": 6},
            golden_rate=0.75,
        ),
        **more,
    )


def samples(*pictures):
    """Return the values of what is rendered, by name and labels, read as Prometheus does."""
    text = metrics.rendered(pictures, look_age_seconds=3.0).decode()
    families = list(text_string_to_metric_families(text))
    assert all(family.documentation for family in families)
    return {
        (sample.name, *(sample.labels[n] for n in LABELS if n in sample.labels)): sample.value
        for family in families
        for sample in family.samples
    }


def test_what_was_seen_is_told():
    told = samples(picture())
    assert told["mnemolog_look_age_seconds",] == 3
    expected = {
        ("mnemolog_lag_events", "a", "weights"): 5,
        ("mnemolog_lag_seconds", "a", "weights"): 2.5,
        ("mnemolog_still_seconds", "a", "weights"): 1.5,
        ("mnemolog_parked_events", "a", "weights"): 3,
        ("mnemolog_foreign_records", "a", "weights"): 4,
        ("mnemolog_vectors_outstanding", "a"): 9,
        ("mnemolog_processor_lag_events", "a", "checkpoints"): 8,
        ("mnemolog_processor_held_keys", "a", "checkpoints"): 2,
        ("mnemolog_appended_events_total", "a"): 11,
        ("mnemolog_applied_records_total", "a"): 7,
        ("mnemolog_stalls_total", "a"): 3,
        ("mnemolog_disk_bytes", "a", "weights", "000002"): 4096,
        ("mnemolog_maintenance_failures_total", "a", "vacuum"): 6,
        ("mnemolog_golden_hit_ratio", "a"): 0.75,
        ("mnemolog_health", "a", "moving"): 2,
        ("mnemolog_health", "a", "behind"): 0,
        ("mnemolog_batch_seconds_count", "a"): 1,
        ("mnemolog_batch_seconds_sum", "a"): 0.02,
    }
    assert {name: told[name] for name in expected} == expected
    buckets = {k: v for k, v in told.items() if k[0] == "mnemolog_batch_seconds_bucket"}
    assert buckets["mnemolog_batch_seconds_bucket", "a", "0.01"] == 0
    assert buckets["mnemolog_batch_seconds_bucket", "a", "0.03"] == 1
    assert buckets["mnemolog_batch_seconds_bucket", "a", "+Inf"] == 1


def test_every_name_is_known():
    told = {name.partition("{")[0] for (name, *_) in samples(picture())}
    assert told == metrics.names()


def test_a_tenants_name_may_hold_anything():
    assert samples(picture(QUOTES))["mnemolog_vectors_outstanding", QUOTES] == 9


def test_what_is_not_open_has_no_numbers_and_shows_that():
    closed = Picture("b", 0.0, Health("b", (Verdict("open", "tenant", Level.FAILING, "no"),)))
    told = samples(closed)
    assert told["mnemolog_open", "b"] == 0
    assert told["mnemolog_health", "b", "open"] == 2
    assert not any(name == "mnemolog_golden_hit_ratio" for name, *_ in told)


@contextmanager
def watched(**memories):
    watch = watch_of(Clock(), **memories)
    try:
        yield watch
    finally:
        watch.stop()


def test_one_tenant_may_be_asked_for_alone():
    with opened() as memory, watched(a=memory, b=memory) as watch:
        watch.look()
        assert b'tenant="a"' in watch.metrics()
        alone = watch.metrics("b")
    assert b'tenant="b"' in alone
    assert b'tenant="a"' not in alone


def test_no_label_is_of_what_an_agent_said():
    with opened() as memory, watched(a=memory) as watch:
        said = memory.observe("it rains cats", agent="ops-secret", task="task-secret")
        memory.wait_for(said.token)
        eventually(lambda: memory.engine.dispatcher.reached, what="a turn")
        watch.look()
        text = watch.metrics().decode()
    assert "secret" not in text
    assert "cats" not in text
