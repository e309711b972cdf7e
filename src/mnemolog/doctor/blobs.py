"""Whether what events name beside the log is there and sound, and what is there that none names."""

from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Final

from mnemolog.blob_accounts import BlobAccounts, accounts
from mnemolog.doctor.finding import Finding, Repair
from mnemolog.doctor.patient import Patient
from mnemolog.engine import Engine
from mnemolog.schemas.errors import BlobDamaged, BlobMissing

NAME: Final = "blobs"
SHOWN_MAX: Final = 5
NOT_ALL_READ: Final = (
    "They stay: the log's start is gone, or another log stands in this folder, and may name them."
)
REMOVED_BY_FIX: Final = "A crash before an append leaves one. `mnemolog doctor --fix` removes them."


def check(patient: Patient) -> Iterator[Finding]:
    """Name what is missing and damaged; say how much no event names."""
    if patient.engine is None:
        return
    with accounts(patient.engine) as found:
        yield from _faults(found)
        yield from _orphans(found, patient.engine)
        count, size = found.stored()
        yield Finding(NAME, "ok", f"{count} texts beside the log, {_mebibytes(size)}")


def _faults(found: BlobAccounts) -> Iterator[Finding]:
    for named in islice(found.missing(), SHOWN_MAX):
        bundled = f"missing: {named.reference.sha256} at {named.position}"
        yield Finding(NAME, "bad", f"missing: {named}", advice=BlobMissing.hint, bundled=bundled)
    for named, reason in islice(found.damaged(), SHOWN_MAX):
        bundled = f"damaged: {named.reference.sha256} at {named.position}"
        detail = f"damaged: {named}: {reason}"
        yield Finding(NAME, "bad", detail, advice=BlobDamaged.hint, bundled=bundled)


def _orphans(found: BlobAccounts, engine: Engine) -> Iterator[Finding]:
    count, size = found.orphans()
    left = found.leftovers()
    if not count and not left:
        return
    detail = f"{count} that no event names, {_mebibytes(size)}; {left} pieces that crashes left"
    if not found.knows_all:
        yield Finding(NAME, "look", detail, advice=NOT_ALL_READ)
        return
    repair = Repair("remove what no event of the log names", partial(_remove, engine))
    yield Finding(NAME, "look", detail, advice=REMOVED_BY_FIX, repair=repair)


def _remove(engine: Engine) -> str:
    """Look again, and take away what is nobody's by now."""
    with accounts(engine) as found:
        count, size = found.remove()
    return f"{count} removed, {_mebibytes(size)}"


def _mebibytes(size: int) -> str:
    return f"{size / 2**20:.1f} MiB"
