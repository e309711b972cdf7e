"""What some agents at work tell in some months: seeded, so that each run has the same events.

Tasks follow one another. In each an agent is asked something, plans, calls tools, notes what it
sees, decides, saves its state, and is told how well it did. A third of the words are Chinese.
"""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

from mnemolog.schemas.checkpoint import Checkpoint
from mnemolog.schemas.envelope import Envelope
from mnemolog.schemas.events import Event
from mnemolog.schemas.events import experience as ex
from mnemolog.schemas.events import memory as mem
from mnemolog.schemas.ids import derived_id, memory_id

START: Final = datetime(2030, 1, 1, tzinfo=UTC)
SOURCE: Final = "/bench"
AGENTS: Final = 8
CHINESE_SHARE: Final = 0.33
RECENT_MEMORIES: Final = 200  # that are used, linked and rated

Told = tuple[Event, Envelope]

_SERVICES: Final = ("auth", "order", "payment", "inventory", "notification", "search", "billing")
_PEOPLE: Final = ("Caroline", "Melanie", "Alice Smith", "Bob", "Dr. Brown", "陈晨", "小李", "王芳")
_TOOLS: Final = ("bash", "search_orders", "read_file", "run_tests", "http_get")
_ENGLISH: Final = (
    "The {service} service returned {number} errors in {small} minutes after the deploy.",
    "{person} said that the pool of {number} connections is exhausted again.",
    "I looked at src/{service}/login.py and https://ci.example.com/run/{number}: INC-{number}.",
    "We decided to keep the refresh token for {small} days.",
    "Never deploy the {service} service on a Friday.",
    "Could you check whether the order #W{number} was delivered to New York?",
    "I prefer short answers with the numbers first.",
    "It took about {small}% more memory, which is fine for now.",
    "Last weekend we went to the beach with the kids, and they loved it so much!",
    "The migration must be done before 2030-03-{day} and may not touch live sessions.",
    "Yeah, it's been a while since we talked about the camping trip, hasn't it?",
    "so the retry loop in {service}_client never backs off, that is why it times out",
)
_CHINESE: Final = (
    "{service} 服务在发布后 {small} 分钟内报了 {number} 个错误。",
    "{person}说连接池的 {number} 个连接又用完了。",
    "我看了 src/{service}/token.py 和工单 INC-{number}，怀疑是重试没有退避。",
    "我们决定采用 JWT，刷新令牌保留 {small} 天。",
    "支付接入必须在 3 月 {day} 日之前完成，不得影响在线会话。",
    "我更喜欢简短的回答，先给数字。",
    "上周末我们带孩子去了海边，他们玩得很开心。",
)
_CONFIRMATIONS: Final = ("ok", "好的，继续。", "Thanks!", "收到", "go ahead")
_LOG_LINE: Final = (
    "2030-01-{day}T10:{small}:07Z INFO {service}.worker request_id=req_{number} status=200"
    ' bytes={number} path="/v1/{service}/items/{number}"'
)


def told(*, events: int, seed: int) -> Iterator[Told]:
    """Yield *events* events and their envelopes."""
    chance = random.Random(seed)
    memories: list[str] = []
    number = 0
    while True:
        agent = f"agent-{chance.randrange(AGENTS)}"
        task = f"task-{number}"
        for event in _task(chance, agent, task, memories):
            envelope = _envelope(number, agent, task)
            memories.append(memory_id(envelope.identity, 0))
            yield event, envelope
            number += 1
            if number == events:
                return


def _envelope(number: int, agent: str, task: str) -> Envelope:
    return Envelope(
        id=derived_id("bench", str(number)),
        source=SOURCE,
        occurred_at=START + timedelta(minutes=7 * number),
        key=agent,
        agent=agent,
        user="customer-1",
        project="shop",
        session=f"session-{task}",
        task=task,
        correlation=f"run-{task}",
    )


def _task(chance: random.Random, agent: str, task: str, memories: list[str]) -> Iterator[Event]:
    yield ex.SessionStarted(title=sentences(chance, 1))
    yield ex.TaskStarted(goal=sentences(chance, 1), plan=sentences(chance, 2))
    for turn in range(chance.randint(4, 12)):
        yield ex.MessageExchanged(role="user", text=_asked(chance), speaker="customer")
        yield from _call(chance, f"{task}-{turn}")
        yield ex.MessageExchanged(role="assistant", text=sentences(chance, chance.randint(1, 4)))
        yield from _aside(chance, memories[-RECENT_MEMORIES:])
    yield ex.CheckpointSaved(checkpoint=_checkpoint(chance, agent, task))
    yield ex.TaskCompleted(outcome=sentences(chance, 2), lesson=sentences(chance, 1))
    yield ex.SessionEnded(outcome=sentences(chance, 1), success=True)


def _asked(chance: random.Random) -> str:
    return chance.choice(_CONFIRMATIONS) if chance.random() < 0.15 else sentences(chance, 2)


def _call(chance: random.Random, action: str) -> Iterator[Event]:
    tool = chance.choice(_TOOLS)
    arguments = {"query": sentences(chance, 1), "limit": chance.randrange(100)}
    yield ex.ActionStarted(action=action, tool=tool, arguments=arguments)
    if chance.random() < 0.1:
        yield ex.ActionFinished(action=action, tool=tool, success=False, error=sentences(chance, 1))
        return
    result = "\n".join(_filled(chance, _LOG_LINE) for _ in range(chance.randint(1, 20)))
    yield ex.ActionFinished(action=action, tool=tool, success=True, result=result, duration_ms=120)


def _aside(chance: random.Random, memories: list[str]) -> Iterator[Event]:
    """Yield one of the rarer events about half of the time."""
    some = tuple(chance.sample(memories, k=min(3, len(memories))))
    match chance.randrange(12):
        case 0 | 1:
            yield ex.ObservationRecorded(text=sentences(chance, 2), data={"shard": 7})
        case 2:
            yield ex.DecisionMade(
                what=sentences(chance, 1), why=sentences(chance, 1), because_memories=some
            )
        case 3 if some:
            yield mem.MemoryUsed(memories=some, purpose=sentences(chance, 1))
        case 4 if some:
            yield ex.FeedbackGiven(target=some[0], target_kind="memory", score=0.5)
        case 5 if len(some) > 1:
            yield mem.MemoryLinked(from_memory=some[0], to_memory=some[1], kind="causes")
        case 6:
            yield mem.MemoryFormed(text=sentences(chance, 1), kind="fact", tags=("bench",))
        case _:
            return


def _checkpoint(chance: random.Random, agent: str, task: str) -> Checkpoint:
    return Checkpoint(
        id=f"checkpoint-{task}",
        timestamp=START,
        agent=agent,
        current_goal=sentences(chance, 1),
        plan_summary=sentences(chance, 2),
        key_observations=tuple(sentences(chance, 1) for _ in range(3)),
        task_state={"task_id": task, "iterations": 3, "variables": {"branch": "main"}},
    )


def sentences(chance: random.Random, sentences: int) -> str:
    chinese = chance.random() < CHINESE_SHARE
    patterns = _CHINESE if chinese else _ENGLISH
    between = "" if chinese else " "
    return between.join(_filled(chance, chance.choice(patterns)) for _ in range(sentences))


def _filled(chance: random.Random, pattern: str) -> str:
    return pattern.format(
        service=chance.choice(_SERVICES),
        person=chance.choice(_PEOPLE),
        number=chance.randrange(100, 100_000),
        small=chance.randrange(10, 60),
        day=chance.randrange(10, 29),
    )
