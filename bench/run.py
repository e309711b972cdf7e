"""Run benchmark scenarios by name, each in a process of its own; none runs those that need no data.

python bench/run.py                  # projecting, paraphrases
python bench/run.py quality_locomo   # needs the LoCoMo sample beside the project
python bench/run.py projecting --events 100000
"""

import argparse
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
WITHOUT_DATA = ("projecting", "paraphrases")
SCENARIOS = (*WITHOUT_DATA, "quality_locomo")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("scenarios", nargs="*", metavar="scenario", help=", ".join(SCENARIOS))
    given, theirs = parser.parse_known_args()
    for name in given.scenarios or WITHOUT_DATA:
        if name not in SCENARIOS:
            parser.error(f"no scenario {name!r}; there are {', '.join(SCENARIOS)}")
        print(f"== {name} ==", flush=True)
        subprocess.run([sys.executable, FOLDER / f"{name}.py", *theirs], check=True)


if __name__ == "__main__":
    main()
