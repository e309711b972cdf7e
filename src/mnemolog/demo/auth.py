"""Scenario 1: an agent builds an authentication module over two months, and must choose again.

Times count back from now. Three things happened to sign-in: the user schema (60 days ago), a
session-token fault and its fix (55), the password reset (50). Around them is what fills a
team's weeks (`auth_weeks`). Half a year ago there was a throw-away prototype; it lies outside
the window that the agent asks about.
"""

from datetime import timedelta
from itertools import chain
from typing import Final

from mnemolog.demo.auth_weeks import WEEKS
from mnemolog.demo.telling import (
    Scenario,
    Told,
    began,
    called,
    decided,
    ended,
    judged,
    said,
    saw,
)

AGENT: Final = "auth-builder"
PROJECT: Final = "web-shop"
TASK: Final = "jwt-login"  # what the agent has to do now
WINDOW: Final = timedelta(days=90)
KINDS: Final = ("decision", "lesson")  # what it asks for: what was decided, and what was learned

# What the agent asks before it chooses, and the same in the other language.
QUESTION: Final = "认证改用 JWT：账号里哪些信息可以带上，以前登录过期是怎么回事？"
QUESTION_IN_ENGLISH: Final = (
    "Before I issue JWTs at login: which account columns can they rely on,"
    " and what went wrong with credentials expiring before?"
)

SCHEMA: Final = "auth-schema-decided"
FAULT: Final = "auth-token-fixed"
RESET: Final = "auth-reset-decided"
PROTOTYPE: Final = "auth-prototype-decided"


def _ago(days: int, *, hours: float = 0) -> timedelta:
    return timedelta(days=-days, hours=hours)


_PROTOTYPE: Final = [
    decided(
        PROTOTYPE,
        _ago(180),
        "Prototype: sign a JWT at login with a fixed secret, valid 30 days, kept in localStorage",
        why="Enough to click through the screens; to be thrown away before anybody relies on it",
        task="auth-prototype",
    ),
]

_USER_SCHEMA: Final = [
    began("auth-schema-began", _ago(60), "设计用户表，给注册和登录用", task="user-schema"),
    decided(
        SCHEMA,
        _ago(60, hours=2),
        "用户表结构 (user schema)：主键 UUID，email 唯一且存小写，password_hash 用 argon2id，"
        "另有 role 和 session_version 两列",
        why="session_version 加一，就能让这个账号所有已登录的设备同时失效，不用逐个清理",
        task="user-schema",
        because="auth-schema-began",
        tags=("auth",),
    ),
    *called(
        "auth-schema-migrated",
        _ago(60, hours=3),
        "migrate",
        result="0007_users.sql applied in 1.2 s: 1 table, 2 unique indexes",
        task="user-schema",
        because=SCHEMA,
    ),
    judged(
        "auth-schema-judged",
        _ago(60, hours=5),
        SCHEMA,
        0.8,
        by="赵敏",
        comment="字段够用，以后加角色也不用改表",
        task="user-schema",
    ),
    ended("auth-schema-ended", _ago(59), "Migration 0007 is on staging", task="user-schema"),
]

_TOKEN_FAULT: Final = [
    said(
        "auth-token-complaint",
        _ago(55),
        "客服小周",
        "好几个用户说刚登进来就被踢回首页，一上午十几单投诉",
        task="session-token-fault",
    ),
    *called(
        "auth-token-error",
        _ago(55, hours=1),
        "pytest",
        error="test_me: 401 invalid session token: expired when issued; web-2 is 40 s ahead",
        task="session-token-fault",
        because="auth-token-complaint",
    ),
    *called(
        "auth-token-patched",
        _ago(55, hours=4),
        "pytest",
        result="41 passed after the leeway of 60 s; clocks of web-1 and web-2 are 0.3 s apart",
        task="session-token-fault",
        because="auth-token-error",
    ),
    judged(
        "auth-token-judged",
        _ago(55, hours=7),
        "auth-token-patched",
        0.9,
        by="客服小周",
        comment="恢复了，下午没有新的投诉",
        task="session-token-fault",
    ),
    ended(
        FAULT,
        _ago(55, hours=8),
        "Rolled out to both web servers",
        lesson="会话令牌 (session token) 刚签发就被判为过期，因为两台服务器的时钟差了 40 秒："
        "校验 exp 和 iat 要留 60 秒余量，库里只存令牌的哈希",
        task="session-token-fault",
        because="auth-token-patched",
        tags=("auth",),
    ),
]

_PASSWORD_RESET: Final = [
    began("auth-reset-began", _ago(50), "Let users who forgot it reset their password by mail"),
    decided(
        RESET,
        _ago(50, hours=2),
        "Password reset: a mailed link that works once and for 30 minutes; 5 mails an hour at most",
        why="A mailbox may be read by others, and the mail provider blocks senders that flood",
        task="password-reset",
        because="auth-reset-began",
        tags=("auth",),
    ),
    ended("auth-reset-ended", _ago(48), "重置密码的邮件已经上线", task="password-reset"),
]

_NOW: Final = [
    said(
        "auth-asked",
        _ago(0, hours=-2),
        "赵敏",
        "手机端排期定了，登录这块改成 JWT，你来选方案",
        task=TASK,
    ),
    began(
        "auth-began", _ago(0, hours=-1.9), "Choose how sign-in issues JWTs, and build it", task=TASK
    ),
    saw("auth-read", _ago(0, hours=-1.5), "The mobile client keeps no cookies", task=TASK),
]


def _in_order(*threads: list[Told]) -> tuple[Told, ...]:
    return tuple(sorted(chain(*threads), key=lambda told: told.when))


AUTH: Final = Scenario(
    agent=AGENT,
    project=PROJECT,
    events=_in_order(_PROTOTYPE, _USER_SCHEMA, _TOKEN_FAULT, _PASSWORD_RESET, WEEKS, _NOW),
)
