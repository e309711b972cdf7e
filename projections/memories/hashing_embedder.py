"""An embedder without a model, for tests: texts that share words are near, others are not.

It knows no meaning. All weights are positive, so that no two words can cancel out to zero.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from mnemolog.projections.memories.embedding import TEXT_RULE, Role, Vector
from mnemolog.projections.memories.lexical import index_tokens

HASHING: Final = f"hashing/1/words-bigrams-trigrams/sum/none/512/{TEXT_RULE}"
_DIMENSIONS: Final = 512
_TRIGRAM_WEIGHT: Final = 0.3
_TRIGRAMS_OF_WORD_MAX: Final = 30


class HashingModel:
    """Adds up hashed words, trigrams of longer words, and characters and pairs of Chinese."""

    model_id: Final = HASHING
    dimensions: Final = _DIMENSIONS

    def vectors(self, texts: Sequence[str], *, role: Role) -> Sequence[Vector]:  # noqa: ARG002 - the port's
        """Return one vector a text, the same for both roles."""
        return [_vector(text) for text in texts]


def _vector(text: str) -> Vector:
    counts = Counter(index_tokens(text)) or Counter([text])  # a lone emoji has no words
    vector = np.zeros(_DIMENSIONS, dtype=np.float32)
    for token, count in counts.items():
        for feature, weight in _features(token):
            vector[_slot(feature)] += weight * np.sqrt(count)
    return vector


def _features(token: str) -> Iterator[tuple[str, float]]:
    yield f"word {token}", 1.0
    for start in range(min(len(token) - 2, _TRIGRAMS_OF_WORD_MAX)):
        yield f"trigram {token[start : start + 3]}", _TRIGRAM_WEIGHT


def _slot(feature: str) -> int:
    digest = hashlib.blake2b(feature.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest) % _DIMENSIONS
