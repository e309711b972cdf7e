"""A log whose readers can be made to hang, and to read nothing of what is there."""

import threading
from contextlib import suppress

from mnemolog.streams.memory_log import InMemoryLog

WITHIN_SECONDS = 60


class Hanging(InMemoryLog):
    """Its next *hangs* readers hang in a poll until `let_go`; *blind* ones find nothing."""

    def __init__(self, tenant, *, hangs=0, blind=0):
        super().__init__(tenant)
        self.hangs, self.blind = hangs, blind
        self.inside, self.let_go, self.closed = threading.Event(), threading.Event(), []

    def reader(self, start):
        reader = super().reader(start)
        if self.hangs:
            self.hangs -= 1
            return _Hangs(self, reader)
        if self.blind:
            self.blind -= 1
            return _Blind(reader)
        return reader


class _Hangs:
    def __init__(self, log, reader):
        self._log, self._reader = log, reader
        self.positions = reader.positions

    def poll(self, **asked):
        self._log.inside.set()
        assert self._log.let_go.wait(WITHIN_SECONDS)
        return self._reader.poll(**asked)

    def close(self):
        self._log.closed.append(self)
        with suppress(Exception):
            self._reader.close()


class _Blind:
    def __init__(self, reader):
        self.positions, self.close = reader.positions, reader.close

    def poll(self, **_):
        return []
