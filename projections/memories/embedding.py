"""From texts to unit vectors: the port, and the checks that every adapter stands behind.

One bad text never harms the others of its batch: it comes back as an `Unembeddable` with its
reason. What a model returns is believed only after `checked_vector`. The rule that prepares a
text is part of every model id, since it is part of the way from text to vector.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, Protocol

import numpy as np
import regex
from numpy.typing import NDArray

from mnemolog.projections.memories.readable import without_base64
from mnemolog.schemas.errors import StoreUnavailable, shown
from mnemolog.schemas.text import cut_bytes, normalised

Role = Literal["question", "memory"]
ROLES: Final[tuple[Role, ...]] = ("question", "memory")
Vector = NDArray[np.float32]

# About 500 of e5's tokens in English (4 bytes a token) and Chinese (4 bytes too): one window of
# 512, at most 0.5 s on one core. A dense text (digits, codes) may take two windows.
EMBEDDED_BYTES_MAX: Final = 2_048
BATCH_TEXTS_MAX: Final = 32  # a model's call: bounds its memory and the wait for an interrupt
TEXT_RULE: Final = "text1"  # ends each model id: raise it when `prepared_text` changes
NORM_TOLERANCE: Final = 1e-5
_NORM_MIN: Final = 1e-12
_PROBE: Final = "mnemolog"  # a text that a working model can embed

_INVISIBLE = regex.compile(r"[\s\p{Z}\p{Cc}\p{Cf}\p{M}\p{Default_Ignorable_Code_Point}\u2800]*")
_SURROGATE = regex.compile("[\ud800-\udfff]")


class Reason(StrEnum):
    """Why a text has no vector. The values are stored: they never change."""

    BLANK = "blank"
    NUL = "nul"
    LONE_SURROGATE = "lone surrogate"
    NOT_FINITE = "not finite"
    ZERO = "zero"
    WRONG_LENGTH = "wrong length"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Unembeddable:
    """A text that has no vector, and why; *detail* may be empty."""

    reason: Reason
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.reason}: {self.detail}" if self.detail else str(self.reason)


class Embedder(Protocol):
    """Turns texts into vectors of unit length."""

    @property
    def model_id(self) -> str:
        """Names weights, pooling, prefix, dimension and the text rule."""
        ...

    @property
    def dimensions(self) -> int:
        """How many numbers each vector has."""
        ...

    def embed(self, texts: Sequence[str], *, role: Role) -> list[Vector | Unembeddable]:
        """Return for each text, in order, its vector or why it has none.

        Raises StoreUnavailable if the model itself does not work.
        """
        ...


class EmbeddingModel(Protocol):
    """What an adapter gives: vectors that nobody has checked yet. It may raise anything."""

    @property
    def model_id(self) -> str:
        """As of `Embedder`."""
        ...

    @property
    def dimensions(self) -> int:
        """As of `Embedder`."""
        ...

    def vectors(self, texts: Sequence[str], *, role: Role) -> Sequence[Vector]:
        """Return one vector a text, in order; the texts are prepared."""
        ...


class CheckedEmbedder:
    """The `Embedder` that stands around every model: prepares texts, checks vectors."""

    def __init__(self, model: EmbeddingModel) -> None:
        self._model = model
        self.model_id = model.model_id
        self.dimensions = model.dimensions

    def embed(self, texts: Sequence[str], *, role: Role) -> list[Vector | Unembeddable]:
        """Return for each text, in order, its vector or why it has none."""
        prepared = [prepared_text(text) for text in texts]
        vectors = self._embedded([text for text in prepared if isinstance(text, str)], role)
        return [next(vectors) if isinstance(text, str) else text for text in prepared]

    def _embedded(self, texts: list[str], role: Role) -> Iterator[Vector | Unembeddable]:
        for start in range(0, len(texts), BATCH_TEXTS_MAX):
            yield from self._batch(texts[start : start + BATCH_TEXTS_MAX], role)

    def _batch(self, texts: list[str], role: Role) -> list[Vector | Unembeddable]:
        try:
            vectors = self._model.vectors(texts, role=role)
        except Exception as error:  # noqa: BLE001 - a model may raise anything
            return self._one_by_one(texts, role, str(error))
        if len(vectors) != len(texts):
            reason = f"{len(vectors)} vectors for {len(texts)} texts"
            return self._one_by_one(texts, role, reason)
        return [checked_vector(vector, dimensions=self.dimensions) for vector in vectors]

    def _one_by_one(self, texts: list[str], role: Role, reason: str) -> list[Vector | Unembeddable]:
        """Find the text that harms its batch; a single one is blamed if the probe passes."""
        if len(texts) > 1:
            return [self._batch([text], role)[0] for text in texts]
        self._probe(role)
        return [Unembeddable(Reason.FAILED, shown(reason))]

    def _probe(self, role: Role) -> None:
        try:
            sound = len(self._model.vectors([_PROBE], role=role)) == 1
        except Exception as error:
            raise StoreUnavailable(f"embedder {self.model_id}", shown(error)) from error
        if not sound:
            raise StoreUnavailable(f"embedder {self.model_id}", "not one vector a text")


def prepared_text(text: str) -> str | Unembeddable:
    r"""Return what of *text* is embedded: no base64, normalised, at most `EMBEDDED_BYTES_MAX`.

    Blank means: nothing that can be seen.

    >>> prepared_text("  a\n b "), prepared_text("\u3000\u200b\n").reason.value
    ('a b', 'blank')
    """
    if "\0" in text:
        return Unembeddable(Reason.NUL)
    if found := _SURROGATE.search(text):
        return Unembeddable(Reason.LONE_SURROGATE, f"at character {found.start()}")
    whole = normalised(without_base64(text))
    # A single character may be longer than the bound: then its first code points serve.
    start = cut_bytes(whole, bytes_max=EMBEDDED_BYTES_MAX) or _code_points(whole)
    return Unembeddable(Reason.BLANK) if _INVISIBLE.fullmatch(start) else start


def _code_points(text: str) -> str:
    return text.encode()[:EMBEDDED_BYTES_MAX].decode(errors="ignore")


def checked_vector(vector: Vector, *, dimensions: int) -> Vector | Unembeddable:
    """Return *vector* with unit length as float32, or why it can't be one.

    One that has unit length already comes back with the same bits.
    """
    flat = np.asarray(vector, dtype=np.float32)
    if flat.shape != (dimensions,):
        return Unembeddable(Reason.WRONG_LENGTH, f"{flat.shape} instead of ({dimensions},)")
    if not np.isfinite(flat).all():
        return Unembeddable(Reason.NOT_FINITE)
    norm = _norm(flat)
    if norm < _NORM_MIN:
        return Unembeddable(Reason.ZERO)
    return flat if abs(norm - 1) <= NORM_TOLERANCE else (flat / norm).astype(np.float32)


def is_sound(vector: Vector) -> bool:
    """Say whether *vector* may be stored: float32, flat, finite, of unit length."""
    flat = vector.dtype == np.float32 and vector.ndim == 1 and vector.size > 0
    return flat and bool(np.isfinite(vector).all()) and abs(_norm(vector) - 1) <= 2 * NORM_TOLERANCE


def _norm(vector: Vector) -> float:
    return float(np.sqrt(np.sum(vector.astype(np.float64) ** 2)))
