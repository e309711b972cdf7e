"""What a resumed task's text says around the facts, in the two languages of its readers."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The fixed words of one language; `spans` name days, hours and minutes."""

    title: str
    checkpoint: str
    labels: tuple[str, str, str]  # goal, plan, reflection
    no_checkpoint: str
    goal: str
    damaged: str
    current: str
    blocked: str
    planned: str
    events: str
    pending: str
    orphaned: str
    costly: str
    forgotten: str
    spans: tuple[str, str, str]
    just_now: str


ENGLISH: Final = Words(
    title="Task {task}, last saved or seen {ago}.",
    checkpoint="Checkpoint: ",
    labels=("goal: ", "plan: ", "reflection: "),
    no_checkpoint="No checkpoint was saved; these events tell where it stands.",
    goal="Goal: ",
    damaged="{count} newer checkpoint(s) are damaged and were passed over.",
    current="Current step: ",
    blocked="Blocked: ",
    planned="Planned: ",
    events="Since then:",
    pending="Actions without a result yet (they may have taken effect):",
    orphaned="Actions that never got a result:",
    costly=" [costly: check before repeating]",
    forgotten="(forgotten)",
    spans=("{} d ago", "{} h ago", "{} min ago"),
    just_now="just now",
)
CHINESE: Final = Words(
    title="任务 {task}，上次保存或活动：{ago}。",
    checkpoint="检查点：",
    labels=("目标：", "计划：", "反思："),
    no_checkpoint="没有保存过检查点；以下事件说明当前进展。",
    goal="目标：",
    damaged="有 {count} 个更新的检查点已损坏，已跳过。",
    current="当前步骤：",
    blocked="受阻：",
    planned="待执行：",
    events="此后发生：",
    pending="尚无结果的操作（可能已经生效）：",
    orphaned="再也不会有结果的操作：",
    costly="【代价高：重复前请先核实】",
    forgotten="（已遗忘）",
    spans=("{} 天前", "{} 小时前", "{} 分钟前"),
    just_now="刚刚",
)


def lasted(ago: timedelta, words: Words) -> str:
    """Return *ago* in its largest whole unit.

    >>> lasted(timedelta(days=3, hours=5), ENGLISH), lasted(timedelta(minutes=5), CHINESE)
    ('3 d ago', '5 分钟前')
    """
    counts = (ago.days, ago.seconds // 3_600, ago.seconds // 60)
    for count, span in zip(counts, words.spans, strict=True):
        if count:
            return span.format(count)
    return words.just_now
