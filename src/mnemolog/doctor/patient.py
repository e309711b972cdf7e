"""What doctor looks at: a tenant's folder, and its engine if that could be opened."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mnemolog.engine import LEASE_FILE, Engine
from mnemolog.folder import check_log_is_there
from mnemolog.projections.generations import Generations
from mnemolog.projections.lease import kept_free, look
from mnemolog.schemas.errors import InvalidEvent, InvalidSetting, MnemologError, NotFound
from mnemolog.schemas.ids import check_tenant
from mnemolog.settings import Settings

NO_TENANT: Final = "%"  # no tenant's folder is called so: names are encoded


@dataclass(frozen=True, slots=True)
class Patient:
    """One tenant. `engine` is None where there is no log, or where `refusal` says why not."""

    settings: Settings
    folder: Path  # the tenant's
    engine: Engine | None
    refusal: MnemologError | None = None

    @classmethod
    def of(cls, engine: Engine) -> "Patient":
        """Return the tenant of an open *engine*."""
        return cls(engine.settings, engine.folder, engine)

    @property
    def is_kept(self) -> bool:
        """Whether a process writes the projections at this moment, this one or another."""
        is_ours = self.engine is not None and self.engine.is_owner
        return is_ours or look(self.folder / LEASE_FILE).is_held

    def kept_free(self) -> AbstractContextManager[None]:
        """Let nobody write the projections within the block; LeaseHeld if somebody does."""
        return kept_free(self.folder / LEASE_FILE)

    def serving(self, name: str) -> Path | None:
        """Return the folder of the serving generation of the projection *name*, if one serves."""
        return Generations(self.folder / name).serving()


@contextmanager
def admitted(settings: Settings) -> Iterator[Patient]:
    """Give the tenant that *settings* name, opened for reading, or what stands in the way."""
    try:
        settings.check()
    except InvalidSetting as error:
        yield Patient(settings, _folder_as_far_as_named(settings), None, error)
        return
    folder = settings.tenant_folder(Path(settings["data"]).expanduser().absolute())
    try:
        engine = Engine(settings, read_only=True)
    except NotFound:
        yield Patient(settings, folder, None, _lost_log(settings, folder))
        return
    except MnemologError as error:
        yield Patient(settings, folder, None, error)
        return
    try:
        yield Patient.of(engine)
    finally:
        engine.close()


def _folder_as_far_as_named(settings: Settings) -> Path:
    """Return the folder of the tenant that wrong *settings* name, or one that is not there.

    Never that of all tenants: what belongs to others, or to nobody here, is not looked at, and
    by no means mended.
    """
    data = Path(settings["data"].replace("\0", ""))
    try:
        check_tenant(settings.tenant, field="tenant")
        return settings.tenant_folder(data.expanduser().absolute())
    except (InvalidEvent, RuntimeError, OSError):  # no home, no working directory
        return data / NO_TENANT


def _lost_log(settings: Settings, folder: Path) -> MnemologError | None:
    """Return what is wrong where there is no log: nothing, unless there has been one."""
    try:
        if not settings["log"]:
            check_log_is_there(folder, settings.tenant)
    except MnemologError as error:
        return error
    return None
