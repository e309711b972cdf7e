"""The processors that mnemolog comes with, and who hosts them.

A processor needs an owner. On the embedded log that is the process that keeps the projections, on
Kafka the worker that owns the tenant. The setting `processors` switches them off.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING

import structlog

from mnemolog.schemas.errors import MnemologError
from mnemolog.streams.hosting import ProcessorHost
from mnemolog.streams.processing import Processor
from mnemolog.streams.processor_harness import ProcessorRunner
from mnemolog.streams.processors.checkpoints import CHECKPOINTS, CheckpointProcessor

if TYPE_CHECKING:
    from mnemolog.engine import Engine

_log = structlog.get_logger("mnemolog.processors")

# Name -> what makes it.
PROCESSORS: dict[str, Callable[[], Processor]] = {CHECKPOINTS: CheckpointProcessor}


def started(engine: "Engine") -> ProcessorHost | None:
    """Return a host at work on the tenant of *engine*, or None where settings want none.

    What keeps it from starting is told and noted: projections and appends go on without it.
    """
    if not engine.settings.runs_processors:
        return None
    tell = partial(engine.errors.note, where="processing")
    try:
        host = ProcessorHost(engine.log, _runners(engine), tell=tell)
    except MnemologError as error:
        _log.error("processors can't start", error=str(error), hint=error.hint)
        tell(error)
        return None
    host.start()
    return host


def _runners(engine: "Engine") -> list[ProcessorRunner]:
    with ExitStack() as opened:
        runners = []
        for made in PROCESSORS.values():
            runner = ProcessorRunner(
                made(), engine.log, engine.codec, engine.publisher, tenant_folder=engine.folder
            )
            opened.callback(runner.close)
            runners.append(runner)
        opened.pop_all()
    return runners


@contextmanager
def hosted(engine: "Engine") -> Iterator[ProcessorHost | None]:
    """Run the processors of a tenant that a worker owns, within the block."""
    host = started(engine)
    try:
        yield host
    finally:
        if host is not None:
            host.stop()
