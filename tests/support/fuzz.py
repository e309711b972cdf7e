"""Look longer than CI does: the property tests again and again, with other seeds, until time is up.

    python tests/support/fuzz.py --minutes 10 -k command

Each round runs every property with more examples. It says how many examples ran, and ends with 1
at the first that falsifies a property; the output names the seed, and the blob that repeats it.
"""

import argparse
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
TIMES: Final = 2  # as many examples as in CI, a round: many short rounds try more seeds
PYTEST: Final = (
    *("-m", "pytest", "tests", "-q", "-x", "-p", "no:cacheprovider", "--timeout=0"),
    *("-m", "hypothesis and not kafka", "--hypothesis-show-statistics"),
)
_PASSED: Final = re.compile(r"(\d+) passing\b")
_NAMED: Final = re.compile(r"^tests/\S+::\S+", re.MULTILINE)


def round_of(pick: str | None, *, seed: int, times: int) -> tuple[int, int, str]:
    """Run the properties once; return pytest's exit code, the examples that passed, its words."""
    command = [sys.executable, *PYTEST, f"--hypothesis-seed={seed}"]
    command += [] if pick is None else ["-k", pick]
    environment = {
        **os.environ,
        "MNEMOLOG_PROFILE": "fuzz",
        "MNEMOLOG_EXAMPLES_TIMES": str(times),
    }
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    said = done.stdout + done.stderr
    return done.returncode, sum(map(int, _PASSED.findall(said))), said


def fuzz(*, minutes: float, seed: int, times: int, pick: str | None) -> int:
    """Run rounds until *minutes* are over; return an exit code."""
    began, took, total = time.monotonic(), 0.0, 0
    rounds = 0
    while rounds == 0 or time.monotonic() - began + took / 2 < minutes * 60:
        at = time.monotonic()
        code, examples, said = round_of(pick, seed=seed + rounds, times=times)
        took, rounds, total = time.monotonic() - at, rounds + 1, total + examples
        if code != 0:
            print(said)
            print(
                f"round {rounds}, seed {seed + rounds - 1}: falsified, or pytest ended with {code}"
            )
            return 1
        properties = len(set(_NAMED.findall(said)))
        left = max(0.0, minutes - (time.monotonic() - began) / 60)
        print(
            f"round {rounds}, seed {seed + rounds - 1}: {examples:,} examples of {properties}"
            f" properties in {took:.0f} s; {left:.1f} min left",
            flush=True,
        )
    print(f"{rounds} rounds, {total:,} examples: none falsified a property")
    return 0


def main() -> None:
    """Read the arguments and look."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0, help="how long; 10")
    parser.add_argument("--seed", type=int, default=random.randrange(2**31), help="of round 1")
    parser.add_argument("--times", type=int, default=TIMES, help="examples a round, times CI's")
    parser.add_argument("-k", dest="pick", help="only the properties that pytest's -k picks")
    told = parser.parse_args()
    sys.exit(fuzz(minutes=told.minutes, seed=told.seed, times=told.times, pick=told.pick))


if __name__ == "__main__":
    main()
