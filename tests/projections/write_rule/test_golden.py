"""Version 1 of the write rule forms for ever what tests/golden/write_rule_v1.json says.

A test that fails here means: the rule changed. Its version has to be raised, old events keep the
old one, and this file stays. To add cases, give them without "memories" and run this file with
PYTHONPATH=tests.
"""

import json
from pathlib import Path

import pytest

from mnemolog.projections.formed_memory import FormedMemory
from mnemolog.projections.write_rule import FORMING, form
from mnemolog.schemas.codec import build
from mnemolog.schemas.policy import BUILT_IN
from mnemolog.schemas.registry import built_in
from support.histories import happened, opened

GOLDEN = Path(__file__).parents[2] / "golden" / "write_rule_v1.json"
CASES = json.loads(GOLDEN.read_text())
COVERED = (
    "id", "kind", "text", "importance", "confidence", "stated_by", "tags", "entities", "reason",
    "from_events", "from_memories",
)  # fmt: skip


def shown(memory: FormedMemory) -> dict[str, object]:
    values = {name: getattr(memory, name) for name in COVERED}
    return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}


def outcome(case: dict) -> dict[str, object]:
    model = built_in().get(case["type"])
    assert model is not None
    event, _ = build(model, case["data"])
    (recorded,) = opened(happened(event, agent="golden", event_id="golden-1"))
    formed = form(recorded, BUILT_IN)
    return {"reason": formed.reason, "memories": [shown(memory) for memory in formed.memories]}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_version_1_of_the_rule_forms_what_it_always_formed(case):
    assert BUILT_IN.write.rule == 1
    assert outcome(case) == {"reason": case["reason"], "memories": case["memories"]}


def test_every_forming_type_has_a_case():
    assert {case["type"] for case in CASES} >= FORMING


if __name__ == "__main__":
    filled = [case if "memories" in case else {**case, **outcome(case)} for case in CASES]
    GOLDEN.write_text(json.dumps(filled, ensure_ascii=False, indent=1) + "\n")
