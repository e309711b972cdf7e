"""The verbs of `Memory` for what is parked and what is foreign: list, look, retry, skip."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from mnemolog.controls import ask_keeper
from mnemolog.engine import Engine
from mnemolog.parked import (
    PAGE_EVENTS,
    REBUILD,
    foreign,
    foreign_record,
    parked,
    parked_event,
    retry,
)
from mnemolog.parked_records import (
    ForeignPage,
    ParkedPage,
    ParkedWhole,
    Retried,
    Which,
    position_of,
)
from mnemolog.projections.ledger import ForeignRecord
from mnemolog.schemas.envelope import key_of
from mnemolog.schemas.errors import InvalidSetting, LeaseHeld, ReadOnly
from mnemolog.schemas.events.governance import EventSkipped
from mnemolog.schemas.ids import derived_id
from mnemolog.schemas.positions import Position
from mnemolog.streams.publishing import Appended
from mnemolog.writing import Writer

Place = Position | str
RETRY_SECONDS_MAX: Final = 60.0  # to wait for another process that keeps the folder


class Parking(Writer):
    """The part of `Memory` that looks after what could not be applied.

    A place is a `Position` or a text such as "0@17", as lists print it.
    """

    _engine: Engine

    def parked(
        self,
        *,
        projections: Iterable[str] = (),
        agent: str | None = None,
        behind: bool = False,
        after: str | None = None,
        events_max: int = PAGE_EVENTS,
    ) -> ParkedPage:
        """Return what is parked by its own fault, and how many of its agent's events wait for it.

        With *behind* those, too. *after* is an earlier page's `next`. Of analytics the first 100
        by their own fault and the last 400 of all are listed.
        """
        which = Which(projections, key=_key(agent))
        return parked(self._engine, which, followers=behind, after=after, events_max=events_max)

    def parked_event(
        self, position: Place, *, projections: Iterable[str] = ()
    ) -> list[ParkedWhole]:
        """Return what is parked at a place, whole, for each projection that has it parked."""
        return parked_event(self._engine, Which(projections, position=_place(position)))

    def retry(
        self,
        position: Place | None = None,
        *,
        projections: Iterable[str] = (),
        agent: str | None = None,
    ) -> list[Retried]:
        """Apply again, in order, what is parked: all, an agent's, or what waits with one event.

        Returns what became of each agent's events. Whoever keeps the folder does it: another
        process is asked, and waited for. Raises NotFound where nothing is parked at *position*,
        TimedOut or StoreUnavailable where the keeper did not do it.
        """
        if self._engine.read_only:
            raise ReadOnly("retry")
        place = None if position is None else _place(position)
        which = Which(projections, key=_key(agent), position=place)
        with suppress(LeaseHeld):
            return retry(self._engine, which)
        told = ask_keeper(self._engine, "retry", which.to_dict(), timeout_seconds=RETRY_SECONDS_MAX)
        return [Retried(**one) for one in told]

    def skip(
        self, position: Place, *, projection: str | None = None, reason: str | None = None
    ) -> Appended:
        """Append that the event parked at *position* is never to be applied; what waits goes on.

        By no projection, or not by the one that is named. It holds for every rebuild. Said twice
        it is one event. Raises NotFound, or InvalidSetting for one that only waits behind another
        or for a rebuild.
        """
        wanted = () if projection is None else (projection,)
        (first, *_) = self.parked_event(position, projections=wanted)
        if first.event.behind or first.advice == REBUILD:
            raise InvalidSetting("position", str(position), first.advice)
        said = derived_id("skip", first.event.identity, projection or "", reason or "")
        fields = {
            "revision": 1,
            "skipped": first.event.identity,
            "projection": projection,
            "reason": reason,
        }
        return self.append(EventSkipped, fields, id=said)

    def foreign(self, *, after: str | None = None, records_max: int = PAGE_EVENTS) -> ForeignPage:
        """Return the records of the log that are no events of it, with their bytes."""
        return foreign(self._engine, after=after, records_max=records_max)

    def foreign_record(self, position: Place) -> ForeignRecord:
        """Return the foreign record at *position*. Raises NotFound."""
        return foreign_record(self._engine, _place(position))


def _key(agent: str | None) -> str | None:
    return None if agent is None else key_of(agent)


def _place(position: Place) -> Position:
    return position_of(position) if isinstance(position, str) else position
