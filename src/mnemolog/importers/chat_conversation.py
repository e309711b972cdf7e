"""A conversation's messages as events, in order, each with its cause.

An event's id is derived from the session's name and from what was said up to it, so that the same
conversation adds nothing, a longer one adds its tail, and two that part ways share their start.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from mnemolog.importers.base import (
    CALL,
    ITEM,
    Found,
    Placed,
    Scope,
    Seconds,
    Source,
    Telling,
    Unreadable,
)
from mnemolog.importers.chat_messages import Call, Message, essence_of, message_of
from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.events import Event
from mnemolog.schemas.events import experience as happened
from mnemolog.schemas.ids import check_id
from mnemolog.schemas.text import cut, one_line

if TYPE_CHECKING:
    from datetime import datetime

FORMAT: Final = "openai-chat"
AGENT_DEFAULT: Final = "assistant"
JUDGE: Final = "environment"  # who gives a reward
OPEN_CALLS_MAX: Final = 1_024  # calls without an answer that are remembered; the oldest go first
GOAL_CHARACTERS_MAX: Final = 300
_ROLE_OF_AGENT = re.compile(r"\bAs an? (\w{1,40}) agent\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What is known of a conversation beside its messages.

    Without an agent it is found in the instructions, without a session it is named after how the
    conversation begins. `reward` is from 0 to 1, or None where nobody judged.
    """

    agent: str | None = None
    user: str | None = None
    project: str | None = None
    session: str | None = None
    task: str | None = None
    reward: float | None = None


class Conversation:
    """Tells one conversation: `hear` each message in order, then `end`."""

    def __init__(self, run: Run, *, source: Source, place: str, seconds: Seconds) -> None:
        self._run = run
        self._source = source
        self._place = place  # of the message that is being told
        self._seconds = seconds
        self._moment: datetime  # of that message
        self._heard = 0
        self._digest = ""  # of all that was said so far
        self._instructions: list[str] = []
        self._telling: Telling | None = None  # there is one from the first other message on
        self._goal = ""
        self._previous: str | None = None  # the id of the event that the next one answers
        self._open: dict[tuple[str | None, str], tuple[str, str]] = {}  # call -> event id, tool

    def hear(self, place: str, value: Any) -> Iterator[Found]:
        """Yield the events of one message; a Problem for what can't be read of it."""
        self._place, self._moment = place, self._seconds.tick()
        self._heard += 1
        said_so_far = self._digest + essence_of(value)
        self._digest = hashlib.sha256(said_so_far.encode()).hexdigest()
        try:
            message = message_of(value)
        except Unreadable as error:
            yield self._source.problem(place, str(error))
            return
        if self._telling is None and message.role == "system":
            self._instructions.append(message.text)
            return
        if self._telling is None:
            yield from self._begin(message.text)
        yield from self._answer(message) if message.role == "tool" else self._say(message)

    def end(self) -> Iterator[Found]:
        """Yield what stands after the last message."""
        if self._telling is None and not self._instructions:
            if not self._heard:
                yield self._source.problem(self._place, "a conversation without messages")
            return
        self._moment = self._seconds.tick()
        if self._telling is None:
            yield from self._begin("")
        if self._run.reward is not None:
            yield from self._judge(self._run.reward)

    def _begin(self, text: str) -> Iterator[Found]:
        """Start the session with its instructions, and the task if there is one."""
        run, instructions = self._run, "\n\n".join(filter(None, self._instructions))
        session = run.session or f"chat-{self._digest[:16]}"
        named = _ROLE_OF_AGENT.search(instructions)
        agent = run.agent or (f"{named[1].lower()}-agent" if named else AGENT_DEFAULT)
        scope = Scope(
            agent=agent, user=run.user, project=run.project, session=session, task=run.task
        )
        self._telling = Telling(FORMAT, scope, seed=(session,))
        yield self._event(happened.SessionStarted, {"instructions": instructions or None})
        if run.task is not None:
            says_something = any(character.isalnum() for character in text)
            goal = one_line(text) if says_something else f"task {run.task}"
            self._goal = cut(goal, characters_max=GOAL_CHARACTERS_MAX)
            yield self._event(happened.TaskStarted, {"goal": self._goal})

    def _say(self, message: Message) -> Iterator[Found]:
        """Tell the words, if there are any, and then the calls, which the words caused."""
        if message.text or message.parts or not message.calls:
            said = {"role": message.role, "text": message.text, "speaker": message.name}
            parts = {"parts": list(message.parts)} if message.parts else {}
            yield self._event(happened.MessageExchanged, {**said, **parts})
        cause = self._previous
        for number, call in enumerate(message.calls):
            if isinstance(call, Call):
                yield self._call(call, number, cause)
            else:
                yield self._source.problem(self._place, call)

    def _call(self, call: Call, number: int, cause: str | None) -> Placed:
        """Tell a call. Its action's id is the event's: the source's own ids repeat in a run."""
        model = happened.ActionStarted
        action = self._id(model, number)
        fields = {
            "action": action,
            "tool": call.tool,
            "arguments": call.arguments,
            "raw": call.raw,
        }
        key = (call.id, "" if call.id else call.tool)
        self._open.pop(key, None)  # the newest call of an id gets the answer
        self._open[key] = (action, call.tool)
        if len(self._open) > OPEN_CALLS_MAX:
            del self._open[next(iter(self._open))]
        return self._event(model, fields, number=number, cause=cause, call=call.id)

    def _answer(self, message: Message) -> Iterator[Found]:
        """Tell a tool's answer, caused by its call; one of an unknown call has no cause."""
        model = happened.ActionFinished
        key = (message.call_id, "" if message.call_id else message.name or "")
        action, tool = self._open.pop(key, (None, None))
        fields = {
            "action": action or self._id(model),
            "tool": message.name or tool,
            "success": not message.failed,
            "error" if message.failed else "result": message.text,
            "data": {"parts": list(message.parts)} if message.parts else None,
        }
        self._previous = action
        yield self._event(model, fields, call=message.call_id)

    def _judge(self, reward: float) -> Iterator[Found]:
        """End the task and the session, and tell what the judge said of it."""
        success = reward >= 1
        label = f"reward {reward:g}"
        if self._run.task is not None:
            outcome = f"{'Succeeded' if success else 'Failed'} ({label}): {self._goal}"
            yield self._event(happened.TaskCompleted, {"outcome": outcome, "success": success})
        target = self._previous
        ended = self._event(happened.SessionEnded, {"success": success})
        yield ended
        score = 2 * reward - 1
        judged = {"target": target if self._run.task is not None else ended.draft.id}
        fields = {**judged, "score": score, "label": label, "given_by": JUDGE}
        yield self._event(happened.FeedbackGiven, fields, cause=judged["target"])

    def _id(self, model: type[Event], number: int = 0) -> str:
        assert self._telling is not None, "events come after `_begin`"
        return self._telling.id_of(model.event_type, str(number), self._digest)

    def _event(
        self,
        model: type[Event],
        fields: Mapping[str, Any],
        *,
        number: int = 0,
        cause: str | None = None,
        call: str | None = None,
    ) -> Placed:
        """Place an event, caused by *cause* or the one before it, and make it the previous one."""
        assert self._telling is not None, "events come after `_begin`"
        event_id = self._id(model, number)
        draft = self._telling.draft(
            model,
            fields,
            event_id=event_id,
            occurred_at=self._moment,
            cause=cause or self._previous,
            extensions={ITEM: str(self._heard), **_call_name(call)},
        )
        self._previous = event_id
        return Placed(self._place, draft)


def _call_name(call: str | None) -> dict[str, str]:
    try:
        return {} if call is None else {CALL: check_id(call, field=CALL)}
    except InvalidEvent:
        return {}
