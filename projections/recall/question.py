"""What an agent asks, checked whole before anything is read: every bound has its name here."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final

from mnemolog.projections.memories.rows import Filter
from mnemolog.projections.recall.focus import FOCUSES
from mnemolog.schemas.errors import InvalidSetting
from mnemolog.schemas.ids import check_name
from mnemolog.schemas.limits import NAME_BYTES_MAX, TAGS_MAX
from mnemolog.schemas.times import instant
from mnemolog.schemas.values import REPLACEMENT, UNSAFE

RECALL_HITS_MAX: Final = 50
RECALL_TOKENS_MAX: Final = 32_000  # also what an answer may have when none is named
RECALL_SECONDS_MAX: Final = 60.0
RECALL_SECONDS: Final = 5.0
QUESTION_CHARACTERS_MAX: Final = 100_000  # a pasted log; signals look at its start
KINDS_MAX: Final = 64
SIGNALS: Final = frozenset({"dense", "lexical", "latest", "neighbours", "identifiers", "weight"})

_SCOPES: Final = ("agent", "user", "project", "session", "task")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question at a time. Making one raises InvalidSetting for what is out of bounds.

    `at` is the caller's clock: ages are counted from it. With `as_of` the answer is what was
    true at that time of the world, and ages are counted from there. A blank text asks for what
    is newest and matters most within `where`. Lone surrogates and NULs in the text become
    U+FFFD. `without` names signals to leave out; `explain` adds each signal's rank and own score.
    """

    text: str
    at: datetime
    where: Filter = field(default_factory=Filter)
    hits_max: int = 10
    tokens_max: int | None = None
    focus: str = "balanced"
    timeout_seconds: float = RECALL_SECONDS
    as_of: datetime | None = None
    without: Sequence[str] = ()
    explain: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or len(self.text) > QUESTION_CHARACTERS_MAX:
            limit = f"a question is a text of at most {QUESTION_CHARACTERS_MAX} characters"
            raise InvalidSetting("question", self.text, limit)
        _check_count("hits_max", self.hits_max, RECALL_HITS_MAX)
        if self.tokens_max is not None:
            _check_count("tokens_max", self.tokens_max, RECALL_TOKENS_MAX)
        _check_seconds(self.timeout_seconds)
        _check_choice("focus", self.focus, sorted(FOCUSES))
        for name in self.without:
            _check_choice("without", name, sorted(SIGNALS))
        self._put("text", UNSAFE.sub(REPLACEMENT, self.text))
        self._put("at", instant(self.at, field="at")[0])
        if self.as_of is not None:
            self._put("as_of", instant(self.as_of, field="as_of")[0])
        self._put("where", checked_filter(self.where))

    @property
    def moment(self) -> datetime:
        """The time of the world that the answer speaks of, and from which ages are counted."""
        return self.as_of or self.at

    @property
    def tokens_allowed(self) -> int:
        """How many tokens the answer's text may have."""
        return RECALL_TOKENS_MAX if self.tokens_max is None else self.tokens_max

    def _put(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)


def seen_by(question: Question) -> Filter:
    """Return the filter that the memories' reader is asked with.

    Without `as_of` that is the question's own, with validity at the question's time. With it,
    what came later is left out, and what was replaced since is let in: `standing_then` judges it.
    """
    where = question.where
    if question.as_of is None:
        return replace(where, valid_at=where.valid_at or question.at)
    just_after = question.as_of + datetime.resolution
    ends = min(where.occurred_until or just_after, just_after)
    return replace(where, current=False, valid_at=question.as_of, occurred_until=ends)


def checked_filter(where: Filter) -> Filter:
    """Return *where* with its times in UTC; raise for names, numbers and lists out of bounds."""
    for name in _SCOPES:
        if (value := getattr(where, name)) is not None:
            check_name(value, field=name)
    _check_names("kinds", where.kinds, KINDS_MAX)
    _check_names("tags", where.tags, TAGS_MAX)
    importance = where.importance_min
    if not _is_number(importance) or not 0 <= importance <= 1:
        raise InvalidSetting("importance_min", importance, "a share has 0 to 1")
    return replace(
        where,
        occurred_from=_utc("occurred_from", where.occurred_from),
        occurred_until=_utc("occurred_until", where.occurred_until),
        valid_at=_utc("valid_at", where.valid_at),
    )


def _utc(name: str, value: datetime | None) -> datetime | None:
    return None if value is None else instant(value, field=name)[0].astimezone(UTC)


def _check_names(name: str, values: Sequence[str], count_max: int) -> None:
    is_list = isinstance(values, Collection) and not isinstance(values, str | bytes | Mapping)
    if not is_list or len(values) > count_max:
        raise InvalidSetting(name, values, f"a list of at most {count_max} names")
    for value in values:
        if (
            not isinstance(value, str)
            or not 1 <= len(value.encode(errors="replace")) <= NAME_BYTES_MAX
        ):
            raise InvalidSetting(name, value, f"a name has 1 to {NAME_BYTES_MAX} bytes")


def _check_count(name: str, value: Any, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise InvalidSetting(name, value, f"a whole number from 1 to {most}")


def _check_seconds(value: Any) -> None:
    if not _is_number(value) or not 0 <= value <= RECALL_SECONDS_MAX:
        raise InvalidSetting("timeout_seconds", value, f"0 to {RECALL_SECONDS_MAX:g} seconds")


def _check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise InvalidSetting(name, value, f"one of {', '.join(choices)}")


def _is_number(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)
