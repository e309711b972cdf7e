"""A conversation's messages as events, in order, each with its cause.

An event's id is derived from the session's name and from what was said up to it, so that the same
conversation adds nothing, a longer one adds its tail, and two that part ways share their start.
"""

import hashlib
import re
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from mnemolog.importers.base import Found, Scope, Source, Telling, Unreadable
from mnemolog.importers.chat_messages import Call, Message, essence_of, message_of
from mnemolog.importers.moments import Clock
from mnemolog.importers.teller import Teller
from mnemolog.importers.words import goal_of
from mnemolog.schemas.events import experience as happened

if TYPE_CHECKING:
    from datetime import datetime

FORMAT: Final = "openai-chat"
AGENT_DEFAULT: Final = "assistant"
JUDGE: Final = "environment"  # who gives a reward
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


def linked(digest: str, message: Any) -> str:
    """Return the digest of all that was said up to *message*, of the one before it."""
    return hashlib.sha256((digest + essence_of(message)).encode()).hexdigest()


class Conversation:
    """Tells one conversation: `hear` each message in order, then `end`.

    *format_name* and *link* say how messages are identified: *link* gives the digest that names a
    message, of the one before it and the message.
    """

    def __init__(
        self,
        run: Run,
        *,
        source: Source,
        place: str,
        seconds: Clock,
        format_name: str = FORMAT,
        link: Callable[[str, Any], str] = linked,
    ) -> None:
        self._run = run
        self._source = source
        self._place = place  # of the message that is being told
        self._seconds = seconds
        self._format = format_name
        self._link = link
        self._moment: datetime  # of that message
        self._heard = 0
        self._digest = ""  # of all that was said so far
        self._instructions: list[str] = []
        self._teller: Teller | None = None  # there is one from the first other message on
        self._goal = ""

    def hear(self, place: str, value: Any) -> Iterator[Found]:
        """Yield the events of one message; a Problem for what can't be read of it."""
        self._place, self._moment = place, self._seconds.tick()
        self._heard += 1
        self._digest = self._link(self._digest, value)
        try:
            message = message_of(value)
        except Unreadable as error:
            yield self._source.problem(place, str(error))
            return
        if self._teller is None and message.role == "system":
            self._instructions.append(message.text)
            return
        if self._teller is None:
            yield from self._begin(message.text)
        yield from self._answer(message) if message.role == "tool" else self._say(message)

    def end(self) -> Iterator[Found]:
        """Yield what stands after the last message."""
        if self._teller is None and not self._instructions:
            if not self._heard:
                yield self._source.problem(self._place, "a conversation without messages")
            return
        self._moment = self._seconds.tick()
        if self._teller is None:
            yield from self._begin("")
        if self._run.reward is not None:
            yield from self._judge(self._run.reward)

    @property
    def previous(self) -> str | None:
        """The id of the last event that was told, if any was."""
        return None if self._teller is None else self._teller.previous

    @property
    def teller(self) -> Teller:
        """Who tells it, at the present message."""
        assert self._teller is not None, "events come after `_begin`"
        self._teller.at(self._place, self._moment, item=str(self._heard), key=self._digest)
        return self._teller

    def _begin(self, text: str) -> Iterator[Found]:
        """Start the session with its instructions, and the task if there is one."""
        run, instructions = self._run, "\n\n".join(filter(None, self._instructions))
        session = run.session or f"chat-{self._digest[:16]}"
        named = _ROLE_OF_AGENT.search(instructions)
        agent = run.agent or (f"{named[1].lower()}-agent" if named else AGENT_DEFAULT)
        scope = Scope(
            agent=agent, user=run.user, project=run.project, session=session, task=run.task
        )
        self._teller = Teller(Telling(self._format, scope, seed=(session,)), self._source)
        yield self.teller.tell(happened.SessionStarted, {"instructions": instructions or None})
        if run.task is not None:
            self._goal = goal_of(text, otherwise=f"task {run.task}")
            yield self.teller.tell(happened.TaskStarted, {"goal": self._goal})

    def _say(self, message: Message) -> Iterator[Found]:
        """Tell the words, if there are any, and then the calls, which the words caused."""
        teller = self.teller
        yield from teller.orphan()  # an answer comes before the next word, or never
        if message.text or message.parts or not message.calls:
            said = {"role": message.role, "text": message.text, "speaker": message.name}
            parts = {"parts": list(message.parts)} if message.parts else {}
            yield teller.tell(happened.MessageExchanged, {**said, **parts})
        yield from teller.act_at_once((_key_of(call), call) for call in message.calls)

    def _answer(self, message: Message) -> Iterator[Found]:
        """Tell a tool's answer, caused by its call; one of an unknown call has no cause."""
        yield self.teller.answer(
            _key(message.call_id, message.name or ""),
            message.text,
            success=not message.failed,
            tool=message.name,
            data={"parts": list(message.parts)} if message.parts else None,
            call=message.call_id,
        )

    def _judge(self, reward: float) -> Iterator[Found]:
        """End the task and the session, and tell what the judge said of it."""
        teller, success = self.teller, reward >= 1
        label = f"reward {reward:g}"
        if self._run.task is not None:
            outcome = f"{'Succeeded' if success else 'Failed'} ({label}): {self._goal}"
            yield teller.tell(happened.TaskCompleted, {"outcome": outcome, "success": success})
        target = teller.previous
        ended = teller.tell(happened.SessionEnded, {"success": success})
        yield ended
        score = 2 * reward - 1
        judged = {"target": target if self._run.task is not None else ended.draft.id}
        fields = {**judged, "score": score, "label": label, "given_by": JUDGE}
        yield teller.tell(happened.FeedbackGiven, fields, cause=judged["target"])


def _key_of(call: Call | str) -> Hashable:
    return call if isinstance(call, str) else _key(call.id, call.tool)


def _key(call: str | None, tool: str) -> Hashable:
    """Return what links a call with its answer: its id, or the tool's name where it has none."""
    return (call, "" if call else tool)
