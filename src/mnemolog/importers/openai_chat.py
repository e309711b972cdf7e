"""OpenAI chat messages: runs of an agent with their reward, or conversations alone.

A file holds one message after another (then it is one conversation), or one conversation after
another: a list of messages, or an object with `messages` or `traj`. docs/importing.md says what
becomes of each.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Any, Final

from mnemolog.importers.base import Found, Options, Problem, Seconds, Source
from mnemolog.importers.chat_conversation import FORMAT, Conversation, Run
from mnemolog.importers.documents import Document, documents
from mnemolog.importers.outlines import outlines
from mnemolog.schemas.errors import InvalidEvent, shown
from mnemolog.schemas.ids import check_name

_LISTS: Final = ("traj", "messages")
_SAYING: Final = ("content", "tool_calls", "function_call")
_SESSIONS: Final = ("session_id", "conversation_id", "id")


class OpenAIChat:
    """Imports chat messages as OpenAI's API has them."""

    name = FORMAT

    def recognises(self, path: str, head: bytes) -> bool:
        """Say whether *head* shows messages, or an object that holds some."""
        del path
        return any(_is_chat(keys) for keys in outlines(head))

    def read(self, source: Source, options: Options) -> Iterator[Found]:
        """Yield the events of every conversation in *source*, and a Problem for what is none."""
        seconds = Seconds(options.start)
        values = documents(source)
        for value in values:
            if isinstance(value, Problem):
                yield value
            elif _is_message(value.value):
                yield from _all_of(chain([value], values), source, options, seconds)
            else:
                yield from _conversation(value, source, options, seconds)


def _is_chat(keys: frozenset[str]) -> bool:
    return not keys.isdisjoint(_LISTS) or ("role" in keys and not keys.isdisjoint(_SAYING))


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and "role" in value


def _all_of(
    values: Iterator[Document | Problem], source: Source, options: Options, seconds: Seconds
) -> Iterator[Found]:
    """Tell a file that is one conversation, a message at a time."""
    run = Run(agent=options.agent, user=options.user, project=options.project)
    conversation = Conversation(run, source=source, place="end", seconds=seconds)
    for value in values:
        if isinstance(value, Problem):
            yield value
        else:
            yield from conversation.hear(value.place, value.value)
    yield from conversation.end()


def _conversation(
    document: Document, source: Source, options: Options, seconds: Seconds
) -> Iterator[Found]:
    """Tell a value that is a whole conversation."""
    value, place = document.value, document.place
    if isinstance(value, list):
        value = {"messages": value}
    messages = _messages(value)
    if not isinstance(messages, list):
        yield source.problem(place, f"{shown(document.value)} is no conversation")
        return
    try:
        run = _run(value, options)
    except InvalidEvent as error:
        yield source.problem(place, str(error))
        return
    if run.reward is None and value.get("reward") is not None:
        yield source.problem(place, f"reward {shown(value['reward'])} is no number from 0 to 1")
    conversation = Conversation(run, source=source, place=place, seconds=seconds)
    for number, message in enumerate(messages, start=1):
        yield from conversation.hear(f"{place}, message {number}", message)
    yield from conversation.end()


def _messages(value: Any) -> Any:
    found = (value.get(key) for key in _LISTS) if isinstance(value, dict) else iter(())
    return next((messages for messages in found if messages is not None), None)


def _run(value: dict[str, Any], options: Options) -> Run:
    """Return what *value* says of its conversation. Raises InvalidEvent for a name that is none."""
    task = _name(value, "task_id")
    trial = _name(value, "trial")
    session = next(filter(None, (_name(value, key) for key in _SESSIONS)), None)
    if task is not None:
        # Each trial begins the work anew and ends it in its own way: it is a task by itself.
        task = task if trial is None else check_name(f"{task}-trial-{trial}", field="task_id")
        session = f"task-{task}"
    return Run(
        agent=options.agent,
        user=options.user or _user(value),
        project=options.project,
        session=None if session is None else check_name(session, field="session"),
        task=task,
        reward=_reward(value.get("reward")),
    )


def _name(value: dict[str, Any], key: str) -> str | None:
    """Return a name that is a text or a whole number."""
    name = value.get(key)
    if name is None or name == "":
        return None
    is_number = isinstance(name, int) and not isinstance(name, bool)
    return check_name(str(name) if is_number else name, field=key)


def _user(value: dict[str, Any]) -> str | None:
    """Return who the run was for: `info.task.user_id`, or else `user`."""
    info = value.get("info")
    task = info.get("task") if isinstance(info, dict) else None
    named = _name(task, "user_id") if isinstance(task, dict) else None
    return named or _name(value, "user")


def _reward(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and 0 <= value <= 1 else None
