"""How long a state of 10 KB, 100 KB and 1 MB takes to be saved and to be loaded.

    python bench/checkpoint.py

Saved: `checkpoint` has returned, so the log has it durably. Loadable: the read model has it too.
Loaded: `saved` by its id, checked and unpacked; resumed: `resume` of its task, and what came after.
The peer is a JSON file of the same state, written, synced and renamed; read and parsed.
"""

import argparse
import json
import os
import random
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from measuring import OURS, PEER, Row, Sample, arguments, in_turns, milliseconds, ratios, tell
from work_history import sentences

from mnemolog import Memory
from mnemolog.projections.kinds import CHECKPOINTS

SIZES: Final = {"10 KB": 10_000, "100 KB": 100_000, "1 MB": 1_000_000}
ROUNDS: Final = 50
ROUNDS_QUICK: Final = 15
NOTE_BYTES: Final = 4_000  # of one text within a state
SAVE_WANTED: Final = "p50 < 50 ms"
LOAD_WANTED: Final = "p50 < 20 ms"

State = dict[str, Any]


class Saving:
    """States of one size, saved by us and into files, and loaded again."""

    def __init__(self, memory: Memory, folder: Path, *, size: int, seed: int) -> None:
        self._memory = memory
        self._folder = folder
        self._size = size
        self._seed = seed
        self._states: list[State] = []

    def prepare(self, rounds: int) -> None:
        """Make a state for each round, and one to warm up."""
        chance = random.Random(self._seed)
        self._states = [_state(chance, size=self._size) for _ in range(rounds + 1)]

    def settle(self) -> None:
        """Wait until the projector has nothing to do: two saves rarely follow at once."""
        self._memory.wait_for(self._memory.end(), vectors=True)

    def save(self, n: int) -> None:
        self._saved(n)

    def save_and_wait(self, n: int) -> None:
        token = self._saved(n, prefix="waited").token
        self._memory.wait_for(token, projections=[CHECKPOINTS])

    def load(self, n: int) -> None:
        self._memory.saved(f"{self._size}-{n}")

    def resume(self, n: int) -> None:
        self._memory.resume(f"task-{self._size}-{n}")

    def write(self, n: int) -> None:
        path = self._path(n)
        draft = path.with_suffix(".draft")
        with draft.open("w") as file:
            json.dump(self._states[n], file, ensure_ascii=False)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)

    def read(self, n: int) -> None:
        json.loads(self._path(n).read_text())

    def _saved(self, n: int, *, prefix: str = "") -> Any:
        return self._memory.checkpoint(
            "Move the order service to the new pool",
            plan_summary="Drain, move, watch, tell",
            intermediate_results=self._states[n],
            id=f"{prefix}{self._size}-{n}",
            agent="agent-1",
            task=f"{prefix}task-{self._size}-{n}",
        )

    def _path(self, n: int) -> Path:
        return self._folder / f"{self._size}-{n}.json"


def _state(chance: random.Random, *, size: int) -> State:
    """Return a state whose notes have about *size* bytes as JSON."""
    notes: list[str] = []
    left = size
    while left > 0:
        note = ""
        while len(note.encode()) < min(NOTE_BYTES, left):
            note += sentences(chance, 1)
        notes.append(note)
        left -= len(note.encode()) + 3
    return {"notes": notes}


def measured(saving: Saving, *, size: str, rounds: int) -> Iterator[Row]:
    """Yield the rows of one size."""
    saving.prepare(rounds)
    turns = partial(in_turns, rounds=rounds, before=saving.settle)
    saved = turns({OURS: saving.save, PEER: saving.write})
    waited = turns({OURS: saving.save_and_wait, PEER: saving.write})
    loaded = turns({OURS: saving.load, PEER: saving.read})
    resumed = turns({OURS: saving.resume, PEER: saving.read})
    yield _row(f"{size}, saved", saved, wanted=SAVE_WANTED)
    yield _row(f"{size}, saved and loadable", waited)
    yield _row(f"{size}, loaded", loaded, wanted=LOAD_WANTED)
    yield _row(f"{size}, resumed", resumed, wanted=LOAD_WANTED)


def _row(what: str, samples: dict[str, list[Sample]], *, wanted: str = "") -> Row:
    clock, cpu = ratios(samples)
    return Row(
        scenario="checkpoint",
        what=what,
        ours=milliseconds(samples[OURS]),
        peer=milliseconds(samples[PEER]),
        ratio=clock,
        cpu_ratio=cpu,
        wanted=wanted,
    )


def rows(given: argparse.Namespace) -> Iterator[Row]:
    rounds = given.rounds or (ROUNDS_QUICK if given.quick else ROUNDS)
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        files = Path(folder) / "files"
        files.mkdir()
        with Memory(Path(folder) / "data", embedder="hashing") as memory:
            for size in given.sizes:
                saving = Saving(memory, files, size=SIZES[size], seed=given.seed)
                yield from measured(saving, size=size, rounds=rounds)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--sizes", nargs="+", choices=tuple(SIZES), default=tuple(SIZES))
    parser.add_argument("--rounds", type=int, help="of each size")
    parser.add_argument("--folder", help="where the data is made; a temporary one by default")
    given = parser.parse_args()
    tell(rows(given), as_json=given.json)


if __name__ == "__main__":
    main()
