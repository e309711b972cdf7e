"""Worker processes on a real broker: started, listened to by what they log, ended for sure."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from support.polling import eventually

TAKE_OVER_SECONDS_MAX = 15.0  # what is promised after a kill
READY_SECONDS_MAX = 60.0
END_SECONDS_MAX = 60.0
THIS_RELEASE = ("-m", "mnemolog.cli.main")


class WorkerProcess:
    """A `mnemolog worker`, and what it has logged so far."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: list[dict[str, Any]] = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def told(self, event: str, **fields: Any) -> list[dict[str, Any]]:
        """Return the lines of *event* so far that have these *fields*."""
        return [
            line
            for line in list(self.lines)
            if line["event"] == event and fields.items() <= line.items()
        ]

    def tells(self, event: str, *, within_seconds: float = READY_SECONDS_MAX, **fields: Any) -> Any:
        """Wait for a line of *event* with these *fields*, and return it."""
        found = eventually(
            lambda: self.told(event, **fields) or self.process.poll() is not None,
            what=f"{event} {fields} after {self.lines[-8:]}",
            within_seconds=within_seconds,
        )
        assert found is not True, f"it ended: {self.lines[-8:]}"
        return found[0]

    @property
    def owned(self) -> list[str]:
        """The tenants that it owns by what it said last."""
        told = self.told("tenants owned")
        return told[-1]["tenants"] if told else []

    def owns(self, *tenants: str, within_seconds: float = READY_SECONDS_MAX) -> None:
        """Wait until it owns exactly *tenants*."""
        eventually(
            lambda: self.owned == sorted(tenants),
            what=f"{sorted(tenants)} owned; {self.owned} are",
            within_seconds=within_seconds,
        )

    def kill(self) -> None:
        """Kill it with SIGKILL."""
        self.process.kill()
        self.process.wait(END_SECONDS_MAX)

    def stop(self) -> int:
        """Tell it to stop, as systemd does, and return its exit code."""
        self.process.terminate()
        code = self.process.wait(END_SECONDS_MAX)
        self._thread.join(END_SECONDS_MAX)
        return code

    def _read(self) -> None:
        for line in self.process.stderr:
            try:
                self.lines.append(json.loads(line))
            except ValueError:
                self.lines.append({"event": line.rstrip(), "level": "raw"})


def launched(
    data: Any, log: str, *arguments: str, release: Sequence[str] = THIS_RELEASE, **environment: str
) -> WorkerProcess:
    """Start a worker of *release*, which is what Python runs; whoever calls ends it."""
    command = [sys.executable, *release, "worker"]
    process = subprocess.Popen(
        [*command, "--data", str(data), "--log", log, "--embedder", "hashing", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    return WorkerProcess(process)


@contextmanager
def worker(data: Any, log: str, *arguments: str, **more: Any) -> Iterator[WorkerProcess]:
    """Start a worker as `launched` does, that is killed at the block's end."""
    started = launched(data, log, *arguments, **more)
    try:
        yield started
    finally:
        started.kill()
        print(*started.lines, sep="\n")  # shown where the test fails
