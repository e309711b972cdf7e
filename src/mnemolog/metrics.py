"""What was seen, as Prometheus reads it. The only module that knows its client.

Each answer is made from pictures, in a registry of its own: a tenant that is gone leaves nothing
behind. Labels are tenants, projections, generations that are on the disk, and names of ours; never
agents, tasks or anything that somebody said.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from prometheus_client import CollectorRegistry
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

from mnemolog.health import Question
from mnemolog.picture import Picture, ProcessorSeen, ProjectionSeen

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
QUESTIONS: Final[tuple[Question, ...]] = ("moving", "behind", "open", "upkeep", "golden")

_PARTS: Final = {"counter": ("_total",), "histogram": ("_bucket", "_count", "_sum")}

# Name, meaning, and how it is found: of each tenant, and of each of its projections.
_Of = Callable[[Picture], float | None]
_OfProjection = Callable[[ProjectionSeen], float]
_GAUGES: Final[tuple[tuple[str, str, _Of], ...]] = (
    ("open", "Whether the tenant is open in this process", lambda p: p.is_open),
    ("owner", "Whether this process keeps the projections", lambda p: p.is_owner),
    ("vectors_outstanding", "Memories without their vector yet", lambda p: p.vectors_outstanding),
    ("disk_used_ratio", "Used share of the data folder's disk", lambda p: p.upkeep.disk_used_share),
    (
        "golden_hit_ratio",
        "Share of golden queries that found what they must",
        lambda p: p.upkeep.golden_rate,
    ),
    (
        "index_failures_in_a_row",
        "Maintenance runs of the memories' index that failed, without one that did not",
        lambda p: p.upkeep.in_a_row,
    ),
)
_OF_PROJECTIONS: Final[tuple[tuple[str, str, _OfProjection], ...]] = (
    ("lag_events", "Records of the log that it has not applied", lambda s: s.lag_events),
    ("lag_seconds", "How old the first of them is", lambda s: s.lag_seconds),
    ("still_seconds", "How long it has not moved though some wait", lambda s: s.still_seconds),
    ("parked_events", "Events that could not be applied, with those behind", lambda s: s.parked),
    ("foreign_records", "Records that are no events of this log", lambda s: s.foreign),
)
_OF_PROCESSORS: Final[tuple[tuple[str, str, Callable[[ProcessorSeen], float]], ...]] = (
    ("processor_lag_events", "Records that it has not read", lambda s: s.lag_events),
    ("processor_waiting_causes", "Causes about which it has to do something", lambda s: s.waiting),
    ("processor_held_keys", "Keys that wait for a cause that failed", lambda s: s.held),
    ("processor_parked_events", "Events that its rule could not take in", lambda s: s.parked),
)
_COUNTERS: Final[tuple[tuple[str, str, _Of], ...]] = (
    ("appended_events", "Events that were appended here", lambda p: p.counted.appended),
    ("applied_records", "Records that were read and applied", lambda p: p.counted.applied),
    ("stalls", "Readers that stood still and were replaced", lambda p: p.counted.stalls),
)


def rendered(pictures: Iterable[Picture], *, look_age_seconds: float) -> bytes:
    """Return the metrics of *pictures*, the last of which is *look_age_seconds* old."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector(tuple(pictures), look_age_seconds))
    return generate_latest(registry)


def names() -> set[str]:
    """Return the name of every metric, as a rule spells it."""
    found: set[str] = set()
    for metric in _Collector((), 0.0).collect():
        parts = _PARTS.get(metric.type, ("",))
        found |= {f"{metric.name}{part}" for part in parts}
    return found


class _Collector(Collector):
    def __init__(self, pictures: tuple[Picture, ...], look_age_seconds: float) -> None:
        self._pictures = pictures
        self._look_age = look_age_seconds

    def collect(self) -> Iterator[Metric]:
        """Yield every metric."""
        yield GaugeMetricFamily(
            "mnemolog_look_age_seconds", "Since the last look at the tenants", value=self._look_age
        )
        yield from self._gauges()
        yield from self._of_projections()
        yield from self._of_processors()
        yield from self._counters()
        yield self._health()
        yield self._disk()
        yield self._failures()
        yield self._batches()

    def _gauges(self) -> Iterator[Metric]:
        for name, meaning, of in _GAUGES:
            family = GaugeMetricFamily(f"mnemolog_{name}", meaning, labels=["tenant"])
            for picture in self._pictures:
                value = of(picture)
                if value is not None:
                    family.add_metric([picture.tenant], value)
            yield family

    def _of_projections(self) -> Iterator[Metric]:
        for name, meaning, of in _OF_PROJECTIONS:
            labels = ["tenant", "projection"]
            family = GaugeMetricFamily(f"mnemolog_{name}", meaning, labels=labels)
            for picture in self._pictures:
                for projection, seen in picture.projections.items():
                    family.add_metric([picture.tenant, projection], of(seen))
            yield family

    def _of_processors(self) -> Iterator[Metric]:
        for name, meaning, of in _OF_PROCESSORS:
            labels = ["tenant", "processor"]
            family = GaugeMetricFamily(f"mnemolog_{name}", meaning, labels=labels)
            for picture in self._pictures:
                for processor, seen in picture.processors.items():
                    family.add_metric([picture.tenant, processor], of(seen))
            yield family

    def _counters(self) -> Iterator[Metric]:
        for name, meaning, of in _COUNTERS:
            family = CounterMetricFamily(f"mnemolog_{name}", meaning, labels=["tenant"])
            for picture in self._pictures:
                family.add_metric([picture.tenant], of(picture) or 0)
            yield family

    def _health(self) -> Metric:
        meaning = "0 ok, 1 degraded, 2 failing, by what was asked"
        family = GaugeMetricFamily("mnemolog_health", meaning, labels=["tenant", "question"])
        for picture in self._pictures:
            for question in QUESTIONS:
                family.add_metric([picture.tenant, question], picture.health.level(question))
        return family

    def _disk(self) -> Metric:
        labels = ["tenant", "projection", "generation"]
        family = GaugeMetricFamily("mnemolog_disk_bytes", "Of each generation", labels=labels)
        for picture in self._pictures:
            for (projection, generation), size in picture.upkeep.disk_bytes.items():
                family.add_metric([picture.tenant, projection, generation], size)
        return family

    def _failures(self) -> Metric:
        name, meaning = "mnemolog_maintenance_failures", "Runs of upkeep that failed, by the task"
        family = CounterMetricFamily(name, meaning, labels=["tenant", "task"])
        for picture in self._pictures:
            for task, failures in picture.upkeep.failures.items():
                family.add_metric([picture.tenant, task], failures)
        return family

    def _batches(self) -> Metric:
        meaning = "How long it took to read and apply a batch"
        family = HistogramMetricFamily("mnemolog_batch_seconds", meaning, labels=["tenant"])
        for picture in self._pictures:
            tally = picture.counted.tally
            if tally is not None:
                counted, total = tally.batch_seconds.told()
                buckets = [("+Inf" if b == float("inf") else str(b), n) for b, n in counted]
                family.add_metric([picture.tenant], buckets=buckets, sum_value=total)
        return family
