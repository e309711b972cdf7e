"""A memory as it is given to those who ask for it by its id."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mnemolog.projections.memories.rows import MemoryRow

if TYPE_CHECKING:
    from mnemolog.projections.weights.reading import Weight


@dataclass(frozen=True, slots=True)
class Known:
    """A memory as `get` gives it: its row, and its weight at the time of asking."""

    row: MemoryRow
    weight: "Weight | None"

    @property
    def id(self) -> str:
        """The memory's id."""
        return self.row.id

    @property
    def identity(self) -> str:
        """The identity of the event that formed it."""
        return self.row.identity

    @property
    def text(self) -> str:
        """The memory's text. The event that formed it has it whole, however long: see `get`."""
        return self.row.text
