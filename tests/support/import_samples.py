"""A small sound file of every format that can be imported: what tests damage, cut and mix.

for name, content in samples("codex"): write `content` into a file called `name`
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from mnemolog.schemas.events.experience import ObservationRecorded
from mnemolog.schemas.values import json_bytes
from support import (
    call_logs,
    chats,
    claude_code,
    codex,
    evaluations,
    openhands,
    search_trees,
    span_conventions,
    spans,
    swe_agent,
    traces,
)
from support.events import document

Sample = tuple[str, bytes]


def samples(format_name: str) -> list[Sample]:
    """Return small sound files of the format, each with its name."""
    return _SAMPLES[format_name]()


def formats() -> list[str]:
    """Return the formats that there are samples of."""
    return list(_SAMPLES)


def _json(value: Any, *, name: str = "in.json") -> Sample:
    return name, json.dumps(value).encode()


def _lines(*values: Any, name: str = "in.jsonl") -> Sample:
    return name, b"".join(json.dumps(value).encode() + b"\n" for value in values)


def _cloudevents() -> list[Sample]:
    seen = [
        document(ObservationRecorded(text=f"lamp {n}"), id=f"e{n}", tenant=None) for n in range(3)
    ]
    guest = {"specversion": "1.0", "id": "1", "source": "/s", "type": "com.example.done"}
    lines = [json.loads(json_bytes(one)) for one in [*seen, {**guest, "data": [1]}]]
    return [_lines(*lines), _json(lines)]


def _locomo() -> list[Sample]:
    turns = [
        {"speaker": "Ada", "dia_id": "D1:1", "text": "I bought a kite."},
        {"speaker": "Bo", "dia_id": "D1:2", "text": "Lovely!", "blip_caption": "a red kite"},
    ]
    sessions = {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": turns}
    talk = {"speaker_a": "Ada", "speaker_b": "Bo", **sessions}
    return [_json([{"sample_id": f"conv-{n}", "qa": [], "conversation": talk} for n in (1, 2)])]


def _memorybank() -> list[Sample]:
    days = {
        "2023-04-27": [{"query": "我买了风筝。", "response": "好的。"}],
        "2023-04-28": [{"query": "It is red.", "response": "Lovely!"}],
    }
    users = {name: {"name": name, "summary": {}, "history": days} for name in ("小明", "Kari")}
    return [_json(users, name="bank.json")]


_AIDER = """
# aider chat started at 2024-08-05 19:33:02

> /bin/aider ferry.py
> Models: m-1 with diff edit format
> Added ferry.py to the chat.

#### Mend the ferry.

I mend it:

ferry.py
```python
<<<<<<< SEARCH
old
=======
new
>>>>>>> REPLACE
```

> Tokens: 50 sent, 6 received. Cost: $0.02 request, $0.02 session.
> Applied edit to ferry.py
> Commit fd43cd4 fix: Mend the ferry

# aider chat started at 2024-08-05 19:40:00

#### /undo
"""


def _aider() -> list[Sample]:
    return [(".aider.chat.history.md", _AIDER.encode())]


def _codex() -> list[Sample]:
    rows = [
        codex.meta(),
        codex.turn(),
        codex.said("user", "Mend the lift."),
        codex.thought("Look first."),
        codex.call("c1", command="look"),
        codex.output("c1", "door 3 is ajar"),
        codex.said("assistant", "Mended."),
        codex.spent(10, 5, total=15),
    ]
    return [_lines(*rows, name="rollout-1.jsonl")]


def _claude_code() -> list[Sample]:
    c = claude_code
    rows = [
        c.user("u1", "Mend the lift."),
        c.model("a1", c.thinks("Look first."), c.says("On it."), parent="u1", second=1),
        c.model("a2", c.calls("t1", command="look"), parent="a1", second=2, usage=c.usage(120)),
        c.user("u2", [c.answers("t1", "door 3 is ajar")], parent="a2", second=3),
        c.model("a3", c.says("Mended."), parent="u2", second=4, stop="end_turn"),
    ]
    return [_lines(*rows, name="s-1.jsonl")]


def _swe_agent() -> list[Sample]:
    return [_json(swe_agent.traj(), name="run.traj")]


def _mini_swe_agent() -> list[Sample]:
    ask = "```mswea_bash_command\n{}\n```"
    end = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git diff"
    said = [
        {"role": "system", "content": f"Give ONE command. To finish: {end}"},
        chats.user("Please solve this: the lift hangs."),
        chats.says("THOUGHT: Look first.\n\n" + ask.format("ls")),
        chats.user("<returncode>0</returncode>\n<output>\ndoors.py\n</output>"),
        chats.says("Done.\n\n" + ask.format(end)),
        chats.user("diff --git a/doors.py\n+open\n"),
    ]
    info = {"exit_status": "Submitted", "submission": "diff", "model_stats": {"instance_cost": 0.5}}
    return [_json({"info": info, "messages": said, "trajectory_format": "mini-swe-agent-1"})]


def _langfuse() -> list[Sample]:
    t = traces
    heard = [t.system("Be brief."), t.user("Which trains leave?")]
    asked = t.assistant("I look.", t.asks("timetable", at="noon"))
    made = t.trace(
        t.generation("g1", heard=heard, said=asked),
        t.tool("timetable", {"at": "noon"}, "two trains"),
        scores=[t.score("right", 1.0)],
        session="s",
    )
    return [_json(made), _lines(made)]


def _inspect() -> list[Sample]:
    e = evaluations
    asked = e.says("I look.", e.asks("timetable", at="noon"))
    heard = [e.user("Which trains leave today?")]
    told = [*heard, asked, e.answers("two trains")]
    row = e.sample(e.model(heard, asked), e.model(told, e.says("Two."), begun=3, ended=4))
    log = e.evaluation(row)
    return [_json(log), ("in.eval", e.archived(log))]


def _otel() -> list[Sample]:
    calls = [
        spans.span(f"call-{n}", attributes)
        for n, attributes in enumerate(span_conventions.CONVENTIONS.values())
        if "name" not in attributes
    ]
    made = [one for one in span_conventions.CONVENTIONS.values() if "name" in one]
    return [_json(spans.as_otlp(spans.root(), *calls[:3], *made[:2]))]


def _toolbench() -> list[Sample]:
    return [_json(search_trees.forked(), name="1_DFS.json")]


_SAMPLES: Final[Mapping[str, Callable[[], list[Sample]]]] = {
    "cloudevents": _cloudevents,
    "locomo": _locomo,
    "memorybank": _memorybank,
    "aider": _aider,
    "codex": _codex,
    "claude-code": _claude_code,
    "openhands-llm-logs": lambda: [_json(one) for one in call_logs.call_logs()[:2]],
    "openhands": lambda: [_lines(openhands.run()), _json(openhands.EVENTS)],
    "swe-agent": _swe_agent,
    "mini-swe-agent": _mini_swe_agent,
    "toolbench": _toolbench,
    "langfuse": _langfuse,
    "inspect": _inspect,
    "otel": _otel,
    "openai-chat": lambda: [
        _json([chats.run()]),
        _json(chats.MESSAGES),
        _lines(*chats.MESSAGES),
    ],
}
