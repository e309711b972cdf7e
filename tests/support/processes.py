"""Other processes that use a folder: started with a script, spoken to by lines, ended for sure."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

ANSWER_SECONDS_MAX = 120

# A process with one Memory: evaluates what it is sent, one expression a line, and answers in JSON.
SERVE = """
import json, sys
from mnemolog import Memory
from mnemolog.projections.kinds import NAMES
options = json.loads(sys.argv[1])
with Memory(**options) as memory:
    print(json.dumps("open"), flush=True)
    for line in sys.stdin:
        try:
            answer = eval(line)
        except Exception as error:
            answer = f"{type(error).__name__}: {error}"
        print(json.dumps(answer, default=str), flush=True)
"""


class Other:
    """Another process with a Memory of its own, called `memory` in what it is asked."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(self, expression: str) -> Any:
        """Return what *expression* is over there, as JSON."""
        self.tell(expression)
        return self.hear()

    def tell(self, expression: str) -> None:
        """Let it begin with *expression*; `hear` gives the answer."""
        self._process.stdin.write(expression + "\n")
        self._process.stdin.flush()

    def hear(self) -> Any:
        """Return the next answer."""
        line = self._process.stdout.readline()
        assert line, f"it died: {self._process.wait(10)}"
        return json.loads(line)

    def kill(self) -> None:
        """Kill it with SIGKILL."""
        self._process.kill()
        self._process.wait(ANSWER_SECONDS_MAX)

    def end(self) -> int:
        """Let it close its memory and end; return its exit code."""
        self._process.stdin.close()
        return self._process.wait(ANSWER_SECONDS_MAX)


@contextmanager
def other(data: Any, **options: Any) -> Iterator[Other]:
    """Start another process with a Memory on *data*; it is killed at the block's end."""
    given = json.dumps(
        {"data": str(data), "embedder": "hashing", "record_recalls": False, **options}
    )
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, given],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    )
    try:
        started = Other(process)
        assert started.hear() == "open"
        yield started
    finally:
        process.kill()
        process.wait(ANSWER_SECONDS_MAX)
        process.stdin.close()
        process.stdout.close()


def command(*arguments: str, data: Any, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run a command of the command line on *data*."""
    return subprocess.run(
        [sys.executable, "-m", "mnemolog.cli.main", *arguments, "--data", str(data)],
        input=stdin,
        capture_output=True,
        timeout=ANSWER_SECONDS_MAX,
        check=False,
    )
