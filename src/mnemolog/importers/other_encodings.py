"""Encodings in which some programs save text and no format is: they are named, not read."""

import codecs
import re
from typing import Final

# UTF-32 first: its mark begins as that of UTF-16 does.
_MARKS: Final = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
# Without a mark two characters of ASCII tell, as every JSON begins with (RFC 4627, 3).
_UTF16: Final = re.compile(rb"[^\0]\0[^\0]\0|\0[^\0]\0[^\0]")


def other_encoding(head: bytes) -> str | None:
    """Return the name of an encoding that *head* shows and that is not read, or None.

    >>> other_encoding('[{"role"'.encode("utf-16"))
    'UTF-16'
    """
    marked = next((name for mark, name in _MARKS.items() if head.startswith(mark)), None)
    return marked or ("UTF-16" if _UTF16.match(head) else None)
