"""Whether what analysts open can be read."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from mnemolog.doctor.finding import Finding, Repair
from mnemolog.doctor.patient import Patient
from mnemolog.doctor.repairs import BY_FIX, FIRST_THE_LOG
from mnemolog.engine import Engine
from mnemolog.ledgers import applied
from mnemolog.projections.generations import speaking_of_files
from mnemolog.projections.kinds import ANALYTICS
from mnemolog.schemas.positions import Token
from mnemolog.settings import Settings
from mnemolog.waiting import WAIT_SECONDS, wait_for

NAME: Final = "published"
SHOWN_MAX: Final = 3


def check(patient: Patient) -> Iterator[Finding]:
    """Name the published files that can't be read."""
    from mnemolog.projections.analytics.published_files import (  # noqa: PLC0415 - DuckDB is heavy
        damaged_files,
    )
    from mnemolog.projections.analytics.publishing import published_file  # noqa: PLC0415

    found = list(damaged_files(patient.folder))
    if not found:
        yield Finding(NAME, "ok", "what is published can be read")
        return
    told = published_file(patient.folder)  # which tells what is published
    run = partial(_publish, patient.settings, {told, *(path for path, _ in found)})
    repair = None if patient.engine is None else Repair("publish the tables anew", run)
    advice = FIRST_THE_LOG if repair is None else BY_FIX
    for path, reason in found[:SHOWN_MAX]:
        detail = f"{path.name}: {reason}"
        bundled = f"{path.name} can't be read"
        yield Finding(NAME, "bad", detail, advice=advice, repair=repair, bundled=bundled)


def _publish(settings: Settings, damaged: set[Path]) -> str:
    """Take the damaged files away and have whoever keeps the projections publish all anew."""
    engine = Engine(settings)
    try:
        for path in damaged:
            with speaking_of_files(path):
                if path.is_file():
                    path.unlink(missing_ok=True)
        ends = engine.log.ends()
        token = Token({partition: end - 1 for partition, end in ends.items() if end})
        wait_for(engine, token, timeout_seconds=WAIT_SECONDS, projections=[ANALYTICS])
        return f"published up to {Token(dict(applied(engine, ANALYTICS)))}"
    finally:
        engine.close()
