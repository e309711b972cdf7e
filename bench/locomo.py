"""LoCoMo's conversations as memories and questions, with the audit's corrections applied.

One memory a turn: "speaker: text", and what a shared picture shows. The data stay where they are:
nothing of them is copied here.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

CATEGORIES: Final = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single", 5: "adversarial"}
_TURN_ID: Final = re.compile(r"D\d+:\d+")
_TIME_FORMAT: Final = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True)
class Turn:
    id: str
    session: str
    speaker: str
    text: str
    occurred_at: datetime


@dataclass(frozen=True)
class Asked:
    text: str
    category: str
    evidence: frozenset[str]


@dataclass(frozen=True)
class Conversation:
    name: str
    turns: Sequence[Turn]
    questions: Sequence[Asked]

    @property
    def ends_at(self) -> datetime:
        return max(turn.occurred_at for turn in self.turns)


def conversations(folder: Path, *, numbers: Sequence[int]) -> list[Conversation]:
    """Return the conversations of *numbers*; questions without evidence are left out."""
    every = json.loads((folder / "locomo5.json").read_text())
    return [_conversation(every[n], _corrections(folder, n), name=f"locomo_{n}") for n in numbers]


def _conversation(
    raw: Mapping[str, Any], corrections: Mapping[str, list[str]], *, name: str
) -> Conversation:
    turns = list(_turns(raw["conversation"], name))
    known = {turn.id for turn in turns}
    questions = []
    for number, item in enumerate(raw["qa"]):
        cited = corrections.get(f"{name}_qa{number}", item.get("evidence", []))
        evidence = {found for text in cited for found in _TURN_ID.findall(text)} & known
        if evidence:
            category = CATEGORIES[item["category"]]
            questions.append(Asked(item["question"], category, frozenset(evidence)))
    return Conversation(name, turns, questions)


def _turns(raw: Mapping[str, Any], name: str) -> Iterator[Turn]:
    number = 1
    while f"session_{number}_date_time" in raw:
        session = f"session_{number}"
        began = _instant(raw[f"{session}_date_time"])
        for place, turn in enumerate(raw.get(session, [])):
            text = f"{turn['speaker']}: {turn['text']}"
            if caption := turn.get("blip_caption"):
                text += f" [picture: {caption}]"
            occurred = began + timedelta(seconds=20 * place)
            yield Turn(turn["dia_id"], f"{name}/{session}", turn["speaker"], text, occurred)
        number += 1


def _instant(text: str) -> datetime:
    return datetime.strptime(text.upper().replace(" ON ", " on "), _TIME_FORMAT).replace(tzinfo=UTC)


def _corrections(folder: Path, number: int) -> dict[str, list[str]]:
    path = folder / "audit" / f"errors_conv_{number}.json"
    return {e["question_id"]: e["correct_evidence"] for e in json.loads(path.read_text())}
