"""Control, wired: where requests stand, who obeys them, and how.

Whoever keeps a folder's projections obeys what is asked in the folder; the worker that owns a
tenant obeys its topic, too. A pause holds on the way that it was asked for until a resume comes on
that way: over restarts, and on the topic over changes of the owner.
"""

import json
import os
import socket
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Final

from mnemolog.engine import Engine, present
from mnemolog.maintaining import rebuild, verify
from mnemolog.parked import retry
from mnemolog.parked_records import Which, position_of
from mnemolog.projections.generations import write_whole
from mnemolog.replay.rebuilding import Stage
from mnemolog.schemas.errors import (
    InvalidSetting,
    MnemologError,
    NotFound,
    StoreUnavailable,
    TimedOut,
)
from mnemolog.settings import Settings
from mnemolog.streams.control import (
    FILE,
    FOLDER,
    PAUSED_FILE,
    TOPIC,
    Acknowledgement,
    Asked,
    Control,
    LogControl,
    Request,
    control_topic,
    paused_by,
)
from mnemolog.streams.controlling import ControlHost, Obeyed
from mnemolog.streams.opening import brokers_of, numbers_of
from mnemolog.streams.sqlite_log import SQLiteLog

PAUSED: Final = "nothing is applied until it is resumed; appends go on"
POLL_SECONDS: Final = 0.05
TOPIC_LOOK_SECONDS: Final = 2.0


def folder_control(folder: Path, tenant: str) -> Control:
    """Open what is asked in a tenant's *folder*, made where there is none."""
    return LogControl(SQLiteLog.open(folder / FILE, tenant=tenant, partitions=1))


def topic_control(settings: Settings, *, make: bool) -> Control:
    """Open the tenant's topic of control; with *make* it is made where there is none.

    Raises NotFound without, InvalidSetting for a log that is not on Kafka, LogUnavailable.
    """
    from mnemolog.streams.kafka_log import KafkaLog  # noqa: PLC0415 - Kafka's client is heavy
    from mnemolog.streams.kafka_topics import TopicSettings  # noqa: PLC0415

    topic, url = control_topic(settings.tenant), settings["log"]
    brokers, numbers = brokers_of(url, settings.security), {**numbers_of(url), "partitions": 1}
    if not make:
        KafkaLog.open_topic(brokers, topic, TopicSettings(**numbers), read_only=True).close()
    return LogControl(KafkaLog.open_topic(brokers, topic, TopicSettings(**numbers)))


def started(engine: Engine) -> ControlHost | None:
    """Obey from now on what is asked in the folder of *engine*; None where nobody could ask."""
    if engine.settings.is_in_memory:
        return None
    path = engine.folder / FILE
    if engine.dispatcher is not None:  # a former keeper may have been killed in a pause
        _tell_holders(engine, engine.dispatcher.held_by)

    def opened() -> Control | None:
        return folder_control(engine.folder, engine.settings.tenant) if path.exists() else None

    host = ControlHost(
        opened,
        partial(_obey, engine, FOLDER),
        hold=partial(_hold, engine, FOLDER),
        by=whoami(),
        now=present,
    )
    host.start()
    return host


@contextmanager
def controlled(engine: Engine) -> Iterator[ControlHost]:
    """Obey what is asked on the tenant's topic, within the block."""

    def opened() -> Control | None:
        with suppress(NotFound):
            return topic_control(engine.settings, make=False)
        return None

    host = ControlHost(
        opened,
        partial(_obey, engine, TOPIC),
        hold=partial(_hold, engine, TOPIC),
        by=whoami(),
        now=present,
        look_seconds=TOPIC_LOOK_SECONDS,
    )
    host.start()
    try:
        yield host
    finally:
        host.stop()
        _hold(engine, TOPIC, held=False)  # the next owner reads what holds


def whoami() -> str:
    """Return how this process names itself."""
    return f"process {os.getpid()} on {socket.gethostname()}"


def _hold(engine: Engine, way: str, held: bool) -> None:
    """Let the projections rest, or go on; say in the folder who holds them."""
    dispatcher = engine.dispatcher
    if dispatcher is None:
        return
    if (way in dispatcher.held_by) != held:
        dispatcher.hold(way, held=held)
    _tell_holders(engine, dispatcher.held_by)


def _tell_holders(engine: Engine, holders: Iterable[str]) -> None:
    """Say in the folder who holds its projections, if it doesn't say so already."""
    path, told = engine.folder / PAUSED_FILE, paused_by(engine.folder)
    now = {way: told.get(way, present().isoformat()) for way in sorted(holders)}
    if now == told:
        return
    with suppress(MnemologError, OSError):  # it holds all the same
        if now:
            write_whole(path, json.dumps(now).encode())
        else:
            path.unlink(missing_ok=True)


def _obey(engine: Engine, way: str, request: Request) -> Obeyed:
    if request.verb in {"pause", "resume"}:
        _hold(engine, way, request.verb == "pause")
        return _resumed(engine) if request.verb == "resume" else Obeyed("done", PAUSED)
    work = _WORK.get(request.verb)
    if work is None:
        return Obeyed("refused", f"this release has no {request.verb}: nothing was done")
    if work is not _retried and engine.dispatcher is not None and engine.dispatcher.held_by:
        return Obeyed("refused", "it is paused: resume it first")
    return work(engine, request)


def _resumed(engine: Engine) -> Obeyed:
    others = paused_by(engine.folder)
    if others:
        return Obeyed("done", f"it is still paused by way of {', '.join(others)}: resume it there")
    return Obeyed("done", "it goes on")


def _names(request: Request) -> list[str]:
    names = request.arguments.get("projections", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InvalidSetting("projections", names, "a list of names")
    return names


def _rebuilt(engine: Engine, request: Request) -> Obeyed:
    built = rebuild(engine, _names(request), tell=_silent)
    told = [f"{one.projection}: generation {one.generation}, {one.rows} rows" for one in built]
    return Obeyed("done", "; ".join(told), [one.generation for one in built])


def _verified(engine: Engine, request: Request) -> Obeyed:
    compared = verify(engine, _names(request), tell=_silent)
    text = "; ".join(map(str, compared))
    return Obeyed("done", text, {one.projection: one.is_equal for one in compared})


def _retried(engine: Engine, request: Request) -> Obeyed:
    asked = request.arguments
    place = asked.get("position")
    which = Which(
        _names(request),
        key=asked.get("key"),
        position=None if place is None else position_of(str(place)),
    )
    done = retry(engine, which)
    text = "; ".join(map(str, done)) or "nothing of the kind is parked"
    return Obeyed("done", text, [asdict(one) for one in done])


_WORK: Final = {"rebuild": _rebuilt, "verify": _verified, "retry": _retried}


def _silent(_: Stage) -> None:
    """Tell nobody how far it is."""


def asked_of(settings: Settings, folder: Path, *, by_folder: bool) -> Control:
    """Open the control that one asks on: the topic of a log on Kafka, else the folder's."""
    if settings["log"] and not by_folder:
        return topic_control(settings, make=True)
    return folder_control(folder, settings.tenant)


def told(asked: Asked) -> dict[str, Any]:
    """Return a request with what became of it as JSON values."""
    said = asked.end or (asked.acknowledgements[-1] if asked.acknowledgements else None)
    return {
        **asdict(asked.request),
        "outcome": "waiting" if said is None else said.outcome,
        "text": "" if said is None else said.text,
        "acknowledged_by": None if said is None else said.by,
        "acknowledged_at": None if said is None else said.at,
        "result": None if said is None else said.result,
    }


def ask_keeper(
    engine: Engine, verb: str, arguments: Mapping[str, Any], *, timeout_seconds: float
) -> Any:
    """Ask whoever keeps the folder of *engine*, wait, and return the result.

    Raises TimedOut, or StoreUnavailable with what was said where it was not done.
    """
    control = folder_control(engine.folder, engine.settings.tenant)
    with closing(control):
        request = control.request(verb, arguments, by=whoami())
        end = wait_for_end(control, request, timeout_seconds=timeout_seconds)
    if end is None:
        raise TimedOut(f"{verb}, asked as {request.id}", waited_seconds=timeout_seconds)
    if end.outcome != "done":
        raise StoreUnavailable(str(engine.folder), f"its keeper says: {end.outcome}, {end.text}")
    return end.result


def wait_for_end(
    control: Control, request: Request, *, timeout_seconds: float
) -> Acknowledgement | None:
    """Return what became of *request*, or None where nothing did in time."""
    deadline = time.monotonic() + timeout_seconds
    while True:
        for asked in control.asked():
            if asked.request.id == request.id and asked.end is not None:
                return asked.end
        if time.monotonic() >= deadline:
            return None
        time.sleep(POLL_SECONDS)
