"""Inspect: logs of evaluations, as JSON or as .eval archives.

An evaluation is a session, each of its samples another one with a task. docs/importing.md says what
becomes of a sample's events.
"""

from collections.abc import Iterator
from typing import Any, Final

from mnemolog.importers.base import Found, Options, Source, Unreadable
from mnemolog.importers.documents import ITEM_BYTES_MAX
from mnemolog.importers.inspect_log_archive import MAGIC, Archive, opened_archive
from mnemolog.importers.inspect_log_evaluation import Evaluation
from mnemolog.importers.inspect_log_values import parse_log
from mnemolog.importers.outlines import outlines
from mnemolog.importers.shapes import listed, mapping
from mnemolog.schemas.errors import shown

FORMAT: Final = "inspect"
_ARCHIVED: Final = (b"_journal/", b"header.json", b"samples/", b"start.json")
_MARKS: Final = frozenset({"eval", "status"})
_EVENT_MARKS: Final = (b'"working_start"', b'"span_begin"', b'"step"')
_NAME_BYTES: Final = 4_096  # at the beginning of an archive, in which its first member is named
_HEADER: Final = "header.json"
_STARTS: Final = ("_journal/start.json", "start.json")
_RESULTS: Final = "results.json"  # of the first archives, which have no header
_SAMPLES: Final = "samples/"


class InspectLog:
    """Imports evaluation logs of Inspect."""

    name = FORMAT

    def recognises(self, path: str, head: bytes) -> bool:
        """Say whether *head* shows an evaluation log, an archive of one, or bare events of one."""
        if head.startswith(MAGIC):
            return path.endswith(".eval") or any(n in head[:_NAME_BYTES] for n in _ARCHIVED)
        keys = next(outlines(head), frozenset())
        return keys >= _MARKS or (_are_events(head) and "events" in keys)

    def read(self, source: Source, options: Options) -> Iterator[Found]:
        """Yield what happened in each sample of *source*, and what came of the evaluation."""
        try:
            if source.head.startswith(MAGIC):
                yield from _archived(source, options)
            else:
                yield from _document(source, options)
        except Unreadable as error:
            yield source.problem("log", str(error))


def _are_events(head: bytes) -> bool:
    return b'"event"' in head and any(mark in head for mark in _EVENT_MARKS)


def _document(source: Source, options: Options) -> Iterator[Found]:
    content = source.stream.read(ITEM_BYTES_MAX + 1)
    if len(content) > ITEM_BYTES_MAX:
        limit = f"one JSON document of more than {ITEM_BYTES_MAX} bytes; .eval logs have no limit"
        raise Unreadable(limit)
    value = parse_log(content)
    if not isinstance(value, dict):
        raise Unreadable(f"{shown(value)} is no evaluation log")
    evaluation = Evaluation(value, source, options)
    if "samples" not in value and "eval" not in value and isinstance(value.get("events"), list):
        yield from evaluation.sample({"events": value["events"]}, "events")
        return
    yield from evaluation.begin()
    for number, sample in enumerate(listed(value.get("samples")), start=1):
        yield from evaluation.sample(sample, f"sample {number}")
    yield from evaluation.end()


def _archived(source: Source, options: Options) -> Iterator[Found]:
    with opened_archive(source) as archive:
        evaluation = Evaluation(_header(archive), source, options)
        yield from evaluation.begin()
        for name in archive.names:
            if name.startswith(_SAMPLES) and name.endswith(".json"):
                yield from _member(archive, name, evaluation)
        yield from evaluation.end()


def _header(archive: Archive) -> dict[str, Any]:
    """Return what an archive says of its evaluation; one that is still running has a start only."""
    if _HEADER in archive.names:
        return mapping(archive.value(_HEADER))
    start = next((name for name in _STARTS if name in archive.names), None)
    if start is None:
        raise Unreadable("an archive without the header of an evaluation")
    results = mapping(archive.value(_RESULTS)) if _RESULTS in archive.names else {}
    return {**mapping(archive.value(start)), **results}


def _member(archive: Archive, name: str, evaluation: Evaluation) -> Iterator[Found]:
    if name.count("/") > 1:  # a sample in pieces, of which one alone says nothing
        if name.endswith("/sample.json"):
            yield archive.problem(name, "a sample in pieces; this version of the log is not known")
        return
    try:
        sample = archive.value(name)
    except Unreadable as error:
        yield archive.problem(name, str(error))
        return
    yield from evaluation.sample(sample, shown(name))
