"""Call logs of the OpenHands SDK: each repeats its conversation so far; a message comes in once.

A message is identified by what was said up to it, a call and its answer by their ids where these
are unique: so that logs of one conversation give the same events in any order, with any of them
missing. What only a log knows (tokens, cost, the window) are events of its own.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any, Final

from mnemolog.importers.base import (
    HEAD_BYTES,
    Found,
    Options,
    Problem,
    Seconds,
    Source,
    Unreadable,
)
from mnemolog.importers.chat_conversation import Conversation, Run
from mnemolog.importers.chat_messages import Call, Message, essence_of, message_of
from mnemolog.importers.documents import Document, documents
from mnemolog.importers.moments import moment_of_seconds
from mnemolog.importers.openhands_state import AGENT_DEFAULT, FORMAT, is_state, state
from mnemolog.importers.outlines import outlines
from mnemolog.importers.shapes import id_or_none
from mnemolog.importers.teller import Teller
from mnemolog.importers.usage import amount_of, count_of, model_use, tokens_of
from mnemolog.importers.words import decision_of
from mnemolog.schemas.errors import InvalidEvent, shown
from mnemolog.schemas.events import experience as happened
from mnemolog.schemas.fields import is_blank
from mnemolog.schemas.ids import check_name

UNIQUE_CHARACTERS_MIN: Final = 16  # a shorter call id ("toolu_02") may restart in every run
LATENCY_SECONDS_MAX: Final = 86_400
_OWN: Final = frozenset({"context_window", "latency_sec"})  # no other format has these
_KEYS: Final = frozenset({"kwargs", "response", "cost", "timestamp", "raw_messages", "error"})
# How the SDK calls a log: the model, the time in seconds, perhaps four digits more.
_FILE = re.compile(r"-\d{10}\.\d{3}(?:-[0-9a-f]{4})?\.json(?:\.gz)?\Z")


class LLMLogs:
    """Imports call logs of the OpenHands SDK, and its conversations' saved states."""

    name = FORMAT

    def recognises(self, path: str, head: bytes) -> bool:
        """Say whether *head* shows a call log or a saved state.

        The messages stand first in a log: where they fill the head, the file's name decides.
        """
        cut_off = len(head) >= HEAD_BYTES and _FILE.search(path) is not None
        return any(
            is_state(keys) or ("messages" in keys and (cut_off or _is_call_of(keys)))
            for keys in outlines(head)
        )

    def read(self, source: Source, options: Options) -> Iterator[Found]:
        """Yield the events of each log in *source*, and a Problem for what is none."""
        seconds = Seconds(options.start)
        for document in documents(source):
            if isinstance(document, Problem):
                yield document
            elif isinstance(document.value, dict) and is_state(document.value.keys()):
                yield from state(document, source, options, Seconds(options.start).tick())
            else:
                yield from _log(document, source, options, seconds)


def _is_call_of(keys: frozenset[str]) -> bool:
    return not keys.isdisjoint(_OWN) and not keys.isdisjoint(_KEYS)


class _Times:
    """When the messages of a log were said: the request's time, later the response's.

    Without one of its own a log counts seconds.
    """

    def __init__(self, seconds: Seconds) -> None:
        self.now: datetime | None = None
        self._seconds = seconds

    def tick(self) -> datetime:
        """Return the time of the next message."""
        return self.now or self._seconds.tick()


def _log(document: Document, source: Source, options: Options, seconds: Seconds) -> Iterator[Found]:
    value, place, times = document.value, document.place, _Times(seconds)
    messages = _messages(value)
    if messages is None:
        yield source.problem(place, f"{shown(value)} is no call log: it has no list of messages")
        return
    answered, problems = _answered(value)
    for reason in problems:
        yield source.problem(place, reason)
    if answered is not None:
        times.now = _asked(answered, value)
    conversation = Conversation(
        _run(value, messages, options),
        source=source,
        place=place,
        seconds=times,
        format_name=FORMAT,
        link=linked,
    )
    for number, message in enumerate(messages, start=1):
        yield from conversation.hear(f"{place}, message {number}", message)
    times.now = answered
    yield from _response(value, conversation, source, place)
    yield from conversation.end()


def _response(
    log: dict[str, Any], conversation: Conversation, source: Source, place: str
) -> Iterator[Found]:
    """Tell what the model answered, what it thought, and what that took."""
    response = log.get("response")
    if response is None:  # the call failed
        return
    message = _answer_of(response)
    if message is None:
        yield source.problem(f"{place}, response", f"{shown(response)} has no message")
        return
    asked = conversation.previous
    yield from conversation.hear(f"{place}, response", message)
    if conversation.previous is None:  # it could not be read
        return
    teller = conversation.teller
    name = id_or_none(response.get("id")) or conversation.previous
    thought = message.get("reasoning_content")
    if isinstance(thought, str) and not is_blank(thought):
        yield teller.aside(happened.DecisionMade, decision_of(thought), name=name, cause=asked)
    yield from _measured(log, response, teller, name)


def _measured(
    log: dict[str, Any], response: dict[str, Any], teller: Teller, name: str
) -> Iterator[Found]:
    """Tell how full the window was, with the model's use; without a window the use alone."""
    usage = response.get("usage")
    use = model_use(response.get("model"), usage, cost_usd=log.get("cost"))
    window = count_of(log.get("context_window"))
    if use is None:
        return
    if window:
        measured = {"used_tokens": sum(tokens_of(usage)), "limit_tokens": window}
        fields = {**measured, "model_use": use}
        yield teller.aside(happened.ContextMeasured, fields, name=name, cause=teller.previous)
    else:
        fields = {"text": "", "model_use": use}
        yield teller.aside(happened.ObservationRecorded, fields, name=name, cause=teller.previous)


def _messages(log: Any) -> list[Any] | None:
    """Return what was asked, as the conversation has it.

    For a model without tool calls the SDK writes the calls into the texts: `raw_messages` is what
    they were before.
    """
    found = (log.get(key) for key in ("raw_messages", "messages")) if isinstance(log, dict) else ()
    messages = next((value for value in found if isinstance(value, list)), None)
    return None if messages is None else [_without_marks(message) for message in messages]


def _without_marks(message: Any) -> Any:
    """Return *message* without the marks of prompt caching, which move on with each call."""
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, list):
        return message
    return {**message, "content": [_unmarked(part) for part in content]}


def _unmarked(part: Any) -> Any:
    if not isinstance(part, dict):
        return part
    return {key: value for key, value in part.items() if key != "cache_control"}


def _answer_of(response: Any) -> dict[str, Any] | None:
    """Return the message of the first choice."""
    choices = response.get("choices") if isinstance(response, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    return _without_marks(message) if isinstance(message, dict) else None


def linked(digest: str, value: Any) -> str:
    """Return the digest that names a message, of the one before it and *value*.

    One whose calls have unique ids is named by itself, so that it stays the one that it is though
    what stood before it was summarised.
    """
    try:
        message = message_of(value)
    except Unreadable:
        return _hashed(digest + essence_of(value))
    essence = json.dumps(asdict(message), sort_keys=True)
    return _hashed(essence if _is_unique(message) else digest + essence)


def _is_unique(message: Message) -> bool:
    ids = {call.id for call in message.calls if isinstance(call, Call)} | {message.call_id}
    return any(name is not None and len(name) >= UNIQUE_CHARACTERS_MIN for name in ids)


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _run(log: dict[str, Any], messages: list[Any], options: Options) -> Run:
    return Run(
        agent=options.agent or AGENT_DEFAULT,
        user=options.user,
        project=options.project,
        session=_session(log, messages),
    )


def _session(log: dict[str, Any], messages: list[Any]) -> str:
    """Return the session's own id, or a name of the model and how the conversation begins."""
    metadata = _metadata(log)
    try:
        return check_name(metadata.get("session_id"), field="session_id")
    except InvalidEvent:
        digest = _model(log, metadata)
    for message in messages:
        digest = linked(digest, message)
        if not isinstance(message, dict) or message.get("role") != "system":
            break
    return f"llm-{_hashed(digest)[:16]}"


def _metadata(log: dict[str, Any]) -> dict[str, Any]:
    value: Any = log
    for key in ("kwargs", "extra_body", "metadata"):
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _model(log: dict[str, Any], metadata: dict[str, Any]) -> str:
    """Return what a log of a failed call names too, if it names anything."""
    tags = metadata.get("tags")
    for tag in tags if isinstance(tags, list) else ():
        if isinstance(tag, str) and tag.startswith("model:"):
            return tag
    response = log.get("response")
    model = response.get("model") if isinstance(response, dict) else None
    return model if isinstance(model, str) else ""


def _answered(log: dict[str, Any]) -> tuple[datetime | None, list[str]]:
    """Return when the answer came, if the log says so, and what is wrong with its times."""
    response = log.get("response")
    created = response.get("created") if isinstance(response, dict) else None
    reasons: list[str] = []
    for name, value in (("timestamp", log.get("timestamp")), ("created", created)):
        if value is None:
            continue
        try:
            return moment_of_seconds(value), reasons
        except Unreadable as error:
            reasons.append(f"{name}: {error}")
    return None, reasons


def _asked(answered: datetime, log: dict[str, Any]) -> datetime:
    latency = amount_of(log.get("latency_sec")) or 0.0
    return answered - timedelta(seconds=latency if latency <= LATENCY_SECONDS_MAX else 0.0)
