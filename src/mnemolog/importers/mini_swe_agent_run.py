"""One run of mini-swe-agent, told message by message.

The first messages are the instructions and the task, an assistant's are a thought and a command,
and what stands behind a command is what it showed.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from mnemolog.importers.base import Found, Options, Scope, Seconds, Source, Telling, Unreadable
from mnemolog.importers.chat_conversation import linked
from mnemolog.importers.chat_messages import Call, Message, message_of
from mnemolog.importers.moments import Times, moment_of_seconds
from mnemolog.importers.shapes import mapping, text_at
from mnemolog.importers.teller import Teller
from mnemolog.importers.turns import SUBMITTED, Turns
from mnemolog.importers.usage import model_use
from mnemolog.importers.words import goal_of
from mnemolog.schemas.events.experience import MessageExchanged, SessionStarted, TaskStarted
from mnemolog.schemas.fields import is_blank

FORMAT: Final = "mini-swe-agent"
AGENT_DEFAULT: Final = "mini-swe-agent"
TOOL: Final = "bash"
_BLOCK = re.compile(r"```(?:mswea_bash_command|bash)[ \t]*\n(.*?)\n?```", re.DOTALL)
_LABEL = re.compile(r"\A\s*THOUGHTS?:\s*", re.IGNORECASE)
_FINAL = re.compile(r"\b(?:COMPLETE_TASK_AND_SUBMIT|MINI_SWE_AGENT)_FINAL_OUTPUT\b")
_CODE = re.compile(r"<returncode>\s*(-?\d{1,9})\s*</returncode>")
_OUTPUT = re.compile(
    r"\s*<returncode>\s*-?\d{1,9}\s*</returncode>\s*<output>\n?(.*?)\n?</output>\s*", re.DOTALL
)
_NOT_DONE = re.compile(r"\bhas been killed\b|\A\s*Command not executed\b")


@dataclass(frozen=True, slots=True)
class Setting:
    """What is known of a run beside its messages."""

    options: Options
    task: str | None = None
    model: str | None = None


class MiniRun:
    """Tells one run: `hear` each message in order, then `end`."""

    def __init__(self, setting: Setting, source: Source, seconds: Seconds) -> None:
        self._setting = setting
        self._source = source
        self._times = Times(seconds, moment_of_seconds)
        self._digest = ""
        self._heard = 0
        self._instructions: list[str] = []
        self._teller: Teller | None = None  # there is one from the first other message on
        self._turns: Turns
        self._goal = ""
        self._is_submitting = False
        self._status = self._submission = ""
        self._was_billed = False

    def hear(self, place: str, value: Any) -> Iterator[Found]:
        """Yield the events of one message; a Problem for what can't be read of it."""
        self._heard += 1
        self._digest = linked(self._digest, value)
        extra = mapping(mapping(value).get("extra"))
        moment, reason = self._times.of(extra.get("timestamp"))
        if reason:
            yield self._source.problem(place, reason)
        try:
            is_exit = isinstance(value, dict) and value.get("role") == "exit"
            message = message_of({**value, "role": "user"} if is_exit else value)
        except Unreadable as error:
            yield self._source.problem(place, str(error))
            return
        if self._teller is None and message.role == "system":
            self._instructions.append(message.text)
            return
        is_first = self._teller is None
        teller = self._teller or self._new_teller()
        teller.at(place, moment, item=str(self._heard), key=self._digest)
        if is_first:
            yield from self._begin(teller, message.text)
        if status := text_at(extra, "exit_status"):
            self._status, self._submission = status, text_at(extra, "submission")
        if message.role == "assistant":
            yield from self._act(message, extra)
        elif self._turns.is_waiting and not (is_exit and not self._has_submitted()):
            yield from self._show(message, extra)
        elif not is_exit:
            yield teller.tell(MessageExchanged, _said(message))

    def end(self, place: str, info: Mapping[str, Any]) -> Iterator[Found]:
        """Yield what stands after the last message; a run that says no end may go on."""
        if self._teller is None:
            yield self._source.problem(place, "a run of which nothing but instructions is there")
            return
        stats = mapping(info.get("model_stats"))
        cost = None if self._was_billed else stats.get("instance_cost")
        use = model_use(self._setting.model, stats, cost_usd=cost)
        status = text_at(info, "exit_status") or self._status
        if status:
            submission = text_at(info, "submission") or self._submission
            yield from self._turns.end(status, submission, goal=self._goal, use=use)

    def _new_teller(self) -> Teller:
        options, task = self._setting.options, self._setting.task
        session = f"{task or FORMAT}-{self._digest[:16]}"
        scope = Scope(
            agent=options.agent or AGENT_DEFAULT,
            user=options.user,
            project=options.project,
            session=session,
            task=task or session,
        )
        self._teller = Teller(Telling(FORMAT, scope, seed=(session,)), self._source)
        self._turns = Turns(self._teller)
        return self._teller

    def _begin(self, teller: Teller, text: str) -> Iterator[Found]:
        instructions = "\n\n".join(filter(None, self._instructions))
        yield teller.tell(SessionStarted, {"instructions": instructions or None})
        told = next((part for part in text.split("\n\n") if not is_blank(part)), "")
        self._goal = goal_of(told, otherwise=self._setting.task or FORMAT)
        yield teller.tell(TaskStarted, {"goal": self._goal})

    def _act(self, message: Message, extra: Mapping[str, Any]) -> Iterator[Found]:
        """Tell what the agent thought, and the command that it gave."""
        thought, calls = message.text, list(message.calls)
        blocks = list(_BLOCK.finditer(thought))
        if not calls and len(blocks) == 1:  # with none or several nothing was run
            (block,) = blocks
            calls = [Call(None, TOOL, {"command": block[1]}, None)]
            around = (thought[: block.start()], thought[block.end() :])
            thought = "\n\n".join(part.strip() for part in around if not is_blank(part))
        self._is_submitting = any(_FINAL.search(_command(call)) for call in calls)
        use = self._use(extra)
        yield from self._turns.act(_LABEL.sub("", thought), calls, use=use)

    def _show(self, message: Message, extra: Mapping[str, Any]) -> Iterator[Found]:
        """Tell what a command showed; behind the last it is what was submitted."""
        text = message.text
        code = _CODE.search(text)
        number = extra.get("returncode", int(code[1]) if code else None)
        if self._is_submitting and number is None and not self._status:
            self._status = SUBMITTED.capitalize()
        whole = _OUTPUT.fullmatch(text)
        data = {"returncode": number} if isinstance(number, int) else None
        success = number == 0 if data else _NOT_DONE.search(text) is None
        shown = whole[1] if whole else text
        yield self._turns.show(shown, success=success, call=message.call_id, data=data)

    def _has_submitted(self) -> bool:
        return self._is_submitting and self._status.lower() == SUBMITTED

    def _use(self, extra: Mapping[str, Any]) -> dict[str, Any] | None:
        response = mapping(extra.get("response"))
        model = response.get("model") or self._setting.model
        use = model_use(model, response.get("usage"), cost_usd=extra.get("cost"))
        self._was_billed = self._was_billed or use is not None
        return use


def _said(message: Message) -> dict[str, Any]:
    parts = {"parts": list(message.parts)} if message.parts else {}
    return {"role": message.role, "text": message.text, **parts}


def _command(call: Call | str) -> str:
    command = call.arguments.get("command") if isinstance(call, Call) else None
    return command if isinstance(command, str) else ""
