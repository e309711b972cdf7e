"""Which memories are without their vector."""

from collections.abc import Iterator
from typing import Final

from mnemolog.doctor.finding import Finding
from mnemolog.doctor.patient import Patient
from mnemolog.ledgers import vectors_outstanding, without_vector

NAME: Final = "vectors"
UNSEEN: Final = "blank"  # a text of base64 or marks alone has nothing to embed: that is no fault
BY_WORDS: Final = (
    "They are found by their words alone; `mnemolog rebuild memories --embedder NAME` asks another."
)
FOLLOW: Final = "They are found by their words meanwhile; a process that projects fills them in."


def check(patient: Patient) -> Iterator[Finding]:
    """Say how many memories wait for their vector, and how many can have none."""
    if patient.engine is None:
        return
    left = vectors_outstanding(patient.engine)
    detail = f"{left} memories wait for their vector"
    yield Finding(NAME, "look" if left else "ok", detail, advice=FOLLOW if left else "")
    for reason, memories in without_vector(patient.engine).items():
        if reason != UNSEEN:
            detail = f"memories that can have no vector ({reason}): {memories}"
            bundled = f"memories that can have no vector: {memories}"
            yield Finding(NAME, "look", detail, advice=BY_WORDS, bundled=bundled)
