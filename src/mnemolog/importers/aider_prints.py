"""What a line means that Aider prints."""

import re
from dataclasses import dataclass
from typing import Any, Final, Literal

from mnemolog.importers.usage import model_use

_COMMIT: Final = re.compile(r"Commit ([0-9a-f]{6,40})\b ?(.*)", re.DOTALL)
_APPLIED: Final = re.compile(r"Applied edit to (.+)")
_MISSED: Final = re.compile(r"## \w+: This SEARCH block failed to .* in (.+)")
_OTHERS_APPLIED: Final = re.compile(r"# The other \d+ SEARCH/REPLACE blocks? (?:was|were) applied")
_UNFIT: Final = re.compile(r"The LLM did not conform to the \S* ?edit format")
_MODEL: Final = re.compile(r"(?:Main model|Models?): (.+?) with .*format")
_BROKEN: Final = re.compile(r"Attempt to fix (lint|test) errors\?")
_REMOVED: Final = re.compile(r"(?:Removed|Commit): ?([0-9a-f]{6,40})\b")
_TOKENS: Final = re.compile(r"Tokens: .*\b(?:sent|received)\b")
_COUNT: Final = re.compile(r"\b([0-9][0-9,]{0,15}(?:\.[0-9]{1,9})?)(k|M|) (sent|received)\b")
_COST: Final = re.compile(r"Cost: \$([0-9,]{0,15}\.?[0-9]{1,9}) (?:request|message|send)")
_THOUSANDS: Final = {"": 1, "k": 1_000, "M": 1_000_000}
# What tells nothing of the work: the program's own state, and how it was left.
_CHATTER: Final = re.compile(
    r"\^C (?:again to exit|KeyboardInterrupt)|Aider v\S+|Git repo: .*|Repo-map: .*"
    r"|Use /help <question> .*|You can use /undo .*|VSCode terminal detected.*"
)

Kind = Literal[
    "chatter",
    "model",
    "spent",
    "applied",
    "missed",
    "others applied",
    "unfit",
    "commit",
    "broken",
    "removed",
    "rest",
]


@dataclass(frozen=True, slots=True)
class Print:
    """A print: what it is, and what it is about (a path, a hash, a model, a tool)."""

    kind: Kind
    about: str = ""
    text: str = ""


def print_of(text: str) -> Print:
    """Return what *text* means."""
    first = text.partition("\n")[0].strip()
    if not text.strip() or _CHATTER.fullmatch(first):
        return Print("chatter")
    if commit := _COMMIT.fullmatch(text):
        return Print("commit", commit[1], commit[2].strip() or commit[1])
    marks: tuple[tuple[Kind, re.Pattern[str]], ...] = (
        ("applied", _APPLIED),
        ("missed", _MISSED),
        ("others applied", _OTHERS_APPLIED),
        ("unfit", _UNFIT),
        ("model", _MODEL),
        ("broken", _BROKEN),
        ("removed", _REMOVED),
        ("spent", _TOKENS),
    )
    for kind, mark in marks:
        if found := mark.match(first):
            about = found[1] if mark.groups else ""
            return Print(kind, about, text)
    return Print("rest", text=text)


def use_of(text: str, model: str | None) -> dict[str, Any] | None:
    """Return what the line "Tokens: ..." says of a use of *model*.

    >>> use_of("Tokens: 2.5k sent, 1,090 received. Cost: $0.02 request, $0.30 session.", "m")
    {'model': 'm', 'tokens_in': 2500, 'tokens_out': 1090, 'cost_usd': 0.02}
    """
    counts = {
        name: round(float(number.replace(",", "")) * _THOUSANDS[unit])
        for number, unit, name in _COUNT.findall(text)
    }
    cost = _COST.search(text)
    usage = {"tokens_sent": counts.get("sent"), "tokens_received": counts.get("received")}
    spent = float(cost[1].replace(",", "")) if cost else None
    return model_use(model, usage, cost_usd=spent)
