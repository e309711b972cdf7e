"""Is it behind, and is it moving? Computed from samples; no clock, no I/O.

The two are asked apart, since a consumer that is stuck may look as if it had nothing to do, and a
busy one as if it were stuck: behind is how old the first event is that waits, moving is whether
the position changed while the log's end was ahead. Whoever samples gives the times.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import IntEnum
from typing import Any, Final, Literal

LAG_SECONDS_MAX: Final = 60.0  # how old the first event that waits may be
STILL_SECONDS_MAX: Final = 120.0  # longer than a turn of maintenance takes
DEGRADED_SHARE: Final = 0.5  # of a bound, from which on it is told

Question = Literal["moving", "behind", "open", "upkeep", "golden"]

RESTART: Final = "Start the process anew; see the log for what it did last."
WAIT: Final = "Wait while it gets less; see what keeps it: `mnemolog status --watch`."
TRIED_AGAIN: Final = "It is tried again by itself; mend what is named."


class Level(IntEnum):
    """How well something stands; the higher, the worse."""

    OK = 0
    DEGRADED = 1
    FAILING = 2

    @property
    def word(self) -> str:
        """The level as it is told: ok, degraded, failing."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Bounds:
    """From when on something is failing; from half of it on it is degraded."""

    lag_seconds: float = LAG_SECONDS_MAX
    still_seconds: float = STILL_SECONDS_MAX


@dataclass(frozen=True, slots=True)
class Sample:
    """How one projection stood at the moment *at_seconds* of a monotonic clock.

    `ends` are the offsets after the log's last records. `waited_seconds` says how old the first
    record is that it has not applied, as far as that is known.
    """

    at_seconds: float
    next_to_apply: Mapping[int, int]
    ends: Mapping[int, int]
    waited_seconds: float = 0.0

    @property
    def lag_events(self) -> int:
        """How many records it has to apply."""
        return sum(max(0, end - self.next_to_apply.get(p, 0)) for p, end in self.ends.items())


@dataclass(frozen=True, slots=True)
class Track:
    """What is kept of the samples of one projection: the last, and since when it stands still."""

    last: Sample
    still_since: float | None = None  # None while nothing waits

    def still_seconds(self, now: float) -> float:
        """Return for how long it has not moved though the log's end is ahead."""
        return 0.0 if self.still_since is None else max(0.0, now - self.still_since)

    def lag_seconds(self, now: float) -> float:
        """Return how old the first event is that waits, as of *now*."""
        if not self.last.lag_events:
            return 0.0
        told = self.last.waited_seconds + max(0.0, now - self.last.at_seconds)
        return max(told, self.still_seconds(now))


@dataclass(frozen=True, slots=True)
class Verdict:
    """An answer to one question about one thing, such as a projection; `advice` what to do."""

    question: Question
    about: str
    level: Level
    detail: str
    advice: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {**asdict(self), "level": self.level.word}


@dataclass(frozen=True, slots=True)
class Health:
    """How a tenant stands by all verdicts."""

    tenant: str
    verdicts: tuple[Verdict, ...] = field(default=())

    def level(self, *questions: Question) -> Level:
        """Return the worst level of *questions*, of all without any; ok where none was asked."""
        return worst(v for v in self.verdicts if not questions or v.question in questions)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values; what is well is not told."""
        told = [v.to_dict() for v in self.verdicts if v.level > Level.OK]
        return {"tenant": self.tenant, "level": self.level().word, "verdicts": told}


def worst(verdicts: Iterable[Verdict]) -> Level:
    """Return the worst level of *verdicts*; ok where there are none."""
    return max((verdict.level for verdict in verdicts), default=Level.OK)


def followed(track: Track | None, sample: Sample) -> Track:
    """Return what is known after *sample*.

    It stands still from the first sample on in which something waited and after which it did
    not move. A holding log's hole at the end is no record that waits: the sampler passes it.
    """
    if not sample.lag_events:
        return Track(sample)
    if track is None or track.still_since is None or _has_moved(track.last, sample):
        return Track(sample, still_since=sample.at_seconds)
    return Track(sample, still_since=track.still_since)


def _has_moved(before: Sample, after: Sample) -> bool:
    return dict(before.next_to_apply) != dict(after.next_to_apply)


def moving(name: str, track: Track, *, bounds: Bounds, trouble: str | None = None) -> Verdict:
    """Say whether the projection *name* moves, as of its last sample: who samples may be late.

    With a *trouble* that is known and tried again it is degraded at most: to start anew does not
    help, and `behind` tells when it has lasted too long.
    """
    still = track.still_seconds(track.last.at_seconds)
    level = _level(still, bounds.still_seconds)
    waiting = f"{track.last.lag_events} events wait"
    if trouble is not None:
        return Verdict("moving", name, Level.DEGRADED, f"{waiting}: {trouble}", TRIED_AGAIN)
    if level is Level.OK:
        return Verdict("moving", name, level, "it moves, or has nothing to do")
    detail = f"{waiting}, and it has not moved for {still:.0f} s"
    return Verdict("moving", name, level, detail, RESTART)


def behind(name: str, track: Track, *, now: float, bounds: Bounds) -> Verdict:
    """Say whether the projection *name* is behind its log by more than the bound."""
    seconds, events = track.lag_seconds(now), track.last.lag_events
    level = _level(seconds, bounds.lag_seconds)
    detail = f"{events} events behind, by {seconds:.0f} s"
    return Verdict("behind", name, level, detail, "" if level is Level.OK else WAIT)


def _level(value: float, bound: float) -> Level:
    if value > bound:
        return Level.FAILING
    return Level.DEGRADED if value > DEGRADED_SHARE * bound else Level.OK
