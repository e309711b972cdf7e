"""Who obeys: a thread that looks for requests, accepts them, does them, and says what became.

Work that takes long (a rebuild, say) runs in a thread of its own, one at a time, so that a pause
is not held up by it. What was accepted by somebody who has ended is told to have failed, and not
done again: whoever wants it asks again.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import structlog

from mnemolog.schemas.errors import MnemologError
from mnemolog.streams.control import (
    REQUEST_SECONDS_MAX,
    Acknowledgement,
    Asked,
    Control,
    Outcome,
    Request,
)

LOOK_SECONDS: Final = 0.3
STOP_SECONDS_MAX: Final = 60.0
THREAD: Final = "mnemolog-control"
WORK_THREAD: Final = "mnemolog-control-work"
LONG: Final = frozenset({"rebuild", "verify", "retry"})
TOO_OLD: Final = "nobody was there to obey it in time: ask again"
LEFT_ALONE: Final = "who accepted it ended before it was done: ask again"

_log = structlog.get_logger("mnemolog.control")


@dataclass(frozen=True, slots=True)
class Obeyed:
    """What became of a request."""

    outcome: Outcome
    text: str
    result: Any = None


Obey = Callable[[Request], Obeyed]


class ControlHost:
    """Obeys the requests of a `Control` in a thread of its own, from `start` to `stop`.

    *opened* gives the control, or None as long as nobody has asked anything. *hold* is told at
    each look whether all rests. *by* says who obeys.
    """

    def __init__(
        self,
        opened: Callable[[], Control | None],
        obey: Obey,
        *,
        hold: Callable[[bool], None],
        by: str,
        now: Callable[[], datetime],
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        self._opened = opened
        self._obey = obey
        self._hold = hold
        self._by = by
        self._now = now
        self._look_seconds = look_seconds
        self._control: Control | None = None
        self._using = threading.RLock()  # the control: this thread, and that of what takes long
        self._mine: set[str] = set()
        self._long: threading.Thread | None = None
        self._stopping = threading.Event()
        self._said: str | None = None
        self._thread = threading.Thread(target=self._run, name=THREAD, daemon=True)

    def start(self) -> None:
        """Begin. Call once."""
        self._thread.start()

    def ask_to_stop(self) -> None:
        """Accept nothing more; does not wait."""
        self._stopping.set()

    def stop(self) -> None:
        """End, waiting a while for what is under way, and let go."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(STOP_SECONDS_MAX)
        if self._long is not None:
            self._long.join(STOP_SECONDS_MAX)
        if self._control is not None:
            with suppress(MnemologError):
                self._control.close()

    def look(self) -> None:
        """Look once: obey what is new. Raises what the control raises."""
        with self._using:
            if self._control is None:
                self._control = self._opened()
            if self._control is None:
                return
            for asked in self._control.asked():
                if asked.end is None and not self._stopping.is_set():
                    self._take(asked)
            self._control.asked()
            self._hold(self._control.is_paused)

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self.look()
                self._said = None
            except Exception as error:  # noqa: BLE001 - the next look may do better
                if str(error) != self._said:
                    self._said = str(error)
                    _log.warning("control can't be read; trying again", error=str(error))
            self._stopping.wait(self._look_seconds)

    def _take(self, asked: Asked) -> None:
        request = asked.request
        if request.id in self._mine:
            return  # under way
        if asked.accepted_by is not None:
            self._end(request, Obeyed("failed", LEFT_ALONE))
        elif self._is_too_old(request):
            self._end(request, Obeyed("refused", TOO_OLD))
        elif request.verb not in LONG:
            self._do(request)
        elif self._long is None or not self._long.is_alive():
            self._mine.add(request.id)
            self._long = threading.Thread(
                target=self._do, args=(request,), name=WORK_THREAD, daemon=True
            )
            self._long.start()

    def _is_too_old(self, request: Request) -> bool:
        if request.requested_at is None:
            return False
        return (self._now() - request.requested_at).total_seconds() > REQUEST_SECONDS_MAX

    def _do(self, request: Request) -> None:
        self._mine.add(request.id)
        try:
            self._say(request, "accepted", "")
            self._end(request, self._obeyed(request))
        except MnemologError as error:  # it stays accepted, and fails when somebody looks again
            _log.warning("a request can't be acknowledged", request=request.id, error=str(error))
        finally:
            self._mine.discard(request.id)

    def _obeyed(self, request: Request) -> Obeyed:
        try:
            return self._obey(request)
        except MnemologError as error:
            return Obeyed("failed", f"{error}. {error.hint}")
        except Exception as error:  # noqa: BLE001 - who asked has to hear of it
            _log.error("a request failed", verb=request.verb, exc_info=error)
            return Obeyed("failed", f"{type(error).__name__}: {error}")

    def _end(self, request: Request, became: Obeyed) -> None:
        _log.info("request", verb=request.verb, outcome=became.outcome, text=became.text)
        self._say(request, became.outcome, became.text, became.result)

    def _say(self, request: Request, outcome: Outcome, text: str, result: Any = None) -> None:
        said = Acknowledgement(request.id, outcome, text, self._by, result)
        with self._using:
            assert self._control is not None, "a request came from it"
            self._control.acknowledge(said)
