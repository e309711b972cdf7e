"""One tenant in one process: its log, its projections if the lease is free, and how to wait.

Appending needs the log alone. Whoever holds the lease runs the dispatcher; the others read what
is on disk, and take the lease when they wait and find it free.
"""

import tempfile
import threading
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import structlog

from mnemolog.error_log import ErrorLog
from mnemolog.folder import LOG_FOLDER, check_format, check_log_is_there, note_format
from mnemolog.processors import started as started_processors
from mnemolog.projections.generations import described
from mnemolog.projections.kinds import MEMORIES, Kind, kinds
from mnemolog.projections.lease import Lease
from mnemolog.projections.room import Room
from mnemolog.projections.shelf import Shelf
from mnemolog.renewing import Renewal, started
from mnemolog.schemas.codec import Codec
from mnemolog.schemas.errors import (
    Damaged,
    InvalidSetting,
    LeaseHeld,
    LogReplaced,
    LogUnavailable,
    NeedsRebuild,
    NewerRelease,
    StoreUnavailable,
)
from mnemolog.settings import EMBEDDER_DEFAULT, Settings
from mnemolog.streams.blobs import BlobStore, InMemoryBlobs
from mnemolog.streams.control import FOLDER, paused_by
from mnemolog.streams.dispatching import Dispatcher
from mnemolog.streams.file_blobs import FileBlobs
from mnemolog.streams.log import Log
from mnemolog.streams.memory_log import InMemoryLog
from mnemolog.streams.opening import open_log
from mnemolog.streams.projecting import Projector
from mnemolog.streams.publishing import Publisher

if TYPE_CHECKING:
    from mnemolog.projections.memories.embedding import Embedder
    from mnemolog.streams.controlling import ControlHost
    from mnemolog.streams.hosting import ProcessorHost

LEASE_FILE: Final = "projector.lock"
BLOBS_FOLDER: Final = "blobs"

_log = structlog.get_logger("mnemolog.engine")


def present() -> datetime:
    """Return the time of this machine, in UTC."""
    return datetime.now(UTC)


class Engine:
    """What a `Memory` runs on. Any thread may use it."""

    def __init__(
        self,
        settings: Settings,
        *,
        read_only: bool = False,
        projects: bool = True,
        rebuilding: Iterable[str] = (),
    ) -> None:
        """Open the log, and take the lease if it is free.

        *rebuilding* names projections that are about to be rebuilt: one of them that can't be
        opened as it is, or isn't there, is left out.
        """
        self.settings = settings
        self.rebuilding = set(rebuilding)
        self._scratch = tempfile.TemporaryDirectory() if settings.is_in_memory else None
        data = Path(self._scratch.name if self._scratch else settings["data"]).expanduser()
        self.folder = settings.tenant_folder(data.absolute())
        self.read_only = read_only
        self._projects = projects and not read_only
        self.errors = ErrorLog(self.folder, now=present)
        self.room = Room(settings.disk_warn_share, settings.disk_refuse_share)
        check_format(self.folder)
        self.log = self._opened_log()
        self.codec = self._codec()
        self.blobs = self._blob_store()
        self.publisher = self._publisher()
        self.shelf = Shelf(
            self.folder, settings.tenant, self.log.topic, self.log.partitions, self.room
        )
        self._taking = threading.Lock()
        self._closed = False
        self.lease: Lease | None = None
        self.dispatcher: Dispatcher | None = None
        self.host: ProcessorHost | None = None
        self.control: ControlHost | None = None
        self._kept: object = None  # what a thread that did not stop still uses
        self.maintaining = threading.Lock()  # one rebuild or verify at a time
        self._take_over_or_close()

    @property
    def is_owner(self) -> bool:
        """Whether this process keeps the projections."""
        return self.dispatcher is not None

    def take_over(self) -> bool:
        """Keep the projections from now on if nobody does; say whether this process does.

        Does nothing for a handle that only reads or only appends.
        """
        if not self._projects:
            self.check_open()
            return False
        with self._taking:
            self.check_open()
            if self.dispatcher is None:
                self._take_free_lease()
        return self.is_owner

    def embedder(self) -> "Embedder":
        """Return the embedder of the serving generation, or the one that settings ask for."""
        from mnemolog.projections.memories.embedders import (  # noqa: PLC0415 - models are heavy
            embedder_named,
            embedder_of_model,
        )

        wanted = self.settings["embedder"]
        serving = self.shelf.generations(MEMORIES).serving()
        if wanted == EMBEDDER_DEFAULT and serving is not None:
            with suppress(Damaged):  # a generation that can't say is set aside when it is opened
                return embedder_of_model(described(serving).options["embedder"])
        return embedder_named(wanted)

    def kinds(self) -> dict[str, Kind]:
        """Return the projections as they are to be opened here."""
        return kinds(embedder=self.embedder(), tenant_folder=self.folder)

    def close(self) -> None:
        """Stop projecting and let go of everything. Harmless twice."""
        if self.control is not None:  # first: what it does may need the lock
            self.control.stop()
        with self._taking:
            self._closed = True
            with ExitStack() as last:  # from the last line up, whatever one of them raises
                if self._scratch is not None:
                    last.callback(self._scratch.cleanup)
                last.callback(self.log.close)
                self._close_projections(last)

    def check_open(self) -> None:
        """Raise LogUnavailable, as an append does, once this was closed."""
        if self._closed:
            raise LogUnavailable(self.log.topic, "this handle was closed")

    def _take_over_or_close(self) -> None:
        try:
            with suppress(NeedsRebuild, NewerRelease):  # appending goes on; whoever waits hears it
                self._take_over_unless_a_store_is_away()
        except BaseException as error:
            if not self.read_only:
                self.errors.note(error, where="opening")
            self.close()
            raise

    def _take_over_unless_a_store_is_away(self) -> None:
        """Keep the projections, if their stores can be opened; appending needs none of them.

        Whoever waits tries again, and hears what is in the way.
        """
        try:
            self.take_over()
        except LogUnavailable:
            raise
        except StoreUnavailable as error:
            _log.warning("not projecting", error=str(error), hint=error.hint)
            self.errors.note(error, where="opening")

    def _opened_log(self) -> Log:
        if self.settings.is_in_memory and not self.settings["log"]:
            return InMemoryLog(self.settings.tenant, partitions=self.settings.partitions or 1)
        if not self.settings["log"] and not self.read_only and not self.rebuilding:
            check_log_is_there(self.folder, self.settings.tenant)
        return open_log(
            self.settings["log"] or None,
            folder=self.folder / LOG_FOLDER,
            tenant=self.settings.tenant,
            partitions=self.settings.partitions,
            read_only=self.read_only,
            security=self.settings.security,
        )

    def _blob_store(self) -> BlobStore:
        """Return where the blobs are: beside the log, or in a folder that machines share.

        Also where no new ones are put: what was put once is read.
        """
        shared = self.settings["blobs_folder"]
        if shared:
            folder = Path(shared).expanduser().absolute()
            return FileBlobs(self.settings.tenant_folder(folder))
        return (
            InMemoryBlobs() if self.settings.is_in_memory else FileBlobs(self.folder / BLOBS_FOLDER)
        )

    def _codec(self) -> Codec:
        return Codec(
            tenant=self.settings.tenant,
            partitions=self.log.partitions,
            event_bytes_max=self.settings.event_bytes_max,
        )

    def _publisher(self) -> Publisher:
        return Publisher(
            self.log,
            self.codec,
            tenant=self.settings.tenant,
            now=present,
            blobs=self.blobs if self.settings.has_blobs else None,
            sizes=self.settings.sizes,
        )

    def _take_free_lease(self) -> None:
        try:
            lease = Lease.take(self.folder / LEASE_FILE)
        except LeaseHeld:
            return
        try:
            self.dispatcher = self._started(lease)
        except BaseException:
            lease.release()
            raise
        self.lease = lease
        if not self.settings["log"]:  # on Kafka only the worker that owns the tenant runs them
            self.host = started_processors(self)
        from mnemolog.controls import started as started_control  # noqa: PLC0415 - it needs this

        self.control = started_control(self)

    def _started(self, lease: Lease) -> Dispatcher:
        every = self.kinds()
        opening = [kind for kind in every.values() if self._is_to_open(kind)]  # or none of them
        note_format(self.folder)
        projector = Projector(self.log, self.codec, [])
        epoch, after_a_death = lease.epoch, lease.is_after_a_death
        opened = partial(self.shelf.open_serving, epoch=epoch, thorough=after_a_death)
        renewal = Renewal(self.shelf, self.kinds, epoch=epoch)
        try:
            for kind in opening:
                projector.projections.append(opened(kind))
            started(projector, renewal)
        except BaseException:
            for projection in projector.projections:
                projection.close()
            raise
        tell = partial(self.errors.note, where="projecting")
        dispatcher = Dispatcher(self.log, projector, renewed=renewal, tell=tell)
        dispatcher.hold(FOLDER, held=FOLDER in paused_by(self.folder))
        dispatcher.start()
        return dispatcher

    def _is_to_open(self, kind: Kind) -> bool:
        """Say whether what serves is opened; raise if it is not this process's to write."""
        try:
            self.shelf.check(kind)
        except NewerRelease:
            raise
        except (InvalidSetting, LogReplaced):
            if kind.name not in self.rebuilding:
                raise
            return False  # of another fold, embedder or log: the rebuild replaces it
        is_there = self.shelf.generations(kind.name).serving() is not None
        return is_there or kind.name not in self.rebuilding

    def _close_projections(self, last: ExitStack) -> None:
        """Stop processors and dispatcher; let go of projections and lease once that has ended.

        A thread that hangs in a store keeps them: nobody else may write while it could.
        """
        dispatcher, self.dispatcher = self.dispatcher, None
        lease, self.lease = self.lease, None
        host, self.host = self.host, None
        if host is not None:
            host.ask_to_stop()
        if dispatcher is not None and not dispatcher.stop():
            self._kept = (dispatcher, lease)
            dispatcher = lease = None
        if lease is not None:
            last.callback(lease.release)
        for projection in [] if dispatcher is None else dispatcher.projections:
            last.callback(projection.close)
        if host is not None:
            last.callback(host.stop)
