"""An agent's turns: what it thought, what it called, what each call showed, and how it ended.

For formats whose answers stand behind their calls and need not name them.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, Final

from mnemolog.importers.base import Found, Placed
from mnemolog.importers.chat_messages import Call
from mnemolog.importers.teller import Teller
from mnemolog.schemas.events import experience as happened
from mnemolog.schemas.fields import is_blank

SUBMITTED: Final = "submitted"
ANSWER_CHARACTERS_MAX: Final = 300  # of a submission that is an answer and no patch


class Turns:
    """Tells the turns of one session; its teller is at the present item."""

    def __init__(self, teller: Teller) -> None:
        self.last_shown = ""  # the text of the last answer
        self._teller = teller
        self._turn = 0
        self._waiting: dict[Hashable, str | None] = {}  # the calls of the turn -> their own ids

    @property
    def is_waiting(self) -> bool:
        """Say whether a call of the last turn has no answer yet."""
        return bool(self._waiting)

    def act(
        self, thought: str, calls: Sequence[Call | str], *, use: Mapping[str, Any] | None = None
    ) -> Iterator[Found]:
        """Tell a turn: the thought, then the calls that it led to, or why one can't be read.

        *use* stands on its first event; a turn that says nothing is an empty message.
        """
        teller = self._teller
        yield from teller.orphan()
        self._turn += 1
        keyed = [((self._turn, number), call) for number, call in enumerate(calls)]
        self._waiting = {key: call.id for key, call in keyed if isinstance(call, Call)}
        if is_blank(thought) and not calls:
            said = {"role": "assistant", "text": thought, "model_use": use}
            yield teller.tell(happened.MessageExchanged, said)
        yield from teller.think(thought, use=use)
        yield from teller.act_at_once(keyed, use=use if is_blank(thought) else None)

    def show(
        self,
        text: str,
        *,
        success: bool,
        call: str | None = None,
        data: Mapping[str, Any] | None = None,
        duration_ms: int | None = None,
    ) -> Placed:
        """Tell the answer to the call of that id, or else to the first that waits."""
        named = (key for key, known in self._waiting.items() if call is not None and known == call)
        key = next(named, next(iter(self._waiting), None))
        self._waiting.pop(key, None)
        self.last_shown = text
        return self._teller.answer(
            key, text, success=success, data=data, duration_ms=duration_ms, call=call
        )

    def end(
        self, status: str, submission: str, *, goal: str, use: Mapping[str, Any] | None
    ) -> Iterator[Found]:
        """Tell how the run ended, and what it submitted if no answer showed that.

        What fits into a line is told with the outcome.
        """
        teller, answer = self._teller, ""
        if not is_blank(submission) and submission.split() != self.last_shown.split():
            answer = submission.strip()
        if len(answer) > ANSWER_CHARACTERS_MAX or "\n" in answer:
            fields = {"text": submission, "data": {"of": "submission"}, "stated_by": "tool"}
            yield teller.tell(happened.ObservationRecorded, fields)
            answer = ""
        outcome = f"{status} {answer}: {goal}" if answer else f"{status}: {goal}"
        if submitted := status.lower().startswith(SUBMITTED):
            done = status.lower() == SUBMITTED
            yield teller.tell(happened.TaskCompleted, {"outcome": outcome, "success": done})
        else:
            yield teller.tell(happened.TaskAbandoned, {"outcome": outcome})
        ended = {"success": None if submitted else False, "model_use": use}
        yield teller.tell(happened.SessionEnded, ended)
