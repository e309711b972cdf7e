"""Where the answers to MemoryBank's probing questions stand, for the first two users of each file.

The questions are taken by rule, all of those users', and the answers were looked up before any was
asked. Both files tell the same days in the same order, so that one list serves both. Each answer
is "month-day.pair" with q for the user's words and r for the companion's; any of several will do.
"""

from typing import Final

ANSWERS: Final = (
    (
        "04-30.4q",
        "05-01.1q",
        "05-03.3r",
        "04-28.2q",
        "04-30.3q",
        "05-02.2q",
        "05-04.2q 05-04.3q",
    ),
    (
        "04-27.3q",
        "04-28.9q",
        "04-29.2r",
        "05-05.2q 05-05.3q",
        "05-06.2q",
        "04-30.2q",
        "04-28.3r",
    ),
)
YEAR: Final = "2023"
SIDES: Final = {"q": "query", "r": "response"}


def places_of(answer: str) -> list[tuple[str, int, str]]:
    """Return the day, the pair's number and the side of each place of *answer*.

    >>> places_of("04-30.4q")
    [('2023-04-30', 4, 'query')]
    """
    found = []
    for place in answer.split():
        day, _, pair = place.partition(".")
        found.append((f"{YEAR}-{day}", int(pair[:-1]), SIDES[pair[-1]]))
    return found
