"""By which texts an event is forgotten, and which texts one forgets. Pure, one place for all folds.

A text may stand whole in one event and beside the log of another, cut to a head: which of the two
depends on sizes that were set when each was appended. Both have a stand-in in common, made of the
whole text, so that to forget a text is to forget it wherever it was said.
"""

from collections.abc import Iterator, Sequence
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
    return tuple(dict.fromkeys([*said, *_stand_ins(recorded, said)]))


def forgotten_by(recorded: RecordedEvent) -> tuple[str, ...]:
    """Return the texts that *recorded* forgets; of one that it has a head of, the stand-in alone.

    Texts that share a head are not forgotten together.
    """
    event = recorded.event
    if not isinstance(event, MemoryForgotten):
        return ()
    heads = _heads(recorded)
    named = (text for at, text in enumerate(event.texts) if f"/texts/{at}" not in heads)
    return tuple(dict.fromkeys([*named, *_stand_ins(recorded, event.texts)]))


def _stand_ins(recorded: RecordedEvent, said: Sequence[str]) -> Iterator[str]:
    """Yield what stands for the whole of each long text of *said*."""
    cut: dict[str | None, list[str]] = {}  # texts that part beside the log may share a head here
    for pointer, sha256 in _heads(recorded).items():
        cut.setdefault(text_at(recorded.event, pointer), []).append(sha256)
    for text in said:
        if text in cut:
            yield from map(_STAND_IN.format, cut[text])
        elif len(text) >= FITTED_BYTES_MIN // BYTES_A_CHARACTER:
            whole = blob_of(text)
            if len(whole) >= FITTED_BYTES_MIN:
                yield _STAND_IN.format(digest_of(whole))


def _heads(recorded: RecordedEvent) -> dict[str, str]:
    dataref = recorded.envelope.dataref
    return {one.pointer: one.sha256 for one in references_in(dataref)} if dataref else {}
