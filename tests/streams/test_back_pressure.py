"""Back-pressure: while a store is slow nothing more is read, and appends go on."""

from mnemolog.streams.memory_log import InMemoryLog
from support.dispatching import WITHIN_SECONDS, Gated, holds, running, say
from support.texts import Texts

RECORDS_MAX = 5
TEXTS = [f"{number}" for number in range(60)]


class CountedLog(InMemoryLog):
    """A log that counts the records that its readers handed out."""

    handed_out = 0

    def reader(self, start, **more):
        reader = super().reader(start, **more)
        poll = reader.poll

        def counted(**asked):
            found = poll(**asked)
            self.handed_out += len(found)
            return found

        reader.poll = counted
        return reader


class Late(Texts):
    """Texts that note how much was handed out and not applied whenever a batch comes."""

    def __init__(self, path, log):
        super().__init__(path)
        self._log = log
        self._applied = 0
        self.waiting_most = 0

    def apply(self, batch):
        self.waiting_most = max(self.waiting_most, self._log.handed_out - self._applied)
        super().apply(batch)
        self._applied += len(batch.items)


def test_while_a_store_is_slow_one_batch_waits_and_the_log_takes_what_comes(tmp_path):
    log, slow = CountedLog("tests"), Gated(tmp_path / "slow.db")
    say(log, TEXTS[0])
    with running(log, slow, records_max=RECORDS_MAX) as dispatcher:
        assert slow.inside.wait(WITHIN_SECONDS)
        for text in TEXTS[1:]:
            say(log, text)
        assert log.handed_out == 1
        slow.gate.set()
        holds(dispatcher, slow, *TEXTS)
    assert log.handed_out == len(TEXTS)


def test_however_far_behind_it_is_no_more_than_a_batch_is_in_memory(tmp_path):
    log = CountedLog("tests", partitions=4)
    late = Late(tmp_path / "late.db", log)
    for number, text in enumerate(TEXTS):
        say(log, text, agent=f"ops-{number % 7}")
    with running(log, late, records_max=RECORDS_MAX) as dispatcher:
        dispatcher.wait_until(
            lambda: log.handed_out == len(TEXTS), what="reading", timeout_seconds=WITHIN_SECONDS
        )
    assert 0 < late.waiting_most <= RECORDS_MAX
