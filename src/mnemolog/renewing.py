"""How a projection whose store was found damaged comes back while others go on.

First its generation is opened anew and looked at closely, which mends what can be mended within.
If it is damaged again, a new generation takes its place, and the log fills it. If that one is
damaged, too, nothing here helps: no start and no turn ever loops.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import structlog

from mnemolog.projections.kinds import Kind
from mnemolog.projections.projection import Projection
from mnemolog.projections.shelf import Shelf
from mnemolog.schemas.errors import Damaged
from mnemolog.streams.projecting import Projector

if TYPE_CHECKING:
    from pathlib import Path

_log = structlog.get_logger("mnemolog.renewing")


class Renewal:
    """Gives what takes a damaged projection's place, as `Projector.renew` wants it."""

    def __init__(
        self, shelf: Shelf, kinds: Callable[[], Mapping[str, Kind]], *, epoch: int
    ) -> None:
        self._shelf = shelf
        self._kinds = kinds
        self._epoch = epoch
        self._reopened: set[Path] = set()
        self._begun: set[Path] = set()

    def __call__(self, name: str, error: Damaged) -> Projection:
        """Return the projection *name*, open for writing, after it was closed for *error*.

        Raises *error* if the generation was begun here already, StoreUnavailable if none can be
        opened at this moment.
        """
        kind, serving = self._kinds()[name], self._shelf.generations(name).serving()
        if serving in self._begun:
            raise error
        if serving is None or serving not in self._reopened:
            _log.warning("damaged; opened anew", projection=name, error=str(error))
            opened = self._shelf.open_serving(kind, epoch=self._epoch, thorough=True)
            self._reopened |= {serving} if serving is not None else set()
        else:
            opened = self._shelf.begin_anew(kind, serving, error, epoch=self._epoch)
        now = self._shelf.generations(name).serving()
        if now is not None and now != serving:
            self._begun.add(now)
        return opened


def started(projector: Projector, renewal: Renewal) -> None:
    """Start *projector*, renewing what is found damaged meanwhile. Raises what `start` does."""
    while True:
        try:
            projector.start()
        except Damaged:
            if not projector.damaged:
                raise
            projector.renew(renewal)
        else:
            return
