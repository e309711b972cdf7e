"""LoCoMo: very long conversations of two people over many dated sessions.

Only what was said is imported: the questions, observations, event and session summaries are there
to measure against, and a memory that held them would know the answers.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
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
from mnemolog.importers.outlines import outlines
from mnemolog.schemas.errors import InvalidEvent, shown
from mnemolog.schemas.events.experience import MessageExchanged, SessionStarted
from mnemolog.schemas.ids import check_id, check_name
from mnemolog.schemas.times import instant
from mnemolog.streams.publishing import Draft

FORMAT: Final = "locomo"
_HOURS: Final = 12
TURN_SECONDS: Final = 60  # from one turn of a session to the next: the source dates sessions only
_SESSION = re.compile(r"session_(\d{1,6})")
_WRITTEN = re.compile(r"(\d{1,2}):(\d\d) ([ap]m) on (\d{1,2}) ([a-z]+),? (\d{4})", re.IGNORECASE)
_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)


class LoCoMo:
    """Imports LoCoMo conversations."""

    name = FORMAT

    def recognises(self, path: str, head: bytes) -> bool:
        """Say whether *head* shows a conversation, or the questions that stand before it."""
        del path
        return any(
            "conversation" in keys or ("qa" in keys and b'"evidence"' in head)
            for keys in outlines(head)
        )

    def read(self, source: Source, options: Options) -> Iterator[Found]:
        """Yield the turns of every conversation in *source*, session after session."""
        for document in documents(source):
            if isinstance(document, Problem):
                yield document
            else:
                yield from _conversation(document, source, options)


def turn_id(sample_id: str, dia_id: str) -> str:
    """Return the id of a turn's event, by which evidence is found again."""
    return Telling(FORMAT, Scope(agent=sample_id), seed=(sample_id,)).id_of("turn", dia_id)


def _conversation(document: Document, source: Source, options: Options) -> Iterator[Found]:
    try:
        conversation, sample_id = _named(document.value)
    except Unreadable as error:
        yield source.problem(document.place, str(error))
        return
    seen: set[str] = set()  # the ids of this conversation's turns
    for session in _sessions(conversation):
        place = f"{document.place}, {session}"
        try:
            begun = moment_of(conversation.get(f"{session}_date_time"))
            turns = _list(conversation[session])
        except Unreadable as error:
            yield source.problem(place, str(error))
            continue
        scope = _scope(options, sample_id, session)
        telling = Telling(FORMAT, scope, seed=(sample_id,))
        yield Placed(place, _started(telling, session, conversation, begun))
        yield from _turns(turns, telling, seen, begun=begun, source=source, place=place)


def _named(value: Any) -> tuple[dict[str, Any], str]:
    conversation = value.get("conversation") if isinstance(value, dict) else None
    if not isinstance(conversation, dict):
        raise Unreadable(f"{shown(value)} holds no conversation")
    try:
        return conversation, check_name(value.get("sample_id"), field="sample_id")
    except InvalidEvent as error:
        raise Unreadable(str(error)) from error


def _sessions(conversation: Mapping[str, Any]) -> list[str]:
    """Return the sessions' keys in the order of their numbers; dates without one are left out."""
    found = {key: match for key in conversation if (match := _SESSION.fullmatch(key))}
    return sorted(found, key=lambda key: int(found[key][1]))


def _list(turns: Any) -> list[Any]:
    if not isinstance(turns, list):
        raise Unreadable(f"{shown(turns)} is no list of turns")
    return turns


def moment_of(written: Any) -> datetime:
    """Return a session's date, naive as it is written. Raises Unreadable.

    >>> moment_of("1:56 pm on 8 May, 2023").isoformat()
    '2023-05-08T13:56:00'
    """
    parts = _WRITTEN.fullmatch(written.strip()) if isinstance(written, str) else None
    month = parts[5].lower() if parts else ""
    if parts is None or month not in _MONTHS or not 1 <= int(parts[1]) <= _HOURS:
        raise Unreadable(f"date {shown(written)} is not as in '1:56 pm on 8 May, 2023'")
    hour = int(parts[1]) % _HOURS + (_HOURS if parts[3].lower() == "pm" else 0)
    date = f"{parts[6]}-{_MONTHS.index(month) + 1:02}-{int(parts[4]):02}"
    try:
        moment = datetime.fromisoformat(f"{date}T{hour:02}:{parts[2]}")
        instant(moment, field="date")
    except (ValueError, InvalidEvent) as error:
        raise Unreadable(f"date {shown(written)}: {error}") from error
    return moment


def _scope(options: Options, sample_id: str, session: str) -> Scope:
    """Return whose a session is: the conversation's own agent, or the one that is asked for.

    Then the session's name tells the conversations apart.
    """
    named = session if options.agent is None else f"{sample_id}/{session}"
    agent = options.agent or sample_id
    return Scope(agent=agent, user=options.user, project=options.project, session=named)


def _started(
    telling: Telling, session: str, conversation: Mapping[str, Any], begun: datetime
) -> Draft:
    speakers = [conversation.get(key) for key in ("speaker_a", "speaker_b")]
    title = " and ".join(name for name in speakers if isinstance(name, str) and name)
    return telling.draft(
        SessionStarted,
        {"title": title or None},
        event_id=telling.id_of("session", session),
        occurred_at=begun,
        extensions={ITEM: session},
    )


def _turns(
    turns: list[Any],
    telling: Telling,
    seen: set[str],
    *,
    begun: datetime,
    source: Source,
    place: str,
) -> Iterator[Found]:
    """Tell a session's turns, each caused by the one before it, the first by the session."""
    previous = telling.correlation
    for number, turn in enumerate(turns, start=1):
        there = f"{place}, turn {number}"
        try:
            dia_id, speaker, fields = _said(turn, seen)
        except Unreadable as error:
            yield source.problem(there, str(error))
            continue
        draft = telling.draft(
            MessageExchanged,
            {"role": "user", "speaker": speaker, **fields},
            event_id=telling.id_of("turn", dia_id),
            occurred_at=begun + timedelta(seconds=TURN_SECONDS * (number - 1)),
            cause=previous,
            user=speaker,
            extensions={ITEM: dia_id},
        )
        previous = draft.id
        yield Placed(there, draft)


def _said(turn: Any, seen: set[str]) -> tuple[str, str, dict[str, Any]]:
    """Return a turn's id, its speaker, and what it says. Raises Unreadable."""
    if not isinstance(turn, dict):
        raise Unreadable(f"{shown(turn)} is no turn")
    try:
        dia_id = check_id(turn.get("dia_id"), field="dia_id")
        speaker = check_name(turn.get("speaker"), field="speaker")
    except InvalidEvent as error:
        raise Unreadable(str(error)) from error
    if dia_id in seen:
        raise Unreadable(f"dia_id {shown(dia_id)} stands twice")
    seen.add(dia_id)
    text, caption = _text(turn, "text"), _text(turn, "blip_caption")
    seeing = f"[image: {caption}]" if caption else ""
    images = _images(turn)
    fields: dict[str, Any] = {"text": "\n".join(filter(None, (text, seeing)))}
    return dia_id, speaker, {**fields, "parts": images} if images else fields


def _text(turn: Mapping[str, Any], key: str) -> str:
    text = turn.get(key)
    if not isinstance(text, str | None):
        raise Unreadable(f"{key} {shown(text)} is no text")
    return text or ""


def _images(turn: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return each image as a reference, with what it was searched by and how it was described."""
    urls = turn.get("img_url")
    listed = urls if isinstance(urls, list) else [urls]
    data = {key: turn[key] for key in ("query", "blip_caption") if turn.get(key) is not None}
    return [
        {"kind": "image", "reference": url, "data": data} for url in listed if isinstance(url, str)
    ]
