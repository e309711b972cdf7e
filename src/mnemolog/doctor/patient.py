"""What doctor looks at: a tenant's folder, and its engine if that could be opened."""

from dataclasses import dataclass
from pathlib import Path

from mnemolog.engine import Engine
from mnemolog.schemas.errors import MnemologError
from mnemolog.settings import Settings


@dataclass(frozen=True, slots=True)
class Patient:
    """One tenant. `engine` is None where it could not be opened, and `refusal` says why."""

    settings: Settings
    folder: Path  # the tenant's
    engine: Engine | None
    refusal: MnemologError | None = None

    @classmethod
    def of(cls, engine: Engine) -> "Patient":
        """Return the tenant of an open *engine*."""
        return cls(engine.settings, engine.folder, engine)
