"""Golden queries: questions with the memory that must be found, for wrong answers look healthy.

A file has them in TOML, as `[[question]]` tables, or in JSON Lines, one object a line:

    [[question]]
    ask = "which pool was exhausted?"
    text = "pool of auth"          # stands in a memory that is found, case aside; or
    id = "mem_0f0e0d0c..."         # the id of a memory, or of the event that formed it
    agent = "ops-1"                # and user, project, session, task: whose memories
    hits = 10                      # among so many

Asking appends nothing and reinforces nothing.
"""

import json
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mnemolog.schemas.errors import InvalidSetting, MnemologError, NotFound

if TYPE_CHECKING:
    from mnemolog.asking import Asker
    from mnemolog.projections.recall.answer import RecalledMemory

FILES: Final = ("golden.toml", "golden.jsonl")  # in the tenant's folder, if none is named
RATE_MIN: Final = 0.8  # below which it is an alert
NO_FILE: Final = (
    "Name a file, or put one there: `mnemolog probe --help` says where it is looked for."
)
QUESTIONS_MAX: Final = 1_000
FILE_BYTES_MAX: Final = 4_194_304
HITS: Final = 10
HITS_MAX: Final = 50
_WHOSE: Final = ("agent", "user", "project", "session", "task")
_KNOWN: Final = frozenset({"ask", "id", "text", "hits", *_WHOSE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Golden:
    """A question, and the memory that must be among its hits: by id, or by a text it contains."""

    ask: str
    id: str | None = None
    text: str | None = None
    hits: int = HITS
    agent: str | None = None
    user: str | None = None
    project: str | None = None
    session: str | None = None
    task: str | None = None

    def is_found_in(self, memories: "Sequence[RecalledMemory]") -> bool:
        """Say whether one of *memories* is the one that must be found."""
        if self.id is not None:
            return any(self.id in {one.id, one.row.event_id} for one in memories)
        wanted = (self.text or "").casefold()
        return any(wanted in one.text.casefold() for one in memories)


@dataclass(frozen=True, slots=True)
class Asked:
    """What became of one question: found or not, what came first, or why it could not be asked."""

    golden: Golden
    is_found: bool
    first: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Probed:
    """What became of all questions."""

    asked: tuple[Asked, ...]

    @property
    def rate(self) -> float:
        """The share of questions whose memory was found."""
        return sum(one.is_found for one in self.asked) / max(1, len(self.asked))

    @property
    def is_good(self) -> bool:
        """Whether enough was found."""
        return self.rate >= RATE_MIN

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        asked = [
            {**{k: v for k, v in asdict(one.golden).items() if v is not None}, **_outcome(one)}
            for one in self.asked
        ]
        return {"rate": round(self.rate, 4), "rate_min": RATE_MIN, "questions": asked}


def _outcome(one: Asked) -> dict[str, Any]:
    return {"found": one.is_found, "first": one.first, "error": one.error}


def file_for(folder: Path, named: Path | None) -> Path | None:
    """Return the file of golden queries: the one *named*, or one that is in *folder*, or None."""
    if named is not None:
        return named
    return next((folder / name for name in FILES if (folder / name).is_file()), None)


def read_golden(path: Path) -> list[Golden]:
    """Return the questions of the file at *path*.

    Raises NotFound where there is none, InvalidSetting, with its place, for what is none.
    """
    try:
        if path.stat().st_size > FILE_BYTES_MAX:
            raise InvalidSetting("probe_file", str(path), f"at most {FILE_BYTES_MAX} bytes")
        content = path.read_bytes()
    except OSError as error:
        raise NotFound("file of golden queries", str(path), hint=NO_FILE) from error
    found = [_golden(place, told) for place, told in _told(path, content)]
    if not 1 <= len(found) <= QUESTIONS_MAX:
        limit = f"1 to {QUESTIONS_MAX} questions"
        raise _unusable(f"{len(found)} questions in {path.name}", limit)
    return found


def probe(asker: "Asker", questions: Sequence[Golden]) -> Probed:
    """Ask *questions* and say which found their memory; a failed one found none."""
    return Probed(tuple(_ask(asker, one) for one in questions))


def _ask(asker: "Asker", golden: Golden) -> Asked:
    where: dict[str, Any] = {name: getattr(golden, name) for name in _WHOSE}
    try:
        memories = asker.recall(golden.ask, hits_max=golden.hits, **where).memories
    except MnemologError as error:
        return Asked(golden, is_found=False, error=str(error))
    first = memories[0].text if memories else None
    return Asked(golden, golden.is_found_in(memories), first)


def _told(path: Path, content: bytes) -> Iterator[tuple[str, Any]]:
    """Yield what *content* has for questions, each with its place."""
    is_toml = path.suffix == ".toml"
    try:
        text = content.decode()
        if is_toml:
            told = tomllib.loads(text)
            if told.keys() - {"question"} or not isinstance(told.get("question", []), list):
                raise _unusable(path.name, "[[question]] tables and no others")
            yield from ((f"question {n}", one) for n, one in enumerate(told["question"], start=1))
            return
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError) as error:
        raise _unusable(path.name, str(error)) from error
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                yield f"line {number} of {path.name}", json.loads(line)
            except (ValueError, RecursionError) as error:
                raise _unusable(f"line {number} of {path.name}", str(error)) from error


def _golden(place: str, told: Any) -> Golden:
    if not isinstance(told, dict) or told.keys() - _KNOWN:
        raise _unusable(place, f"an object of {', '.join(sorted(_KNOWN))}")
    texts = {k: v for k, v in told.items() if k != "hits"}
    hits = told.get("hits", HITS)
    checks: list[tuple[Callable[[], bool], str]] = [
        (lambda: all(isinstance(v, str) and v for v in texts.values()), "texts that are not empty"),
        (lambda: "ask" in told, "`ask`, the question"),
        (lambda: ("id" in told) != ("text" in told), "either `id` or `text`, of what to find"),
        (
            lambda: type(hits) is int and 1 <= hits <= HITS_MAX,
            f"`hits`, a number from 1 to {HITS_MAX}",
        ),
    ]
    for holds, limit in checks:
        if not holds():
            raise _unusable(place, limit)
    return Golden(**told)


def _unusable(place: str, limit: str) -> InvalidSetting:
    return InvalidSetting("golden queries", place, limit)
