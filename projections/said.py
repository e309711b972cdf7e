"""By which texts an event is forgotten, and which texts one forgets. Pure, one place for all folds.

A text may stand whole in one event and beside the log of another, cut to a head: which of the two
depends on sizes that were set when each was appended. Both have a stand-in in common, made of the
whole text, so that to forget a text is to forget it wherever it was said.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from mnemolog.projections.checkpoints.words import texts
from mnemolog.schemas.blobs import blob_of, digest_of, references_in, text_at
from mnemolog.schemas.cutting import BYTES_A_CHARACTER, FITTED_BYTES_MIN
from mnemolog.schemas.envelope import RecordedEvent
from mnemolog.schemas.events.memory import MemoryForgotten

_STAND_IN: Final = "mnemolog:text:{}"


def said_by(recorded: RecordedEvent) -> tuple[str, ...]:
    """Return the texts by any of which *recorded* is forgotten, the long ones' stand-ins too."""
    said = texts(recorded.event)
    if isinstance(recorded.event, MemoryForgotten):
        return said  # what it lets go, it does not say
    return _with_stand_ins(said, _beside(recorded).values())


def forgotten_by(recorded: RecordedEvent) -> tuple[str, ...]:
    """Return the texts that *recorded* forgets; of one that it has a head of, the stand-in alone.

    Texts that share a head are not forgotten together.
    """
    if not isinstance(recorded.event, MemoryForgotten):
        return ()
    beside = _beside(recorded)
    named = [text for at, text in enumerate(recorded.event.texts) if f"/texts/{at}" not in beside]
    forgotten = [name for pointer, name in beside.items() if pointer.startswith("/texts/")]
    return _with_stand_ins(named, forgotten)


def _beside(recorded: RecordedEvent) -> dict[str, str]:
    """Return the stand-ins of the texts of *recorded* that stand beside the log, by pointer."""
    references = references_in(recorded.envelope.dataref)
    return {
        one.pointer: _STAND_IN.format(one.sha256)
        for one in references
        if (text_at(recorded.event, one.pointer) or "").strip()  # nothing is left of a blank one
    }


def _with_stand_ins(said: Iterable[str], beside: Iterable[str]) -> tuple[str, ...]:
    said = tuple(said)
    return tuple(dict.fromkeys([*said, *beside, *_stand_ins(said)]))


def _stand_ins(said: Iterable[str]) -> Iterator[str]:
    """Yield what stands for each of *said* that is so long that it may be cut elsewhere."""
    for text in said:
        if len(text) >= FITTED_BYTES_MIN // BYTES_A_CHARACTER:
            whole = blob_of(text)
            if len(whole) >= FITTED_BYTES_MIN:
                yield _STAND_IN.format(digest_of(whole))
