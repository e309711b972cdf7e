"""Processes of the product that scenarios start: what they log, what they hold, and their end."""

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

LOOK_SECONDS: Final = 0.02
WAIT_SECONDS_MAX: Final = 600.0
END_SECONDS_MAX: Final = 60.0
QUIET: Final = {"MNEMOLOG_PROCESSORS": "no", "MNEMOLOG_RECORD_RECALLS": "no"}
TICKS_A_SECOND: Final = os.sysconf("SC_CLK_TCK")


class Started:
    """A `mnemolog` command that runs, and its lines so far with the time each came at."""

    def __init__(self, *arguments: str) -> None:
        self.began = time.monotonic()
        self.lines: list[tuple[float, dict[str, Any]]] = []
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mnemolog.cli.main", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, **QUIET},
        )
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def tells(self, wanted: Callable[[dict[str, Any]], bool], *, since: float = 0.0) -> float:
        """Return when it told a line that is *wanted*, at *since* or later; wait for it."""
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        while True:
            for at, line in list(self.lines):
                if at >= since and wanted(line):
                    return at
            assert self.process.poll() is None, f"it ended: {self.lines[-8:]}"
            assert time.monotonic() < deadline, f"not told in time: {self.lines[-8:]}"
            time.sleep(LOOK_SECONDS)

    def ready(self, tenant: str, *, since: float = 0.0) -> float:
        """Return when the worker said that all of *tenant* was applied."""
        return self.tells(
            lambda line: line["event"] == "tenant ready" and line.get("tenant") == tenant,
            since=since,
        )

    def owned(self, tenant: str, *, since: float = 0.0) -> float:
        """Return when the worker said that it owns *tenant*."""
        return self.tells(
            lambda line: line["event"] == "tenants owned" and tenant in line["tenants"],
            since=since,
        )

    def resident_bytes(self) -> int:
        """Return how much memory it has now."""
        return self._status("VmRSS")

    def peak_bytes(self) -> int:
        """Return how much memory it has had at most."""
        return self._status("VmHWM")

    def cpu_seconds(self) -> float:
        """Return how long all CPUs have worked for it."""
        stat = Path(f"/proc/{self.process.pid}/stat").read_text()
        user, system = stat.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / TICKS_A_SECOND

    def kill(self) -> float:
        """Kill it with SIGKILL, and return when. Harmless twice."""
        at = time.monotonic()
        self.process.kill()
        self.process.wait(END_SECONDS_MAX)
        return at

    def stop(self) -> None:
        """Tell it to stop, and wait until it has."""
        self.process.terminate()
        self.process.wait(END_SECONDS_MAX)

    def _status(self, name: str) -> int:
        told = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(rf"{name}:\s+(\d+) kB", told)
        assert found is not None, "Linux tells it"
        return 1024 * int(found[1])

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            try:
                told = json.loads(line)
            except ValueError:
                told = {"event": line.rstrip()}
            self.lines.append((time.monotonic(), told))


def launched_worker(log: str, data: Path, tenant: str, *arguments: str) -> Started:
    """Start a worker of *tenant*; whoever calls ends it."""
    where = ("--log", log, "--data", str(data), "--tenant", tenant, "--health-listen", "no")
    return Started("worker", *where, *arguments)


@contextmanager
def worker(log: str, data: Path, tenant: str, *arguments: str) -> Iterator[Started]:
    """Run a worker of *tenant* until the block's end."""
    one = launched_worker(log, data, tenant, *arguments)
    try:
        yield one
    finally:
        one.kill()


@contextmanager
def service(data: Path, *arguments: str) -> Iterator[str]:
    """Run a service of the folder *data* until the block's end; give its address."""
    where = ("--data", str(data), "--port", "0", "--health-listen", "no")
    one = Started("serve", *where, *arguments)
    try:
        said = "listening at "
        one.tells(lambda line: line["event"].startswith(said))
        told = (line["event"] for _, line in one.lines)
        yield next(line.removeprefix(said) for line in told if line.startswith(said))
    finally:
        one.kill()
