"""mini-swe-agent: a run as its messages, with the commands in their texts.

A file is one message after another (then it is one run), or one run after another: a list of
messages, or an object with `messages` and `info`.
"""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, Final

from mnemolog.importers.base import Found, Options, Problem, Seconds, Source
from mnemolog.importers.documents import Document, documents
from mnemolog.importers.mini_swe_agent_run import FORMAT, MiniRun, Setting
from mnemolog.importers.outlines import outlines
from mnemolog.importers.shapes import mapping
from mnemolog.schemas.errors import InvalidEvent, shown
from mnemolog.schemas.ids import check_name

# What the agent is told to say at the end, and how it marks a command: no other chat has these.
_MARKS: Final = (
    *(b"COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", b"MINI_SWE_AGENT_FINAL_OUTPUT"),
    b"```mswea_bash_command",
)


class MiniSWEAgent:
    """Imports mini-swe-agent trajectories."""

    name = FORMAT

    def recognises(self, path: str, head: bytes) -> bool:
        """Say whether *head* shows such a run, by its own marks: else it is any chat."""
        del path
        is_marked = any(mark in head for mark in _MARKS)
        return any(
            "trajectory_format" in keys
            or ("messages" in keys and "info" in keys and b'"mini_version"' in head)
            or (is_marked and ("role" in keys or "messages" in keys))
            for keys in outlines(head)
        )

    def read(self, source: Source, options: Options) -> Iterator[Found]:
        """Yield the events of each run in *source*, and a Problem for what is none."""
        seconds = Seconds(options.start)
        values = documents(source)
        for value in values:
            if isinstance(value, Problem):
                yield value
            elif isinstance(value.value, dict) and "role" in value.value:
                yield from _all_of(chain([value], values), source, options, seconds)
            else:
                yield from _run(value, source, options, seconds)


def _all_of(
    values: Iterator[Document | Problem], source: Source, options: Options, seconds: Seconds
) -> Iterator[Found]:
    """Tell a file that is one run, a message at a time."""
    run = MiniRun(_setting({}, options), source, seconds)
    for value in values:
        if isinstance(value, Problem):
            yield value
        else:
            yield from run.hear(value.place, value.value)
    yield from run.end("end", {})


def _run(document: Document, source: Source, options: Options, seconds: Seconds) -> Iterator[Found]:
    """Tell a value that is a whole run."""
    place, value = document.place, document.value
    run = {"messages": value} if isinstance(value, list) else value
    messages = run.get("messages") if isinstance(run, dict) else None
    if not isinstance(messages, list) or not messages:
        yield source.problem(place, f"{shown(value)} is no run: it has no messages")
        return
    try:
        setting = _setting(run, options)
    except InvalidEvent as error:
        yield source.problem(place, str(error))
        return
    told = MiniRun(setting, source, seconds)
    for number, message in enumerate(messages, start=1):
        yield from told.hear(f"{place}, message {number}", message)
    yield from told.end(place, mapping(run.get("info")))


def _setting(run: Mapping[str, Any], options: Options) -> Setting:
    """Return what is known of a run beside its messages. Raises InvalidEvent for a bad name."""
    task = run.get("instance_id")
    config = mapping(mapping(run.get("info")).get("config"))
    model = mapping(config.get("model")).get("model_name")
    return Setting(
        options=options,
        task=None if task is None else check_name(task, field="instance_id"),
        model=model if isinstance(model, str) else None,
    )
