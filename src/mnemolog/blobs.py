"""Events whole: with their texts from beside the log where only their heads are in it."""

import json
from contextlib import suppress
from dataclasses import replace
from itertools import islice

from mnemolog.schemas.blobs import references_in, text_at, with_blobs, with_texts
from mnemolog.schemas.envelope import RecordedEvent
from mnemolog.schemas.envelope_codec import repairs_text
from mnemolog.schemas.values import REPAIRS_MAX, REPLACEMENT, UNSAFE, Repairs
from mnemolog.streams.blobs import BlobStore


def whole(recorded: RecordedEvent, blobs: BlobStore) -> RecordedEvent:
    """Return *recorded* with each text that stands beside the log in the place of its head.

    What no event can hold is replaced and told in `repaired`, as in any event. Raises BlobMissing
    or BlobDamaged, which name the blob, the event and the text; StoreUnavailable.
    """
    dataref = recorded.envelope.dataref
    references = references_in(dataref)
    if not references:
        return recorded
    place = f"event {recorded.id} at {recorded.position}"
    event = with_blobs(recorded.event, dataref, blob=blobs.get, place=place)
    clean: dict[str, str] = {}
    repairs: Repairs = {}
    for one in references:
        text = text_at(event, one.pointer) or ""
        if UNSAFE.search(text):
            clean[one.pointer] = UNSAFE.sub(REPLACEMENT, text)
            found = islice(UNSAFE.finditer(text), REPAIRS_MAX)
            repairs[one.pointer] = {str(m.start()): f"{ord(m[0]):x}" for m in found}
    if not clean:
        return replace(recorded, event=event)
    return replace(
        recorded,
        event=with_texts(event, clean),
        envelope=replace(recorded.envelope, repaired=_joined(recorded.envelope.repaired, repairs)),
    )


def _joined(repaired: str | None, repairs: Repairs) -> str | None:
    """Return what was *repaired* before, if it can be read, and *repairs*."""
    told = {}
    with suppress(ValueError):
        told = json.loads(repaired or "{}")
    return repairs_text({**told, **repairs} if isinstance(told, dict) else repairs)
