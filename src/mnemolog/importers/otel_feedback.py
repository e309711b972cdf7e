"""Scores of evaluations as feedback has them, from worst to best."""

from typing import Any, Final

NEUTRAL: Final = 0.0  # where nobody can say whether a value is good: it raises and lowers nothing
FAULTS: Final = frozenset(
    {
        *("bias", "harmfulness", "hallucination", "hate", "jailbreak", "maliciousness"),
        *("offensiveness", "profanity", "prompt-injection", "toxicity", "violence"),
    }
)  # scores of these names count a fault: 0 is best


def scaled(value: Any, *, name: str) -> float:
    """Return *value*, which goes from 0 to 1, from -1 to 1; anything else weighs nothing.

    >>> scaled(0.75, name="helpful"), scaled(0, name="Toxicity"), scaled(4, name="stars")
    (0.5, 1.0, 0.0)
    """
    if not isinstance(value, int | float) or not 0 <= value <= 1:
        return NEUTRAL
    is_fault = name.lower().replace("_", "-").replace(" ", "-") in FAULTS
    return round(2.0 * (1 - value if is_fault else value) - 1.0, 9)
