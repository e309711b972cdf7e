"""What a generation of analytics has set aside, for everybody else: its live file is locked.

    <generation>/set-aside.json    how many records are parked, foreign and repeats, and which
                                   events are parked, without their bytes

Derived from the ledger and written whole, after each commit that changed it and at each opening:
a crash between the two leaves a former one until the next opening. Bounded: of the parked events
it has the first that wait by their own fault, and the last of all, which are those that somebody
may wait for. How many there are is exact.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Protocol

from mnemolog.projections.generations import write_whole
from mnemolog.projections.ledger import Entries, ParkedSummary
from mnemolog.schemas.errors import Damaged
from mnemolog.schemas.positions import Position

FILE: Final = "set-aside.json"  # in the generation's folder
FIRST_MAX: Final = 100  # parked events by their own fault
LAST_MAX: Final = 400  # parked events, the last ones
REASON_CHARS_MAX: Final = 500


@dataclass(frozen=True, slots=True)
class SetAside:
    """How many records were set aside, by kind, and those parked that are told of."""

    counts: Mapping[str, int] = field(default_factory=dict)
    parked: tuple[ParkedSummary, ...] = ()


class _Ledger(Protocol):
    def counts(self) -> Mapping[str, int]: ...

    def parked_summaries(self, *, first_max: int, last_max: int) -> list[ParkedSummary]: ...


def changes(entries: Entries) -> bool:
    """Say whether *entries* change what is set aside."""
    return bool(entries.parked or entries.released or entries.foreign or entries.repeats)


def write_set_aside(generation: Path, ledger: _Ledger) -> None:
    """Tell in the folder *generation* what its *ledger* says; does nothing if it is told."""
    parked = ledger.parked_summaries(first_max=FIRST_MAX, last_max=LAST_MAX)
    told = [asdict(replace(one, reason=one.reason[:REASON_CHARS_MAX])) for one in parked]
    document = {"counts": dict(ledger.counts()), "parked": told}
    content = json.dumps(document, indent=1, default=datetime.isoformat).encode()
    path = generation / FILE
    if not path.exists() or path.read_bytes() != content:
        write_whole(path, content)


def read_set_aside(generation: Path) -> SetAside:
    """Return what is told in the folder *generation*; nothing while it is being made.

    Raises Damaged if it can't be read.
    """
    path = generation / FILE
    try:
        document = json.loads(path.read_bytes())
        parked = map(_summary, document["parked"])
        return SetAside(document["counts"], tuple(parked))
    except FileNotFoundError:
        return SetAside()
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise Damaged(str(path), str(error)) from error


def _summary(told: dict[str, Any]) -> ParkedSummary:
    moment = told.get("recorded_at")  # none in what former releases told
    return ParkedSummary(
        **{
            **told,
            "position": Position(*told["position"]),
            "recorded_at": None if moment is None else datetime.fromisoformat(moment),
        }
    )
