"""What an import did, in numbers and in a bounded list of what went wrong."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from mnemolog.importers.base import Problem
from mnemolog.schemas.positions import Token

PROBLEMS_KEPT_MAX: Final = 100
SKIPPED_KEPT_MAX: Final = 100


@dataclass(slots=True)
class ImportReport:
    """The outcome of one import; it grows while the import runs.

    `added` and `already_there` count events by the places that the log gave them. A log that
    knows identities (in-memory, SQLite) gives a known event its former place, so both are exact
    unless another process appends the same events meanwhile. Kafka gives every event a new place:
    there `tells_repeats` is False, and `added` counts repeats too, which have no effect (an
    identity counts once). In a dry run both say what an import would find now; of a log that does
    not tell repeats, `already_there` is only what repeats within the import.
    """

    dry_run: bool = False
    tells_repeats: bool = True  # whether the log knows what it holds
    files: int = 0  # read, wholly or in part
    unread: int = 0  # paths that were named and gave no file of a known format
    skipped_total: int = 0  # lay in a folder and are of no known format
    skipped: list[str] = field(default_factory=list)  # the first `SKIPPED_KEPT_MAX` of them
    added: int = 0
    already_there: int = 0
    foreign: int = 0  # records put back that are no events, of those that the log did not know
    blobs: int = 0  # that were put beside the log, or were there
    by_type: Counter[str] = field(default_factory=Counter)  # of all events, those there included
    added_by_type: Counter[str] = field(default_factory=Counter)  # of those that were added
    problems_total: int = 0
    problems: list[Problem] = field(default_factory=list)  # the first `PROBLEMS_KEPT_MAX`
    token: Token = field(default_factory=lambda: Token({}))  # the last event in each partition

    @property
    def events(self) -> int:
        """How many events the log has acknowledged, or would be sent."""
        return self.added + self.already_there

    def add_problem(self, problem: Problem) -> None:
        """Count *problem*, and keep it while there is room."""
        self.problems_total += 1
        if len(self.problems) < PROBLEMS_KEPT_MAX:
            self.problems.append(problem)

    def add_unread(self, problem: Problem) -> None:
        """Count a path that was named and can't be read, for *problem*."""
        self.unread += 1
        self.add_problem(problem)

    def add_skipped(self, path: str) -> None:
        """Count a file of no known format, and keep its name while there is room."""
        self.skipped_total += 1
        if len(self.skipped) < SKIPPED_KEPT_MAX:
            self.skipped.append(path)


@dataclass(frozen=True, slots=True)
class HowFar:
    """Where an import is, for a progress bar; `bytes_total` is None where nobody knows it."""

    file: str
    bytes_read: int
    bytes_total: int | None
    events: int
    problems: int
    added: int = 0  # of the events
    files: int = 0  # read so far, this one included
