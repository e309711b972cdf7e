"""How long the property tests look, and whether at the same examples each time: by environment.

`MNEMOLOG_EXAMPLES_TIMES=20 pytest tests/properties` looks at twenty times as many.
"""

import os
from typing import Final

DEFAULT_EXAMPLES: Final = 100  # Hypothesis's own


def examples_times() -> int:
    """Return how many times more examples than usual are wanted."""
    return int(os.environ.get("MNEMOLOG_EXAMPLES_TIMES", "1"))


def profile_wanted() -> str:
    """Return the profile that the environment names, or the one for where this runs."""
    here = "ci" if os.environ.get("CI") == "true" else "mnemolog"
    return os.environ.get("MNEMOLOG_PROFILE", here)
