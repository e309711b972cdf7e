"""A saved checkpoint whole. Its file is a cache: where it is damaged, the log has the same.

Who keeps the projections writes the file anew from the log; everybody else leaves it as it is.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import structlog

from mnemolog.projections.checkpoints.file_format import Kept, SnapshotFiles, snapshot
from mnemolog.projections.checkpoints.stored import SavedCheckpoint, StoredCheckpoint
from mnemolog.schemas.blobs import no_blob, with_blobs
from mnemolog.schemas.errors import BlobDamaged, Damaged, NotFound, StoreUnavailable
from mnemolog.schemas.events.experience import CheckpointSaved
from mnemolog.schemas.positions import Position

_log = structlog.get_logger("mnemolog.checkpoints")

Logged = Callable[[Position], Kept | None]


def nothing_logged(_position: Position) -> Kept | None:
    """Return None: who has no log has only the files."""


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Sources:
    """Where a checkpoint's parts come from.

    *logged* gives what the log has of the checkpoint that was saved at a position, *blob* a text
    that stands beside the log, and *mends* says whether damaged files are to be written anew.
    """

    blob: Callable[[str], bytes] = no_blob
    logged: Logged = nothing_logged
    mends: Callable[[], bool] = _never


ALONE: Final = Sources()  # a reader of the files and nothing else


def load(
    saved: SavedCheckpoint,
    *,
    files: SnapshotFiles,
    sources: Sources,
    is_known: Callable[[str], bool],
) -> StoredCheckpoint:
    """Return *saved* whole. *is_known* says whether a file still belongs to a checkpoint.

    Raises Damaged where neither file nor log has it, BlobDamaged where a text of it is damaged
    or missing, and NotFound if it is forgotten.
    """
    try:
        kept = _kept(saved, files=files, sources=sources, is_known=is_known)
        whole = with_blobs(
            CheckpointSaved(checkpoint=kept.checkpoint),
            kept.dataref,
            blob=sources.blob,
            place=f"checkpoint {saved.id}",
        )
    except Damaged as error:
        if not is_known(saved.file):
            raise NotFound("checkpoint", saved.id) from error
        if isinstance(error, BlobDamaged):
            raise
        raise Damaged(f"checkpoint {saved.id}", f"file {error.what}: {error.reason}") from error
    return StoredCheckpoint(saved, whole.checkpoint, kept.checkpoint)


def _kept(
    saved: SavedCheckpoint,
    *,
    files: SnapshotFiles,
    sources: Sources,
    is_known: Callable[[str], bool],
) -> Kept:
    try:
        return files.read(saved.file)
    except Damaged as error:
        kept = sources.logged(saved.event.position) if is_known(saved.file) else None
        if kept is None:
            raise
        _log.warning("a checkpoint is read from the log", checkpoint=saved.id, error=str(error))
    again = snapshot(kept.checkpoint, dataref=kept.dataref)
    if sources.mends() and again.name == saved.file:
        with suppress(StoreUnavailable), files.unchanged():  # it was read, whatever the disk says
            if is_known(saved.file):  # what was forgotten since must not come back
                files.write(again)
    return kept
