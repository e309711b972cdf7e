"""Scenario 2: a project tracker listens to three teams for two weeks.

Five services (auth, order, payment, inventory, notification); four developers each in frontend,
backend and operations. Day 1 is a Monday, so the second Wednesday is day 10. Day 1 sets the
constraints; what the tracker is asked later has to find them, and what happened since, among
the teams' daily chatter (`tracker_chatter`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from types import MappingProxyType
from typing import Final

from mnemolog.demo.telling import Scenario, Told, called, ended, judged, said, saw
from mnemolog.demo.tracker_chatter import CHATTER, on

AGENT: Final = "tracker"
PROJECT: Final = "five-services"
SERVICES: Final = ("auth", "order", "payment", "inventory", "notification")
TEAMS: Final[Mapping[str, Sequence[str]]] = MappingProxyType(
    {
        "frontend": ("林晓", "Maya", "周宁", "Tom"),
        "backend": ("陈晨", "Priya", "李伟", "Jonas"),
        "operations": ("王芳", "Diego", "赵磊", "Sara"),
    }
)
END: Final = timedelta(days=14)
REPORT: Final = "weekly-report"  # the task of day 7
POOL: Final = "day-3-pool"
LOAD_TEST: Final = "day-5-load-test"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question to the tracker: when, and what it looks for.

    Of its first `first` hits as many come from the events `expected` as can.
    """

    when: timedelta
    questions: tuple[str, str]
    focus: str
    expected: Sequence[str]
    first: int
    kinds: Sequence[str] = ()

    def is_met_by(self, found: Sequence[str]) -> bool:
        """Say whether *found*, the events of an answer's memories, is as it should be."""
        met = set(found[: self.first]) & set(self.expected)
        return len(met) == min(self.first, len(self.expected))


DAY_1: Final = [
    said(
        "day-1-deadline", on(1, "09:05"), "王芳", "支付接入的截止日期是第二个周三，合同里写死了。"
    ),
    said(
        "day-1-sessions",
        on(1, "09:09"),
        "Diego",
        "The JWT migration must not touch live sessions: nobody gets signed out by it.",
    ),
    said(
        "day-1-stack",
        on(1, "09:14"),
        "Priya",
        "技术栈统一用 TypeScript 和 Node，数据都放 PostgreSQL。",
    ),
    said("day-1-owner", on(1, "09:18"), "李伟", "支付服务由陈晨负责，Jonas 做后备。"),
    said(
        "day-1-connections",
        on(1, "09:24"),
        "赵磊",
        "PostgreSQL 总共 200 个连接，每个服务占用的连接不得超过 40 个。",
    ),
    said("day-1-cards", on(1, "09:30"), "Sara", "Card numbers must never reach a log or a ticket."),
    said("day-1-fridays", on(1, "09:33"), "Jonas", "Never release on a Friday after noon."),
    said(
        "day-1-operations",
        on(1, "09:36"),
        "王芳",
        "数据库和监控归运维组负责，改动先找赵磊。",
    ),
]

DAY_3: Final = [
    *called(
        "day-3-probe",
        on(3, "14:20"),
        "probe order",
        error="HTTP 503: TimeoutError: no free client after 30 s",
        task="pool-incident",
    ),
    saw(
        POOL,
        on(3, "14:24"),
        "order 的数据库连接池耗尽了：60 个全被占住，还有 311 个请求在排队",
        task="pool-incident",
        because="day-3-probe",
    ),
    said("day-3-users", on(3, "14:26"), "Maya", "Checkout spins for half a minute and then fails"),
    ended(
        "day-3-ended",
        on(3, "16:45"),
        "order 恢复：把池子从 60 改回 36，并给退款任务的事务加了 5 秒超时",
        lesson="A forgotten transaction in the refund job held its clients for ever;"
        " a bigger pool only hides that for a day",
        task="pool-incident",
    ),
]

DAY_5: Final = [
    *called(
        LOAD_TEST,
        on(5, "11:10"),
        "k6 load test of checkout",
        result="800 requests/s for 20 min, p95 420 ms, 0.2 % failed; inventory saturates first,"
        " at 92 % CPU",
        task="load-test",
    ),
    judged(
        "day-5-judged",
        on(5, "11:40"),
        LOAD_TEST,
        0.6,
        by="Priya",
        comment="够黑五用了，库存服务再加一个副本",
        task="load-test",
    ),
]

DAY_8: Final = [
    saw("day-8-gateway", on(8, "15:00"), "payment 的沙箱回调已经通了，退款还没测"),
    *called(
        "day-8-contract",
        on(8, "17:20"),
        "pact verify",
        result="payment -> order: 23 of 23 interactions verified",
    ),
]

# Each is asked in both languages, by the same moment and to the same end.
ON_DAY_3: Final = Asked(
    when=on(3, "14:30"),
    questions=(
        "order 连不上数据库了：当初说好它最多能占多少，该找谁？",
        "order can't reach its database any more: how much of it may it take, and whom do I call?",
    ),
    kinds=("constraint",),
    focus="goal-and-constraints",
    expected=("day-1-connections", "day-1-operations"),
    first=2,
)
ON_DAY_7: Final = Asked(
    when=on(7, "18:00"),
    questions=(
        "周报：这周 order 和 checkout 在高负载下出了什么问题，瓶颈在哪？",
        "Weekly report: where were the bottlenecks of order and checkout this week?",
    ),
    focus="knowledge",
    expected=(POOL, LOAD_TEST),
    first=5,
)
ON_DAY_10: Final = Asked(
    when=on(10, "09:00"),
    questions=(
        "今天支付上线，JWT 迁移也在排队：有哪些要求不能违反？",
        "Payment goes live today and the JWT switch is next: which requirements hold?",
    ),
    focus="goal-and-constraints",
    expected=tuple(told.id for told in DAY_1),
    first=3,
)


def first_day(now: datetime) -> datetime:
    """Return the start of day 1: a Monday, so that the two weeks are over *now*."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight - timedelta(days=midnight.weekday()) - END


def until(when: timedelta, *, since: timedelta = timedelta(0)) -> list[Told]:
    """Return the scenario's events from *since* on and before *when*."""
    return [told for told in TRACKER.events if since <= told.when < when]


TRACKER: Final = Scenario(
    agent=AGENT,
    project=PROJECT,
    events=tuple(sorted(chain(DAY_1, DAY_3, DAY_5, DAY_8, CHATTER), key=lambda told: told.when)),
)
