"""A dispatcher for tests: it runs for a block, over a log in memory and a small projection."""

import threading
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from mnemolog.projections.sqlite_store import open_store
from mnemolog.schemas.codec import Codec
from mnemolog.schemas.events.experience import ObservationRecorded
from mnemolog.streams.dispatching import Dispatcher
from mnemolog.streams.projecting import Projector
from mnemolog.streams.publishing import Draft, Publisher
from support.texts import Texts

NOW = datetime(2030, 1, 1, tzinfo=UTC)
WITHIN_SECONDS = 60


class Gated(Texts):
    """Texts whose next batch stops within `apply` until the gate opens."""

    def __init__(self, path):
        super().__init__(path)
        self.inside, self.gate = threading.Event(), threading.Event()

    def apply(self, batch):
        self.inside.set()
        assert self.gate.wait(WITHIN_SECONDS)
        super().apply(batch)


class Later(Texts):
    """Texts that have some turns of follow-up to do, and count them."""

    def __init__(self, path, *, turns):
        super().__init__(path)
        self.turns_left = turns

    def follow_up(self, *, seconds_max):
        assert 0 < seconds_max <= 1
        self.turns_left = max(0, self.turns_left - 1)
        return self.turns_left > 0


def say(log, text, agent="ops-1"):
    codec = Codec(tenant="tests", partitions=log.partitions)
    publisher = Publisher(log, codec, tenant="tests", now=lambda: NOW)
    draft = Draft(model=ObservationRecorded, fields={"text": text}, agent=agent)
    return publisher.append([draft])[0]


@contextmanager
def running(log, *projections, **more):
    codec = Codec(tenant="tests", partitions=log.partitions)
    dispatcher = Dispatcher(log, Projector(log, codec, projections, **more))
    dispatcher.start()
    try:
        yield dispatcher
    finally:
        dispatcher.stop()


def holds(dispatcher, texts, *expected):
    """Wait until *texts* has applied the *expected* ones, in this order."""
    path = Path(texts._store.execute("PRAGMA database_list").fetchone()[2])
    with closing(open_store(path, schema="", read_only=True)) as store:

        def is_there():
            found = store.execute("SELECT text FROM texts ORDER BY rowid").fetchall()
            return [text for (text,) in found] == list(expected)

        dispatcher.wait_until(is_there, what="applying", timeout_seconds=WITHIN_SECONDS)
