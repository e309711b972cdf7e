"""A real Apache Kafka broker on this machine, without Docker: for tests, and for `make kafka`.

One KRaft node from Maven's jars on Java 17. It listens on the loopback interface only. What it has
acknowledged outlives `kill` and `restart`, since its folder and its port stay. A broker never
outlives the process that started it, however that one ends.

As a command: `python tests/support/kafka_broker.py run --port 9092 --dir .kafka/data`. Only the
standard library is used.
"""

import argparse
import base64
import contextlib
import hashlib
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Final, Self

POM: Final = Path(__file__).parent / "kafka" / "pom.xml"
LIBS: Final = Path(__file__).parents[2] / ".kafka" / "libs"
HOST: Final = "127.0.0.1"
HEAP: Final = "-Xmx512m"
JAVA_MIN: Final = 17
QUIET: Final = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
FETCH_SECONDS_MAX: Final = 600.0
FORMAT_SECONDS_MAX: Final = 120.0
START_SECONDS_MAX: Final = 120.0
STOP_SECONDS_MAX: Final = 30.0
PAUSE_SECONDS: Final = 0.1

# An ApiVersions request, version 0, from a client without a name: any ready broker answers it.
HELLO: Final = struct.pack(">ihhih", 10, 18, 0, 1, -1)

# One node, so every factor is 1. A killed broker's registration has to expire before it may come
# back: the short session makes that 4 seconds rather than 12. Topics choose their own time stamps.
PROPERTIES: Final = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@{host}:{controller_port}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://{host}:{port},CONTROLLER://{host}:{controller_port}
advertised.listeners=PLAINTEXT://{host}:{port}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={data}
auto.create.topics.enable=false
broker.session.timeout.ms=2000
broker.heartbeat.interval.ms=500
group.initial.rebalance.delay.ms=0
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
log.cleaner.dedupe.buffer.size=16777216
"""


class KafkaUnavailable(Exception):
    """This machine can't run a broker; the message says what is missing."""


class KafkaBroker:
    """One broker over one folder, which may hold the data of an earlier one.

    With port 0 it takes the port that the folder's last broker had, or a free one. `with` starts
    and stops it. *extra* are properties that go before its own.
    """

    def __init__(self, folder: Path, *, port: int = 0, extra: str = "") -> None:
        self.folder = folder.absolute()
        self._properties = self.folder / "server.properties"
        self._extra = extra
        self.port = port or self._last_port() or free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._guard: subprocess.Popen[bytes] | None = None

    @property
    def bootstrap(self) -> str:
        """The address that clients connect to, as host:port."""
        return f"{HOST}:{self.port}"

    def start(self, *, within_seconds: float = START_SECONDS_MAX) -> Self:
        """Start the broker and return when it answers.

        Raises `KafkaUnavailable` without Java, Maven or the jars, and `RuntimeError` with the end
        of the broker's own log when it stops or does not answer in time.
        """
        assert self._process is None, "the broker runs already"
        check_java()
        classpath = f"{jars()}/*"
        self._prepare(classpath)
        self._launch(classpath)
        try:
            self._wait(within_seconds)
        except BaseException:
            self.kill()
            raise
        return self

    def stop(self, *, within_seconds: float = STOP_SECONDS_MAX) -> None:
        """End the broker in good order; kill it when that takes longer than *within_seconds*."""
        if self._process is None:
            return
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(within_seconds)
        self.kill()

    def kill(self) -> None:
        """End the broker at once (SIGKILL), as a power cut would, if it runs."""
        for process in (self._guard, self._process):
            if process is not None:
                process.kill()
                process.wait()
        self._guard = self._process = None

    def restart(self, *, within_seconds: float = START_SECONDS_MAX) -> None:
        """Start the broker again on the same folder and port, stopping it first if it runs."""
        self.stop()
        self.start(within_seconds=within_seconds)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *error: object) -> None:
        self.stop()

    def _last_port(self) -> int:
        if not self._properties.exists():
            return 0
        lines = dict(line.split("=", 1) for line in self._properties.read_text().splitlines())
        return int(lines["advertised.listeners"].rpartition(":")[2])

    def _prepare(self, classpath: str) -> None:
        """Write the properties, and format the storage where that was not done yet."""
        self.folder.mkdir(parents=True, exist_ok=True)
        text = PROPERTIES.format(
            host=HOST, port=self.port, controller_port=free_port(), data=self.folder / "log"
        )
        self._properties.write_text(text + self._extra)
        if not (self.folder / "log" / "meta.properties").exists():
            self._format(classpath)

    def _format(self, classpath: str) -> None:
        cluster = (
            base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=").replace("-", "A")
        )
        tool = ["kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(self._properties)]
        command = [_tool("java"), QUIET, "-cp", classpath, *tool]
        done = _ran(command, seconds_max=FORMAT_SECONDS_MAX)
        if done.returncode:
            raise RuntimeError(f"Kafka's storage was not formatted:\n{done.stdout}{done.stderr}")

    def _launch(self, classpath: str) -> None:
        command = [_tool("java"), HEAP, QUIET, "-cp", classpath, "kafka.Kafka"]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [*command, str(self._properties)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is ours to handle
            )
        # When we die, however, the guard's standard input ends, and it ends the broker.
        watch = 'cat >/dev/null; kill -9 "$0"'
        self._guard = subprocess.Popen(
            ["sh", "-c", watch, str(self._process.pid)],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )

    def _wait(self, within_seconds: float) -> None:
        assert self._process is not None
        deadline = time.monotonic() + within_seconds
        while not answers(self.port):
            if self._process.poll() is not None:
                raise RuntimeError(f"Kafka stopped at its start:\n{self._log_end()}")
            if time.monotonic() > deadline:
                raise RuntimeError(f"no answer within {within_seconds:g} s:\n{self._log_end()}")
            time.sleep(PAUSE_SECONDS)

    @property
    def _log(self) -> Path:
        return self.folder / "broker.log"

    def _log_end(self) -> str:
        return self._log.read_text(errors="replace")[-4000:]


def answers(port: int) -> bool:
    """Say whether a broker on *port* answers requests, which is later than its port opens."""
    with contextlib.suppress(OSError), socket.create_connection((HOST, port), timeout=2) as talk:
        talk.sendall(HELLO)
        return len(talk.recv(8, socket.MSG_WAITALL)) == 8
    return False


def free_port() -> int:
    """Return a loopback port that nobody listens on now."""
    with socket.create_server((HOST, 0)) as server:
        return int(server.getsockname()[1])


def check_java() -> None:
    """Raise `KafkaUnavailable` unless the Java on the path is new enough for the broker."""
    said = _ran([_tool("java"), "-version"], seconds_max=FORMAT_SECONDS_MAX).stderr
    version = re.search(r'version "(\d+)', said)
    if version is None or int(version[1]) < JAVA_MIN:
        raise KafkaUnavailable(f"Java {JAVA_MIN} or newer is needed; java -version says: {said}")


def jars() -> Path:
    """Return the folder of the broker's jars, fetching them with Maven the first time.

    The folder is named after the pom's content and appears whole or not at all, so several
    processes may ask at once.
    """
    home = Path(os.environ.get("MNEMOLOG_KAFKA_HOME") or LIBS)
    wanted = home / hashlib.sha256(POM.read_bytes()).hexdigest()[:12]
    if not wanted.is_dir():
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=home) as draft:
            _fetch(Path(draft) / "jars")
            with contextlib.suppress(OSError):  # another process was first: its jars are as good
                (Path(draft) / "jars").rename(wanted)
    return wanted


def _fetch(into: Path) -> None:
    goal = ["dependency:copy-dependencies", f"-DoutputDirectory={into}", "-DincludeScope=runtime"]
    command = [_tool("mvn"), "-q", "-B", "-f", str(POM), *goal]
    done = _ran(command, seconds_max=FETCH_SECONDS_MAX)
    if done.returncode:
        raise KafkaUnavailable(f"Maven did not fetch Kafka's jars:\n{done.stdout[-2000:]}")


def _ran(command: list[str], *, seconds_max: float) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=seconds_max)


def _tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise KafkaUnavailable(f"{name} is missing: a Kafka broker needs Java {JAVA_MIN} and Maven")
    return found


def main() -> None:
    """Fetch the jars, or run a broker until it is interrupted."""
    parser = argparse.ArgumentParser(description="A Kafka broker for tests and trials.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("fetch", help="fetch the jars")
    run = commands.add_parser("run", help="run a broker until Ctrl-C")
    run.add_argument("--port", type=int, default=9092)
    run.add_argument("--dir", type=Path, default=Path(".kafka/data"))
    arguments = parser.parse_args()
    if arguments.command == "fetch":
        print(jars())
    else:
        _run(arguments.dir, arguments.port)


def _run(folder: Path, port: int) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    with KafkaBroker(folder, port=port) as broker, contextlib.suppress(KeyboardInterrupt):
        print(f"Kafka answers on {broker.bootstrap}; its data is in {folder}. Ctrl-C stops it.")
        signal.pause()


if __name__ == "__main__":
    main()
