"""A tenant's health as another process sees it: from the log's ends and the projections' files."""

import time
from collections.abc import Callable
from datetime import datetime
from typing import Final

from mnemolog.engine import LEASE_FILE, Engine, present
from mnemolog.health import Health, Level, Track, Verdict, behind, followed, moving
from mnemolog.projections.lease import look
from mnemolog.sampling import sampled
from mnemolog.schemas.errors import Damaged, StoreUnavailable

NOBODY: Final = "Any command or program that opens the folder folds the rest."
STOPPED: Final = "Let it go on (`kill -CONT`), or end it."


class OutsideLook:
    """Looks at the tenant of *engine* again and again; whether it moves needs two looks."""

    def __init__(
        self,
        engine: Engine,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = present,
    ) -> None:
        self._engine = engine
        self._bounds = engine.settings.watching.bounds
        self._clock = clock
        self._now = now
        self.tracks: dict[str, Track] = {}

    def look(self) -> Health:
        """Return how the tenant stands, as far as that is seen from outside."""
        tenant, now = self._engine.settings.tenant, self._clock()
        try:
            samples = sampled(self._engine, now=now, present=self._now())
        except (Damaged, StoreUnavailable) as error:
            return Health(tenant, (Verdict("open", "log", Level.FAILING, str(error), error.hint),))
        self.tracks = {n: followed(self.tracks.get(n), s) for n, s in samples.items()}
        told = [behind(n, t, now=now, bounds=self._bounds) for n, t in self.tracks.items()]
        return Health(tenant, (*told, *self._moving()))

    def lag_seconds(self, name: str) -> float | None:
        """Return how old the first event is that *name* waits for; None where nobody can tell."""
        track = self.tracks.get(name)
        return None if track is None else track.lag_seconds(track.last.at_seconds)

    def _moving(self) -> list[Verdict]:
        waiting = {n: t for n, t in self.tracks.items() if t.last.lag_events}
        if not waiting:
            return []
        keeper = look(self._engine.folder / LEASE_FILE)
        if not keeper.is_held and not self._engine.is_owner:
            return [Verdict("moving", "keeper", Level.DEGRADED, "nobody keeps them", NOBODY)]
        if keeper.is_stopped:
            return [Verdict("moving", "keeper", Level.FAILING, f"kept by {keeper}", STOPPED)]
        return [moving(name, track, bounds=self._bounds) for name, track in waiting.items()]
