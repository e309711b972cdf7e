"""The read models that serve at this moment, opened once and again after a swap."""

import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mnemolog.engine import Engine
from mnemolog.projections.generations import described
from mnemolog.projections.kinds import CHECKPOINTS, MEMORIES, VECTORS_FILE, VERSIONS, WEIGHTS
from mnemolog.schemas.decoded import Ours
from mnemolog.schemas.errors import Damaged, MnemologError, NewerRelease, StoreUnavailable
from mnemolog.schemas.events.experience import CheckpointSaved
from mnemolog.schemas.positions import Position

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from mnemolog.projections.checkpoints.file_format import Kept
    from mnemolog.projections.checkpoints.reading import CheckpointReader
    from mnemolog.projections.memories.reading import MemoryReader
    from mnemolog.projections.weights.reading import Weight, WeightReader
    from mnemolog.schemas.policy import DecayPolicy

RETIRED_MAX: Final = 8  # readers of former generations that are kept open for who uses them yet


class Unreadable:
    """Stands where weights can't be read: a recall answers without them, and says why."""

    def __init__(self, error: MnemologError) -> None:
        self._error = error

    def decay_policy(self) -> "DecayPolicy":
        """Raise what reading them raised."""
        raise self._error

    def weights(
        self, ids: "Sequence[str]", *, at: "datetime", decay: "DecayPolicy"
    ) -> "Mapping[str, Weight]":
        """Raise what reading them raised."""
        del ids, at, decay
        raise self._error


class Readers:
    """Readers of the serving generations. Any thread may use it.

    Each is None while nothing has been projected yet.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._open: dict[str, tuple[Path, Any]] = {}
        self._retired: list[Any] = []  # another thread may still be asking one of them

    def memories(self) -> "MemoryReader | None":
        """Return the reader of memories."""
        reader: MemoryReader | None = self._serving(MEMORIES, _opened_and_warm)
        return reader

    def weights(self) -> "WeightReader | None":
        """Return the reader of weights."""
        from mnemolog.projections.weights.reading import WeightReader  # noqa: PLC0415

        reader: WeightReader | None = self._serving(WEIGHTS, WeightReader.open)
        return reader

    def weigher(self) -> "WeightReader | Unreadable | None":
        """Return what weighs the memories of a recall, which does without if it must."""
        try:
            return self.weights()
        except (Damaged, StoreUnavailable) as error:
            self._engine.check_open()
            return Unreadable(error)

    def checkpoints(self) -> "CheckpointReader | None":
        """Return the reader of checkpoints and timelines."""
        from mnemolog.projections.checkpoints.loading import Sources  # noqa: PLC0415
        from mnemolog.projections.checkpoints.reading import CheckpointReader  # noqa: PLC0415

        sources = Sources(
            blob=self._engine.blobs.get,
            logged=self._logged_checkpoint,
            mends=lambda: self._engine.is_owner,
        )
        opened = partial(CheckpointReader.open, sources=sources)
        reader: CheckpointReader | None = self._serving(CHECKPOINTS, opened)
        return reader

    def _logged_checkpoint(self, position: Position) -> "Kept | None":
        """Return what the log has of the checkpoint that was saved at *position*."""
        from mnemolog.projections.checkpoints.file_format import Kept  # noqa: PLC0415

        record = self._engine.log.at(position)
        item = None if record is None else self._engine.codec.decode(record)
        if not isinstance(item, Ours) or not isinstance(item.recorded.event, CheckpointSaved):
            return None
        return Kept(item.recorded.event.checkpoint, item.recorded.envelope.dataref)

    def vector_of(self, text: str) -> list[float] | None:
        """Return the vector that the cache has of a memory's *text*, or None."""
        from mnemolog.projections.memories.sqlite_vector_cache import (  # noqa: PLC0415 - heavy
            SQLiteVectorCache,
        )
        from mnemolog.projections.memories.vector_cache import vector_key  # noqa: PLC0415

        memories = self.memories()
        if memories is None or not (self._engine.folder / VECTORS_FILE).exists():
            return None
        key = vector_key(memories.model_id, "memory", text)
        cache = SQLiteVectorCache(self._engine.folder / VECTORS_FILE)
        try:
            found = cache.get_many([key]).get(key)
        finally:
            cache.close()
        return None if found is None else [float(number) for number in found]

    def close(self) -> None:
        """Close what is open. Harmless twice."""
        with self._lock:
            for reader in [*self._retired, *(reader for _, reader in self._open.values())]:
                reader.close()
            self._retired.clear()
            self._open.clear()

    def _serving(self, name: str, open_reader: Callable[[Path], Any]) -> Any:
        self._engine.check_open()
        serving = self._engine.shelf.generations(name).serving()
        if serving is None:
            return None
        with self._lock:
            folder, reader = self._open.get(name, (None, None))
            if folder != serving:
                _refuse_a_later_fold(name, serving)
                self._retire(reader)
                reader = open_reader(serving)
                self._open[name] = (serving, reader)
            return reader

    def _retire(self, reader: Any) -> None:
        if reader is not None:
            self._retired.append(reader)
        while len(self._retired) > RETIRED_MAX:
            self._retired.pop(0).close()


def _refuse_a_later_fold(name: str, serving: Path) -> None:
    """Raise NewerRelease if a later release's fold built *serving*: its rows may mean otherwise."""
    with suppress(Damaged):  # whoever writes it sets it aside
        found = described(serving).version
        if found > VERSIONS[name]:
            reason = f"it serves version {found}; this one reads {VERSIONS[name]}"
            raise NewerRelease(name, reason)


def _opened_and_warm(folder: Path) -> "MemoryReader":
    """Open the memories, and load their driver now: that takes no time from a question's."""
    from mnemolog.projections.memories.lance_reader import (  # noqa: PLC0415 - heavy
        LanceMemoryReader,
    )

    reader = LanceMemoryReader.open(folder)
    with suppress(MnemologError):  # the answer names what is missing
        reader.counts()
    return reader
