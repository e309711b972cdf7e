"""What the agent of scenario 1 builds: signed tokens that rest on what it recalled.

From the user schema comes `session_version`: raised by one it ends every session of an account.
From the session-token fault comes the leeway: servers' clocks differ. A trial, not for use.
"""

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

LEEWAY_SECONDS: Final = 60
LIFE_SECONDS: Final = 900
_HEADER: Final = {"alg": "HS256", "typ": "JWT"}


@dataclass(frozen=True, slots=True)
class User:
    """The columns of `users` that a token rests on."""

    id: str
    role: str
    session_version: int


def issue(user: User, *, at: int, key: bytes) -> str:
    """Return a JWT for *user*, valid from *at*, in seconds since 1970."""
    claims = {
        "sub": user.id,
        "role": user.role,
        "sv": user.session_version,
        "iat": at,
        "exp": at + LIFE_SECONDS,
    }
    signed = f"{_part(_HEADER)}.{_part(claims)}"
    return f"{signed}.{_signature(signed, key)}"


def refusal(token: str, user: User, *, at: int, key: bytes) -> str | None:
    """Return why *token* is refused for *user* by a server whose clock says *at*, or None."""
    signed, _, signature = token.rpartition(".")
    if not hmac.compare_digest(signature, _signature(signed, key)):
        return "signature"
    claims = json.loads(_bytes(signed.partition(".")[2]))
    if not claims["iat"] - LEEWAY_SECONDS <= at < claims["exp"] + LEEWAY_SECONDS:
        return "time"
    return None if claims["sv"] == user.session_version else "session version"


def trial(*, at: int, key: bytes) -> str:
    """Issue a token and check it as the team's history asks; return what was found."""
    user = User("0190-7f3e", "customer", session_version=3)
    token = issue(user, at=at, key=key)
    signed_out = replace(user, session_version=4)
    found = {
        "clock 40 s behind": refusal(token, user, at=at - 40, key=key),
        "signed out everywhere": refusal(token, signed_out, at=at, key=key),
        "an hour later": refusal(token, user, at=at + 3_600, key=key),
        "another key": refusal(token, user, at=at, key=key + b"!"),
    }
    told = (f"{case}: {why or 'accepted'}" for case, why in found.items())
    return "; ".join(told)


def _part(value: Mapping[str, object]) -> str:
    return _text(json.dumps(value, separators=(",", ":")).encode())


def _signature(signed: str, key: bytes) -> str:
    return _text(hmac.new(key, signed.encode(), hashlib.sha256).digest())


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
