"""What a rule for statements consists of."""

from dataclasses import dataclass

import regex


@dataclass(frozen=True, slots=True)
class StatedRule:
    """A rule that finds sentences which state something of one kind.

    `name` is shown as the reason of a memory, for ever. `cues` are lower-case texts of which one
    stands in whatever the pattern finds: a text that has none is not looked at. `finds` and
    `leaves` are examples, which the tests check.
    """

    name: str
    kind: str
    cues: tuple[str, ...]
    pattern: regex.Pattern[str]
    finds: tuple[str, ...]
    leaves: tuple[str, ...]


def rule(
    name: str,
    kind: str,
    *,
    cues: str,
    pattern: str,
    finds: tuple[str, ...],
    leaves: tuple[str, ...],
) -> StatedRule:
    """Return a rule; *cues* are parted by "|", white space in *pattern* is for the reader."""
    compiled = regex.compile(pattern, regex.IGNORECASE | regex.VERBOSE)
    return StatedRule(name, kind, tuple(cues.split("|")), compiled, finds, leaves)
