"""What is looked at seldom: the disk, the index's upkeep, golden queries, old generations."""

from collections.abc import Callable
from datetime import datetime
from typing import Final

import structlog

from mnemolog.asking import Asker
from mnemolog.engine import Engine
from mnemolog.golden import Probed, file_for, probe, read_golden
from mnemolog.health import Level, Verdict
from mnemolog.ledgers import index_upkeep
from mnemolog.picture import Upkeep
from mnemolog.projections.kinds import NAMES
from mnemolog.readers import Readers
from mnemolog.schemas.errors import MnemologError
from mnemolog.sizes import bytes_below
from mnemolog.status import disk_warnings
from mnemolog.vacuuming import vacuum
from mnemolog.watch_settings import Watching

UPKEEP_SECONDS: Final = 60.0  # between two looks at the disk and at old generations
INDEX_FAILURES_MAX: Final = 5  # in a row, a minute apart at least, from which on it is failing

SEE_DOCTOR: Final = "`mnemolog doctor` says what is in the way; appends and answers go on."
SEE_PROBE: Final = "`mnemolog probe` names the questions whose memory was not found."
MAKE_ROOM: Final = "Make room on the disk; rebuilds, compaction and publishing wait for it."

_log = structlog.get_logger("mnemolog.upkeep")


class UpkeepWatch:
    """Looks at one open tenant's upkeep when it is due, and remembers what it saw."""

    def __init__(
        self,
        engine: Engine,
        watching: Watching,
        *,
        clock: Callable[[], float],
        present: Callable[[], datetime],
    ) -> None:
        self._engine = engine
        self._watching = watching
        self._clock = clock
        self._present = present
        self._readers = Readers(engine)
        self._asker = Asker(engine, self._readers, {})
        self._upkeep_at = float("-inf")
        self._probe_at = clock()  # the first round once it had the time to catch up
        self._probed: Probed | None = None
        self._probe_error: MnemologError | None = None
        self._failures: dict[str, int] = {}
        self._errors: dict[str, str] = {}
        self.seen = Upkeep()

    def look(self) -> None:
        """Do what is due. Raises nothing that concerns upkeep alone: a verdict tells."""
        now = self._clock()
        if now >= self._upkeep_at:
            self._upkeep_at = now + UPKEEP_SECONDS
            self._run("vacuum", self._vacuum)
            self._run("look", self._look_at_disk)
        if now >= self._probe_at + self._watching.probe_seconds:
            self._probe_at = now
            self._probe()

    def close(self) -> None:
        """Let go of what was opened to ask. Harmless twice."""
        self._readers.close()

    def verdicts(self) -> list[Verdict]:
        """Return what is to be told."""
        return [*self._of_upkeep(), *self._of_golden()]

    def _vacuum(self) -> None:
        present = self._present().timestamp()
        vacuum(self._engine, present=present, retired_seconds=self._watching.retired_seconds)

    def _look_at_disk(self) -> None:
        engine = self._engine
        every = [engine.shelf.generations(name) for name in NAMES]
        sizes = {
            (one.folder.name, name): bytes_below(one.folder / name)
            for one in every
            for name in one.names()
        }
        kept = index_upkeep(engine)
        if kept.failures:
            self._errors["index"] = kept.error or "unknown"
        else:
            self._errors.pop("index", None)
        self.seen = Upkeep(
            disk_bytes=sizes,
            disk_used_share=engine.room.usage_of(engine.folder).share,
            failures=dict(self._failures),
            in_a_row=kept.failures,
            golden_rate=self.seen.golden_rate,
        )

    def _run(self, name: str, call: Callable[[], None]) -> None:
        try:
            call()
            self._errors.pop(name, None)
        except (MnemologError, OSError) as error:
            self._failures[name] = self._failures.get(name, 0) + 1
            if self._errors.get(name) != str(error):
                _log.warning("upkeep failed", task=name, error=str(error))
            self._errors[name] = str(error)

    def _probe(self) -> None:
        self._probe_error, self._probed = None, None
        try:
            path = file_for(self._engine.folder, self._watching.probe_file)
            if path is not None:
                self._probed = probe(self._asker, read_golden(path))
        except MnemologError as error:
            self._probe_error = error
            _log.warning("golden queries can't be asked", error=str(error))
        rate = None if self._probed is None else self._probed.rate
        seen = self.seen
        self.seen = Upkeep(
            seen.disk_bytes, seen.disk_used_share, seen.failures, seen.in_a_row, rate
        )

    def _of_upkeep(self) -> list[Verdict]:
        told = [
            Verdict("upkeep", name, Level.DEGRADED, error, SEE_DOCTOR)
            for name, error in self._errors.items()
            if name != "index"
        ]
        if self.seen.in_a_row:
            level = Level.FAILING if self.seen.in_a_row >= INDEX_FAILURES_MAX else Level.DEGRADED
            detail = f"failed {self.seen.in_a_row} times in a row: {self._errors['index']}"
            told.append(Verdict("upkeep", "index", level, detail, SEE_DOCTOR))
        room = self._engine.room
        warnings = disk_warnings(room, room.usage_of(self._engine.folder))
        is_full = self.seen.disk_used_share >= room.refuse_share
        level = Level.FAILING if is_full else Level.DEGRADED
        return told + [Verdict("upkeep", "disk", level, one, MAKE_ROOM) for one in warnings]

    def _of_golden(self) -> list[Verdict]:
        if self._probe_error is not None:
            error = self._probe_error
            return [Verdict("golden", "golden", Level.FAILING, str(error), error.hint)]
        if self._probed is None:
            return []
        probed = self._probed
        missed = sum(not one.is_found for one in probed.asked)
        detail = f"{missed} of {len(probed.asked)} golden queries found nothing of what they must"
        level = Level.OK if probed.is_good else Level.FAILING
        return [Verdict("golden", "golden", level, detail, "" if probed.is_good else SEE_PROBE)]
