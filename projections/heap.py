"""The heap of this process: what was freed in it goes back to the system."""

import ctypes
from contextlib import suppress


def give_back() -> None:
    """Give freed memory back to the system; glibc alone would keep what lies between used pieces.

    Takes some milliseconds. Does nothing where the C library is another than glibc.
    """
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
