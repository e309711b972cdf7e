"""The times of a file whose lines have one each: what to do where a line has none."""

from datetime import datetime
from typing import Any

from mnemolog.importers.base import Problem, Source, Unreadable
from mnemolog.importers.moments import moment_of_text
from mnemolog.schemas.times import instant


class LineTimes:
    """Reads the time of each line in turn, from *start* on."""

    def __init__(self, source: Source, start: datetime | str) -> None:
        self._source = source
        self._last, _ = instant(start, field="start")

    @property
    def before(self) -> datetime:
        """The time of the line before, naive, so that it is flagged as assumed."""
        return self._last.replace(tzinfo=None)

    def moment(self, written: Any, place: str) -> tuple[datetime, list[Problem]]:
        """Return the time that is *written* in a line, and a Problem if it can't be read.

        A line without a time has that of the line before.
        """
        if written is None:
            return self.before, []
        try:
            moment = moment_of_text(written)
        except Unreadable as error:
            reason = f"{error}; it has the time of the line before"
            return self.before, [self._source.problem(place, reason)]
        self._last, _ = instant(moment, field="timestamp")
        return moment, []
