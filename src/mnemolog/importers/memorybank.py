"""MemoryBank: days of talk between users and an AI companion, in Chinese or English.

Only what was said is imported: summaries, personalities and hobbies are there to measure against,
and so are the probing questions, which stand in files of their own.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta
from typing import Any, Final

from mnemolog.importers.base import (
    ITEM,
    Found,
    Options,
    Placed,
    Problem,
    Scope,
    Source,
    Telling,
    Unreadable,
)
from mnemolog.importers.documents import Document, documents
from mnemolog.schemas.errors import InvalidEvent, shown
from mnemolog.schemas.events.experience import MessageExchanged, SessionStarted
from mnemolog.schemas.ids import check_name
from mnemolog.schemas.times import instant

FORMAT: Final = "memorybank"
AGENT_DEFAULT: Final = "ai-companion"
MESSAGE_SECONDS: Final = 60  # from one message of a day to the next: the source gives days only
_DAY_SECONDS: Final = 86_400
_SIDES: Final = (("query", "user"), ("response", "assistant"))
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")
_MARKS: Final = re.compile(
    rb'"history"\s*:\s*\{\s*"\d{4}-\d\d-\d\d"\s*:\s*\[\s*(?:\{\s*"(?:query|response)"|\])'
)


class MemoryBank:
    """Imports MemoryBank's histories."""

    name = FORMAT

    def recognises(self, path: str, head: bytes) -> bool:
        """Say whether *head* shows a history whose days hold queries and responses."""
        del path
        return _MARKS.search(head) is not None

    def read(self, source: Source, options: Options) -> Iterator[Found]:
        """Yield what each user and the companion said, user after user, day after day."""
        for document in documents(source):
            if isinstance(document, Problem):
                yield document
            elif isinstance(document.value, dict):
                yield from _users(document, source, options)
            else:
                reason = f"{shown(document.value)} holds no users"
                yield source.problem(document.place, reason)


def message_id(user: str, day: str, number: int, side: str) -> str:
    """Return the id of a message's event: of a day's *number*-th pair, "query" or "response"."""
    telling = Telling(FORMAT, Scope(agent=AGENT_DEFAULT), seed=(user,))
    return telling.id_of("message", day, str(number), side)


def _users(document: Document, source: Source, options: Options) -> Iterator[Found]:
    seen: set[str] = set()
    for key, value in document.value.items():
        place = f"{document.place}, user {shown(key)}"
        try:
            name = _name(key, seen)
            days = _days(value)
        except Unreadable as error:
            yield source.problem(place, str(error))
            continue
        for day in days:
            yield from _day(name, day, days[day], options, source, f"{place}, {shown(day)}")


def _name(key: str, seen: set[str]) -> str:
    """Return a user's name; white space around it is none of it. Raises Unreadable."""
    try:
        name = check_name(key.strip(), field="user")
    except InvalidEvent as error:
        raise Unreadable(str(error)) from error
    if name in seen:
        raise Unreadable(f"user {shown(name)} stands twice")
    seen.add(name)
    return name


def _days(value: Any) -> Mapping[str, Any]:
    history = value.get("history") if isinstance(value, dict) else None
    if not isinstance(history, dict):
        raise Unreadable(f"{shown(value)} holds no history")
    return history


def _day(
    name: str, day: str, pairs: Any, options: Options, source: Source, place: str
) -> Iterator[Found]:
    """Tell a day as a session: each message is caused by the one before it."""
    try:
        begun, said = _moment(day), _list(pairs)
    except Unreadable as error:
        yield source.problem(place, str(error))
        return
    scope = Scope(
        agent=options.agent or AGENT_DEFAULT,
        user=options.user or name,
        project=options.project,
        session=f"{name}/{day}",
    )
    telling = Telling(FORMAT, scope, seed=(name,))
    started = telling.id_of("session", day)
    fields = {"title": f"{name}, {day}"}
    draft = telling.draft(SessionStarted, fields, event_id=started, occurred_at=begun)
    yield Placed(place, draft)
    yield from _pairs(telling, name, day, begun, said, source, place)


def _pairs(
    telling: Telling,
    name: str,
    day: str,
    begun: datetime,
    pairs: list[Any],
    source: Source,
    place: str,
) -> Iterator[Found]:
    previous = telling.correlation
    for number, pair in enumerate(pairs, start=1):
        for index, (side, role) in enumerate(_SIDES):
            there = f"{place}, pair {number}"
            text = pair.get(side) if isinstance(pair, dict) else pair
            if not isinstance(text, str):
                yield source.problem(there, f"{side} {shown(text)} is no text")
                continue
            seconds = MESSAGE_SECONDS * (2 * (number - 1) + index)
            event_id = message_id(name, day, number, side)
            draft = telling.draft(
                MessageExchanged,
                {"role": role, "text": text, "speaker": name if role == "user" else None},
                event_id=event_id,
                occurred_at=begun + timedelta(seconds=min(seconds, _DAY_SECONDS - 1)),
                cause=previous,
                extensions={ITEM: f"{day}/{number}"},
            )
            previous = event_id
            yield Placed(there, draft)


def _list(pairs: Any) -> list[Any]:
    if not isinstance(pairs, list):
        raise Unreadable(f"{shown(pairs)} is no list of pairs")
    return pairs


def _moment(day: str) -> datetime:
    """Return the day's first moment, naive. Raises Unreadable."""
    if not _DAY.fullmatch(day):
        raise Unreadable(f"day {shown(day)} is not as in '2023-04-27'")
    try:
        moment = datetime.combine(date.fromisoformat(day), datetime.min.time())
        instant(moment, field="day")
    except (ValueError, InvalidEvent) as error:
        raise Unreadable(f"day {shown(day)}: {error}") from error
    return moment
