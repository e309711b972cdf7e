"""Who copies dead letters: a thread beside a tenant's projections while a worker owns it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

import structlog

from mnemolog.engine import Engine
from mnemolog.ledgers import parked_in, parked_whole
from mnemolog.projections.kinds import NAMES, VERSIONS
from mnemolog.projections.ledger import ParkedSummary
from mnemolog.projections.sqlite_ledger import FIRST
from mnemolog.schemas.errors import MnemologError
from mnemolog.schemas.records import NewRecord
from mnemolog.streams.dead_letters import (
    LETTERS_MAX,
    Copied,
    DeadLetters,
    dead_letters_topic,
    letter,
)
from mnemolog.streams.opening import brokers_of, numbers_of

SWEEP_SECONDS: Final = 2.0  # between two looks at what is parked
STOP_SECONDS_MAX: Final = 60.0
PAGE_EVENTS: Final = 1_000

_log = structlog.get_logger("mnemolog.dead_letters")


def sweep(engine: Engine, box: DeadLetters, copied: Copied) -> int:
    """Copy what is parked and was not copied yet; return how many copies were made.

    Of analytics those that its list tells of. Raises what *box* and the stores raise: what was
    not copied by then is copied by the next one.
    """
    return sum(_sweep(engine, name, box, copied) for name in NAMES)


def _sweep(engine: Engine, name: str, box: DeadLetters, copied: Copied) -> int:
    known = copied.positions(name)
    parked = {told.position: told for told in _all_parked(engine, name)}
    if gone := sorted(known - parked.keys()):
        copied.forget(name, gone)
    wanted = sorted(parked.keys() - known)
    for start in range(0, len(wanted), LETTERS_MAX):
        run = wanted[start : start + LETTERS_MAX]
        letters = [_letter(engine, name, parked[position]) for position in run]
        box.put([one for one in letters if one is not None])  # 1
        copied.note(name, run)  # 2
    return len(wanted)


def _all_parked(engine: Engine, name: str) -> Iterator[ParkedSummary]:
    after = FIRST
    while page := parked_in(
        engine, name, after=after, key=None, followers=True, events_max=PAGE_EVENTS
    ):
        yield from page
        after = page[-1].position


def _letter(engine: Engine, name: str, told: ParkedSummary) -> NewRecord | None:
    """Return the copy of what is parked; None of what was let go of meanwhile and is no more."""
    kept = parked_whole(engine, name, told.position)
    record = engine.log.at(told.position) if kept is None else kept.record
    if record is None:
        return None
    return letter(record, told, projection=name, version=VERSIONS[name], topic=engine.log.topic)


class Copying:
    """Sweeps in a thread of its own from `start` to `stop`; nothing that fails ends it.

    `trouble` is what it tries again.
    """

    def __init__(self, engine: Engine, box: DeadLetters) -> None:
        self._engine = engine
        self._box = box
        self._copied: Copied | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="mnemolog-dead-letters", daemon=True)
        self.trouble: str | None = None

    def start(self) -> None:
        """Begin. Call once."""
        self._thread.start()

    def stop(self) -> None:
        """End after the present sweep, and let go."""
        self._stopping.set()
        self._thread.join(STOP_SECONDS_MAX)
        if self._copied is not None and not self._thread.is_alive():
            self._copied.close()
        self._box.close()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                sweep(self._engine, self._box, self._opened())
                self._say(None)
            except Exception as error:  # noqa: BLE001 - a copy is worth no worker
                self._say(f"{type(error).__name__}: {error}")
            self._stopping.wait(SWEEP_SECONDS)

    def _opened(self) -> Copied:
        if self._copied is None:
            self._copied = Copied.open(self._engine.folder)
            self._copied.say(None)  # what a former process met
        return self._copied

    def _say(self, trouble: str | None) -> None:
        if trouble == self.trouble:
            return
        self.trouble = trouble
        tenant = self._engine.settings.tenant
        if trouble is None:
            _log.info("dead letters are copied again", tenant=tenant)
        else:
            _log.warning("dead letters can't be copied; trying again", tenant=tenant, error=trouble)
        if self._copied is not None:
            with suppress(MnemologError):  # the log has told
                self._copied.say(trouble)


@contextmanager
def copied(engine: Engine) -> Iterator[Copying]:
    """Copy a tenant's dead letters to its topic on Kafka, within the block."""
    from mnemolog.streams.kafka_dead_letters import (  # noqa: PLC0415 - Kafka's client is heavy
        PARTITIONS,
        KafkaDeadLetters,
    )
    from mnemolog.streams.kafka_topics import TopicSettings  # noqa: PLC0415 - as above

    url = engine.settings["log"]
    numbers = {**numbers_of(url), "partitions": PARTITIONS}
    box = KafkaDeadLetters(
        brokers_of(url, engine.settings.security),
        dead_letters_topic(engine.settings.tenant),
        TopicSettings(**numbers),
    )
    copying = Copying(engine, box)
    copying.start()
    try:
        yield copying
    finally:
        copying.stop()
