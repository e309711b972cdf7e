"""Run benchmark scenarios, each in a process of its own, and print their figures as one table.

python bench/run.py                  # all that need no data from elsewhere: about 25 minutes
python bench/run.py --quick          # a rough figure of each in a few minutes
python bench/run.py append recall    # these alone
python bench/run.py quality_locomo --embedder fast --conversations 3   # one with its own arguments

The table is Markdown. How far it is, and how long each scenario took, goes to standard error.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final

from measuring import COLUMNS, Row, cells

FOLDER: Final = Path(__file__).parent
FIGURES: Final = (
    *("append", "recall", "checkpoint", "projecting", "importing"),
    *("streaming", "serving", "resident"),
)
QUALITY: Final = ("paraphrases", "quality_locomo")  # they print tables of their own
DRIVERS: Final = ("aiokafka", "duckdb", "lancedb", "pydantic")


def main() -> None:
    given, theirs = _given()
    for name in QUALITY:
        if name in given.scenarios:
            print(f"== {name} ==", flush=True)
            subprocess.run([sys.executable, FOLDER / f"{name}.py", *theirs], check=True)
    figures = [name for name in FIGURES if name in (given.scenarios or FIGURES)]
    if not figures:
        return
    options = [*theirs, *(["--quick"] if given.quick else []), "--seed", str(given.seed)]
    print(_machine())
    print()
    print(cells(COLUMNS))
    print(cells(["---"] * len(COLUMNS)), flush=True)
    failed = [name for name in figures if not _printed(name, options)]
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")
    print()
    print(f"Load afterwards: {_load()}.")


def _given() -> tuple[argparse.Namespace, list[str]]:
    every = (*FIGURES, *QUALITY)
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n", maxsplit=1)[0],
        epilog="Other arguments go to the scenarios; each has --help of its own.",
    )
    parser.add_argument("scenarios", nargs="*", metavar="scenario", help=", ".join(every))
    parser.add_argument("--quick", action="store_true", help="less of everything")
    parser.add_argument("--seed", type=int, default=20300101)
    given, theirs = parser.parse_known_args()
    for name in given.scenarios:
        if name not in every:
            parser.error(f"no scenario {name!r}; there are {', '.join(every)}")
    return given, theirs


def _printed(name: str, options: Sequence[str]) -> bool:
    """Run a scenario, print its rows as they come, and say whether it ended well."""
    began = time.monotonic()
    command = [sys.executable, str(FOLDER / f"{name}.py"), "--json", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for row in _rows(process.stdout):
            print(row.line(), flush=True)
    print(f"{name}: {time.monotonic() - began:,.0f} s", file=sys.stderr)
    return process.returncode == 0


def _rows(lines: Iterator[str]) -> Iterator[Row]:
    for line in lines:
        yield Row(**json.loads(line))


def _machine() -> str:
    drivers = ", ".join(f"{name} {version(name)}" for name in DRIVERS)
    cores = os.cpu_count()
    return (
        f"Python {platform.python_version()} on {platform.system()} {platform.machine()}, "
        f"{cores} cores; {drivers}. Load before: {_load()}."
    )


def _load() -> str:
    return " ".join(f"{one:.1f}" for one in os.getloadavg())


if __name__ == "__main__":
    main()
