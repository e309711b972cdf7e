"""How little memory a command of ours keeps that runs for long. A host's process is left alone."""

import ctypes
from contextlib import suppress
from typing import Final

_ARENA_MAX: Final = -8  # glibc's M_ARENA_MAX
_MMAP_THRESHOLD: Final = -3  # glibc's M_MMAP_THRESHOLD
_OF_ITS_OWN_BYTES: Final = 262_144  # a larger piece is mapped, and goes back when it is freed


def keep_little() -> None:
    """Have all threads share one heap, so that what one of them freed serves the others.

    LanceDB's threads would keep one each, of what their largest write needed: an import of 30,000
    events ended with 1,300 MB that way, with 870 MB this way, and took no more time. And keep large
    pieces out of the heap, however many come: of itself glibc takes them in once it has seen some,
    and they leave holes. Does nothing where the C library is another than glibc.
    """
    with suppress(AttributeError, OSError, TypeError):
        library = ctypes.CDLL(None)
        library.mallopt(_ARENA_MAX, 1)
        library.mallopt(_MMAP_THRESHOLD, _OF_ITS_OWN_BYTES)
