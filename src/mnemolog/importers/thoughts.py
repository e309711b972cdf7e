"""A thought that a source tells becomes a decision: a line of what, and the rest as why."""

from typing import Final

from mnemolog.schemas.fields import BLANKS
from mnemolog.schemas.text import cut, one_line

WHAT_CHARACTERS_MAX: Final = 300


def thought(text: str) -> dict[str, str | None]:
    r"""Return the fields of the decision that *text*, which is not blank, tells.

    `what` is its first line, and `why` what follows it; a first line that is too long is cut,
    and `why` is then the whole text.

    >>> thought("**Fix the test**\n\nIt reads a clock.")
    {'what': '**Fix the test**', 'why': 'It reads a clock.'}
    """
    first, _, rest = text.strip(BLANKS).partition("\n")
    line = one_line(first)
    what = cut(line, characters_max=WHAT_CHARACTERS_MAX)
    return {"what": what, "why": (rest.strip() or None) if what == line else text}
