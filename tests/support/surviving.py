"""A memory that is handed anything, and what must hold afterwards, whatever it was.

with survivor(tmp_path) as one:
    with one.handed(): ...   # answers, or refuses in words of ours; and the neighbours are there
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

from mnemolog.memory import Memory
from mnemolog.projections.kinds import NAMES
from mnemolog.schemas.errors import MnemologError
from support.remembering import opened, texts

EXAMPLES_A_MEMORY = 200  # then another one begins: none grows for ever


@contextmanager
def refusing() -> Iterator[None]:
    """Let an error of ours pass, if it can be shown and says what to do."""
    try:
        yield
    except MnemologError as error:
        _check(error)


def _check(error: MnemologError) -> None:
    assert str(error).strip()
    assert error.hint
    str(error).encode()


def beside(folder: Path, data: Path) -> list[str]:
    """Return what stands in *folder* beside *data*."""
    return sorted(path.name for path in folder.iterdir() if path != data)


class Survivor:
    """A memory in a folder of its own; `memory` is another one after many examples."""

    def __init__(self, folder: Path) -> None:
        self._folders = (folder / str(number) for number in count())
        self._numbers = count()
        self._open()

    def _open(self) -> None:
        self._folder = next(self._folders)
        self.data = self._folder / "data"
        self._folder.mkdir(parents=True)
        self.memory: Memory = opened(self.data, agent="ops-1")

    def close(self) -> None:
        self.memory.close()

    @contextmanager
    def handed(self) -> Iterator[Memory]:
        """Hand *memory* something in the block, between two neighbours, and look at all of it."""
        number = next(self._numbers)
        if number and number % EXAMPLES_A_MEMORY == 0:
            self.memory.close()
            self._open()
        keeper, here = f"keeper {number}", Path.cwd()
        told = sorted(here.iterdir())
        self.memory.observe(f"the lighthouse of {keeper} is lit", agent=keeper)
        with refusing():
            yield self.memory
        last = self.memory.observe(f"the lighthouse of {keeper} is dark", agent=keeper)
        answer = self.memory.recall("lighthouse", agent=keeper, after=last.token, hits_max=50)
        assert (sorted(texts(answer)), answer.missing) == (
            [f"the lighthouse of {keeper} is {how}" for how in ("dark", "lit")],
            (),
        )
        assert beside(self._folder, self.data) == []
        assert sorted(here.iterdir()) == told

    def settles(self) -> None:
        """Every projection takes what stands on the log, and none has parked any of it."""
        self.memory.wait_for(self.memory.end(), projections=NAMES)
        with self.memory.engine.dispatcher.paused() as projector:
            assert [one.parked() for one in projector.projections] == [[]] * len(NAMES)


@contextmanager
def survivor(folder: Path) -> Iterator[Survivor]:
    """Give a survivor in *folder*, and close it."""
    one = Survivor(folder)
    with suppress(StopIteration):
        try:
            yield one
        finally:
            one.close()
