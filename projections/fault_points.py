"""Named places between two steps, at which a test can let the process die.

Outside tests nothing listens, and reaching a point costs one comparison. The names are literals
of the form "<projection>.<step just done>"; `tests/contracts` visits every one of them.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_listener: Callable[[str], None] | None = None


def reached(point: str) -> None:
    """Tell the listener, if there is one, that *point* is reached; it may raise."""
    if _listener is not None:
        _listener(point)


@contextmanager
def listening(listener: Callable[[str], None]) -> Iterator[None]:
    """Let *listener* hear of every point that is reached within the block, in any thread."""
    global _listener  # noqa: PLW0603 - one process has one listener, as it has one death
    former, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = former
