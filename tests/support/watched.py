"""A watch over memories that a test holds, by a clock that the test moves."""

from contextlib import contextmanager
from datetime import timedelta

from mnemolog.engine import present
from mnemolog.health import Bounds
from mnemolog.tenant_watch import Subject
from mnemolog.watch_settings import Watching
from mnemolog.watching import Watch


class Clock:
    """A clock that stands until it is moved; its time is the machine's at first."""

    def __init__(self):
        self.seconds = 0.0
        self._began = present()

    def __call__(self):
        return self.seconds

    def now(self):
        return self._began + timedelta(seconds=self.seconds)


class Subjects:
    """What is watched: memories by tenant, or errors for those that can't be opened."""

    def __init__(self, **memories):
        self.memories = memories

    def tenants(self):
        return list(self.memories)

    @contextmanager
    def using(self, tenant):
        found = self.memories[tenant]
        if found is None or isinstance(found, BaseException):
            yield Subject(tenant, None, found)
        else:
            yield Subject(tenant, found.engine)


def watch_of(clock, *, bounds=None, **memories):
    """Return a watch over *memories* that looks when it is told to."""
    watching = Watching(bounds=bounds or Bounds(lag_seconds=60, still_seconds=100))
    return Watch(Subjects(**memories), watching, clock=clock, now=clock.now)


def watch_with(clock, watching, **memories):
    """Return a watch by these settings."""
    return Watch(Subjects(**memories), watching, clock=clock, now=clock.now)
