"""Whether the log is there, from its beginning."""

from collections.abc import Iterator
from typing import Final

from mnemolog.doctor.finding import Finding
from mnemolog.doctor.patient import Patient
from mnemolog.schemas.errors import HistoryLost

NAME: Final = "log"


def check(patient: Patient) -> Iterator[Finding]:
    """Say how long the log is; name partitions whose start is gone."""
    if patient.engine is None:
        return
    log = patient.engine.log
    ends = log.ends()
    detail = f"{log.topic}: {sum(ends.values())} records in {len(ends)} partition(s)"
    yield Finding(NAME, "ok", detail)
    lost = {p: start for p, start in log.starts().items() if start > 0}
    if lost:
        detail = f"the log's start is gone, partition -> first offset: {lost}"
        yield Finding(NAME, "bad", detail, advice=HistoryLost.hint)
