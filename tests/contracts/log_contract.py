"""What every log does. A subclass gives the fixture `engine` (`support.log_engines.LogEngine`)."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from contracts.log_appending import AppendingContract
from contracts.log_continuity import ContinuityContract
from contracts.log_reading import ReadingContract
from support.log_records import (
    everything,
    numbered,
)

LOG_PROCESS = Path(__file__).parents[1] / "support" / "log_process.py"


class LogContract(AppendingContract, ReadingContract, ContinuityContract):
    """Of one handle in one process."""


class SharedLogContract(LogContract):
    """Of several handles and processes, for engines whose log outlives them."""

    def test_what_was_acknowledged_is_there_for_the_next_handle(self, engine):
        log = engine.open(partitions=2)
        appended = log.append([numbered(n, key=b"agent-%d" % n) for n in range(30)])
        log.close()
        again = engine.open(partitions=2)
        assert [record.position for record in everything(again)] == sorted(appended)
        assert again.partitions == 2

    def test_an_append_through_another_handle_wakes_who_waits(self, engine):
        log, other = engine.open(), engine.open()
        with ThreadPoolExecutor(1) as threads:
            woken = threads.submit(log.wait, {0: 0}, timeout_seconds=60)
            other.append([numbered(1)])
            assert woken.result(60)

    def test_a_process_is_woken_by_another_process(self, engine):
        log = engine.open()
        with self.process(engine, "wait", "60") as waiting:
            assert waiting.stdout.readline() == "waiting\n"
            log.append([numbered(1)])
            assert waiting.stdout.readline() == "True\n"

    def test_two_appending_processes_lose_nothing_and_share_the_offsets(self, engine):
        log = engine.open(partitions=2)
        with (
            self.process(engine, "append", "one", "40") as one,
            self.process(engine, "append", "two", "40") as two,
        ):
            said = [line.split() for part in (one, two) for line in part.stdout]
        found = everything(log)
        assert {str(r.position): r.value.decode() for r in found} == dict(said)
        assert len(found) == len(said) == 80
        for name in ("one", "two"):
            mine = [r.value.decode() for r in found if r.key == name.encode()]
            assert mine == [f"{name}-{n}" for n in range(40)]

    def test_a_process_killed_right_after_an_acknowledgement_has_lost_nothing(self, engine):
        log = engine.open(partitions=2)
        said = []
        with self.process(engine, "append", "doomed", "100000") as doomed:
            said = [doomed.stdout.readline().split() for _ in range(10)]
            doomed.kill()
            said += [line.split() for line in doomed.stdout]
        there = {str(record.position): record.value.decode() for record in everything(log)}
        assert dict(said).items() <= there.items()
        assert len(there) - len(said) in {0, 1}  # one may stand that was not yet told

    @staticmethod
    def process(engine, verb, *arguments) -> subprocess.Popen[str]:
        command = [sys.executable, str(LOG_PROCESS), verb, engine.address, engine.tenant]
        return subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE, text=True)
