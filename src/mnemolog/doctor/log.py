"""Whether the log is there, from its beginning, and every record is what was appended."""

from collections.abc import Iterator
from typing import Final

from mnemolog.doctor.finding import Finding, Repair
from mnemolog.doctor.patient import Patient
from mnemolog.doctor.repairs import BY_FIX
from mnemolog.folder import LOG_FOLDER
from mnemolog.schemas.errors import HistoryLost, LogDamaged
from mnemolog.settings import Settings
from mnemolog.streams.opening import LOG_FILE
from mnemolog.streams.sqlite_checking import LogDamage
from mnemolog.streams.sqlite_log import SQLiteLog

NAME: Final = "log"
NEVER_DROPPED: Final = (
    "Nothing was changed and nothing is dropped. Restore log.db, with log.db-wal, from a backup; or"
    " import what can still be read into another folder (docs/operating.md tells how)."
)


def check(patient: Patient) -> Iterator[Finding]:
    """Say how long the log is; name partitions whose start is gone, and damaged records."""
    if patient.engine is None:
        return
    log = patient.engine.log
    ends = log.ends()
    told = f"{sum(ends.values())} records in {len(ends)} partition(s)"
    yield Finding(NAME, "ok", f"{log.topic}: {told}", bundled=told)
    lost = {p: start for p, start in log.starts().items() if start > 0}
    if lost:
        detail = f"the log's start is gone, partition -> first offset: {lost}"
        yield Finding(NAME, "bad", detail, advice=HistoryLost.hint)
    if isinstance(log, SQLiteLog):
        yield from _faults(log.damage(), patient)


def _faults(found: LogDamage, patient: Patient) -> Iterator[Finding]:
    if found.commits_lost:
        detail = f"{found.commits_lost} commits behind {found.readable_to} can't be read"
        yield Finding(NAME, "bad", f"{detail} in log.db-wal", advice=NEVER_DROPPED)
    if found.count:
        named = ", ".join(map(str, found.records))
        detail = f"{found.count} records are missing or not what was appended, the first: {named}"
        yield Finding(NAME, "bad", detail, advice=NEVER_DROPPED)
    elif found.is_of_the_index_alone:
        detail = f"all records are sound, but not the index of identities: {found.pages[0]}"
        repair = Repair(
            "write the log's index of identities anew from its records",
            lambda: _mend_index(patient.settings, patient),
        )
        yield Finding(NAME, "bad", detail, advice=BY_FIX, repair=repair)


def _mend_index(settings: Settings, patient: Patient) -> str:
    log = SQLiteLog.open(patient.folder / LOG_FOLDER / LOG_FILE, tenant=settings.tenant)
    try:
        if not log.damage().is_of_the_index_alone:
            raise LogDamaged(str(patient.folder / LOG_FOLDER), "its records are no longer sound")
        log.mend_index()
    finally:
        log.close()
    return "the index was written anew; no record was touched"
