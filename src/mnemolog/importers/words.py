"""What importers make of a text: a goal, a decision. Each word of it goes in once."""

from typing import Final

from mnemolog.schemas.fields import BLANKS
from mnemolog.schemas.text import ELLIPSIS, cut, one_line

GOAL_CHARACTERS_MAX: Final = 300
DECISION_CHARACTERS_MAX: Final = 300


def goal_of(text: str, *, otherwise: str) -> str:
    r"""Return *text* in one line, cut, or *otherwise* where it says nothing.

    >>> goal_of("Mend the\nlift", otherwise="task 7"), goal_of("...", otherwise="task 7")
    ('Mend the lift', 'task 7')
    """
    says_something = any(character.isalnum() for character in text)
    goal = one_line(text) if says_something else otherwise
    return cut(goal, characters_max=GOAL_CHARACTERS_MAX)


def decision_of(thought: str) -> dict[str, str | None]:
    r"""Return what a thought decides, its first line, and why, all that stands behind it.

    A first line that is too long ends at a space. The thought must not be blank.

    >>> decision_of("Look first.\nThe lift may be empty.")
    {'what': 'Look first.', 'why': 'The lift may be empty.'}
    """
    thought = thought.strip(BLANKS)
    line = thought.partition("\n")[0].rstrip(BLANKS)
    if len(line) > DECISION_CHARACTERS_MAX:
        line = cut(line, characters_max=DECISION_CHARACTERS_MAX).removesuffix(ELLIPSIS)
        line = line.rpartition(" ")[0] or line
    return {"what": line, "why": thought[len(line) :].strip(BLANKS) or None}
