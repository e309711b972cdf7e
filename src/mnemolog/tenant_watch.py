"""One tenant, looked at again and again: is it behind, does it move, what is to be done about it.

A dispatcher that stands still is let read on with a new reader, and the upkeep that nobody waits
for is done when it is due. Content is never decided here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from mnemolog.engine import LEASE_FILE, Engine
from mnemolog.health import (
    Health,
    Level,
    Track,
    Verdict,
    behind,
    followed,
    moving,
)
from mnemolog.ledgers import counts_in, vectors_outstanding
from mnemolog.picture import Counted, Picture, ProcessorSeen, ProjectionSeen, Upkeep
from mnemolog.processing_status import ProcessorStanding, processor_standings
from mnemolog.projections.lease import look
from mnemolog.sampling import sampled
from mnemolog.schemas.errors import MnemologError
from mnemolog.streams.dispatching import Dispatcher
from mnemolog.upkeep_watch import SEE_DOCTOR, UpkeepWatch
from mnemolog.watch_settings import Watching

SEE_LOG: Final = "The log of this process says why; `mnemolog doctor` what to do."
OUR_FAULT: Final = "Report this with the log around it."


@dataclass(frozen=True, slots=True)
class Subject:
    """A tenant to look at. `stopped_by` is what a person has to look at before it goes on."""

    tenant: str
    engine: Engine | None
    stopped_by: BaseException | None = None


class TenantWatch:
    """Looks at one tenant again and again."""

    def __init__(
        self, watching: Watching, *, clock: Callable[[], float], now: Callable[[], datetime]
    ) -> None:
        self._watching = watching
        self._clock = clock
        self._now = now
        self._engine: Engine | None = None
        self._upkeep: UpkeepWatch | None = None
        self._tracks: dict[str, Track] = {}
        self._replaced_at = clock()

    def look(self, subject: Subject) -> Picture:
        """Return how *subject* stands now; what stands still is let read on anew."""
        at, tenant = self._clock(), subject.tenant
        self._turn_to(subject.engine)
        if subject.engine is None:
            return Picture(tenant, at, Health(tenant, (_not_open(subject),)))
        try:
            return self._seen(tenant, subject.engine)
        except MnemologError as error:
            verdict = Verdict("open", "log", Level.FAILING, str(error), error.hint)
        except Exception as error:  # noqa: BLE001 - it may have been closed since; the next look tells
            verdict = Verdict("open", "watch", Level.FAILING, repr(error), OUR_FAULT)
        return Picture(tenant, at, Health(tenant, (verdict,)), is_open=True)

    def close(self) -> None:
        """Let go of what was opened to look. Harmless twice."""
        self._turn_to(None)

    def _turn_to(self, engine: Engine | None) -> None:
        """Begin anew where the tenant was opened anew."""
        if engine is self._engine:
            return
        if self._upkeep is not None:
            self._upkeep.close()
        self._engine, self._upkeep, self._tracks = engine, None, {}
        self._replaced_at = self._clock()
        if engine is not None:
            self._upkeep = UpkeepWatch(engine, self._watching, clock=self._clock, present=self._now)

    def _seen(self, tenant: str, engine: Engine) -> Picture:
        now = self._clock()
        samples = sampled(engine, now=now, present=self._now())
        self._tracks = {n: followed(self._tracks.get(n), s) for n, s in samples.items()}
        self._replace_reader(engine, now)
        upkeep = self._upkeep
        assert upkeep is not None, "an engine that is looked at has its upkeep"
        upkeep.look()
        ends = dict(next(iter(samples.values())).ends)
        processors = [one for one in processor_standings(engine, ends) if one.ran]
        verdicts = (
            *self._verdicts(engine, now),
            *(_troubled(one) for one in processors if one.troubles),
            *upkeep.verdicts(),
        )
        return Picture(
            tenant,
            now,
            Health(tenant, verdicts),
            is_open=True,
            is_owner=engine.is_owner,
            projections={
                name: _projection(engine, name, t, now) for name, t in self._tracks.items()
            },
            processors={one.name: _processor(one) for one in processors},
            vectors_outstanding=vectors_outstanding(engine),
            counted=_counted(engine),
            upkeep=_with_unfinished(upkeep.seen, engine),
        )

    def _replace_reader(self, engine: Engine, now: float) -> None:
        """Let the dispatcher read on with a new reader where it stands still without a reason."""
        dispatcher = engine.dispatcher
        if dispatcher is None or dispatcher.failure is not None or _reason(dispatcher) is not None:
            return
        bound = self._watching.bounds.still_seconds / 2  # before it is said to be failing
        still = max((track.still_seconds(now) for track in self._tracks.values()), default=0.0)
        if still > bound and now - self._replaced_at > bound:
            self._replaced_at = now
            dispatcher.recreate_reader()

    def _verdicts(self, engine: Engine, now: float) -> list[Verdict]:
        bounds, dispatcher = self._watching.bounds, engine.dispatcher
        told = [behind(name, track, now=now, bounds=bounds) for name, track in self._tracks.items()]
        if dispatcher is None:
            return [*told, *_unkept(engine)]  # whoever keeps them tells whether they move
        if dispatcher.failure is not None:
            return [*told, _ended("dispatcher", dispatcher.failure)]
        trouble = _reason(dispatcher)
        told += [
            moving(
                name, track, bounds=bounds, trouble=None if track.still_since is None else trouble
            )
            for name, track in self._tracks.items()
        ]
        host = engine.host
        failures = {} if host is None else dict(host.failures)
        return told + [_ended(f"processors/{name}", error) for name, error in failures.items()]


def _projection(engine: Engine, name: str, track: Track, now: float) -> ProjectionSeen:
    counts = counts_in(engine, name)
    return ProjectionSeen(
        lag_events=track.last.lag_events,
        lag_seconds=track.lag_seconds(now),
        still_seconds=track.still_seconds(now),
        parked=counts.get("parked", 0),
        foreign=counts.get("foreign", 0),
    )


def _processor(one: ProcessorStanding) -> ProcessorSeen:
    return ProcessorSeen(one.behind, one.waiting, one.held, one.parked)


def _troubled(one: ProcessorStanding) -> Verdict:
    detail = "; ".join(one.troubles)
    return Verdict("upkeep", f"processors/{one.name}", Level.DEGRADED, detail, SEE_DOCTOR)


def _counted(engine: Engine) -> Counted:
    dispatcher = engine.dispatcher
    return Counted(
        appended=engine.publisher.appended.value,
        readers_replaced=getattr(engine.log, "reader_restarts", 0),
        tally=None if dispatcher is None else dispatcher.tally,
    )


def _with_unfinished(seen: Upkeep, engine: Engine) -> Upkeep:
    dispatcher = engine.dispatcher
    unfinished = 0 if dispatcher is None else dispatcher.tally.unfinished.value
    failures = {**seen.failures, "follow-up": unfinished}
    return Upkeep(seen.disk_bytes, seen.disk_used_share, failures, seen.in_a_row, seen.golden_rate)


def _unkept(engine: Engine) -> list[Verdict]:
    """Tell that no process keeps the projections, if none does."""
    if look(engine.folder / LEASE_FILE).is_held:
        return []
    detail = "nobody keeps the projections"
    return [Verdict("open", "projections", Level.DEGRADED, detail, SEE_DOCTOR)]


def _reason(dispatcher: Dispatcher) -> str | None:
    """Return why nothing is applied at this moment, as far as that is known and passes."""
    if dispatcher.held_up_by is not None:
        return str(dispatcher.held_up_by)
    if dispatcher.held_by:
        return "somebody paused it; `mnemolog control resume` lets it go on"
    return "a rebuild or a verification has the turn" if dispatcher.is_paused else None


def _not_open(subject: Subject) -> Verdict:
    error = subject.stopped_by
    if error is None:
        return Verdict("open", "tenant", Level.FAILING, "it is not open yet", SEE_LOG)
    hint = error.hint if isinstance(error, MnemologError) else OUR_FAULT
    return Verdict("open", "tenant", Level.FAILING, f"it is stopped: {error}", hint)


def _ended(about: str, error: BaseException) -> Verdict:
    hint = error.hint if isinstance(error, MnemologError) else OUR_FAULT
    return Verdict("moving", about, Level.FAILING, f"it ended: {error}", hint)
