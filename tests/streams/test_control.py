"""Control on each of the log's engines, and who obeys it."""

import contextlib
import itertools
import threading
from datetime import UTC, datetime, timedelta

import pytest

from contracts.control import ControlContract
from mnemolog.schemas.errors import StoreUnavailable
from mnemolog.schemas.records import NewRecord
from mnemolog.streams.control import REQUEST_SECONDS_MAX, Acknowledgement, LogControl, control_topic
from mnemolog.streams.controlling import ControlHost, Obeyed
from mnemolog.streams.kafka_log import KafkaLog
from mnemolog.streams.kafka_topics import TopicSettings
from mnemolog.streams.memory_log import InMemoryLog
from mnemolog.streams.sqlite_log import SQLiteLog
from support.polling import eventually


class _Closing(ControlContract):
    def made(self, request):
        raise NotImplementedError

    @pytest.fixture
    def opened(self, request):
        make = self.made(request)
        with contextlib.ExitStack() as stack:

            def opened():
                return stack.enter_context(contextlib.closing(LogControl(make())))

            yield opened


class TestControlInMemory(_Closing):
    def made(self, request):
        log = InMemoryLog("acme")
        return lambda: log


class TestControlInAFile(_Closing):
    def made(self, request):
        path = request.getfixturevalue("tmp_path") / "control.db"
        return lambda: SQLiteLog.open(path, tenant="acme", partitions=1)


@pytest.mark.kafka
class TestControlOnATopic(_Closing):
    def made(self, request):
        bootstrap = request.getfixturevalue("kafka").bootstrap
        topic = control_topic(request.getfixturevalue("tenant"))
        return lambda: KafkaLog.open_topic(bootstrap, topic, TopicSettings(1))


# Who obeys


@pytest.fixture
def log():
    with contextlib.closing(InMemoryLog("acme")) as log:
        yield log


class Keeper:
    """Notes what it is told, and does what a test wants."""

    def __init__(self, log, *, by="bob", obey=None, now=None):
        self.did, self.held = [], []
        self.control = LogControl(log)
        self.host = ControlHost(
            lambda: self.control,
            obey or self._obey,
            hold=self.held.append,
            by=by,
            now=now or (lambda: datetime.now(UTC)),
        )

    def _obey(self, request):
        self.did.append(request.verb)
        return Obeyed("done", f"{request.verb} done")


def ends(log):
    told = LogControl(log).asked()
    return [(one.request.verb, one.end and (one.end.outcome, one.end.text)) for one in told]


def test_each_request_is_accepted_done_once_and_acknowledged(log):
    LogControl(log).request("pause", {}, by="ann")
    keeper = Keeper(log)
    keeper.host.look()
    keeper.host.look()
    assert keeper.did == ["pause"]
    assert ends(log) == [("pause", ("done", "pause done"))]
    (asked,) = LogControl(log).asked()
    assert [one.outcome for one in asked.acknowledgements] == ["accepted", "done"]
    assert keeper.held[-1] is True


def test_what_fails_is_acknowledged_with_why(log):
    def obey(request):
        if request.verb == "pause":
            raise StoreUnavailable("the disk", "it is full")
        raise ValueError("a bug")

    for verb in ("pause", "resume"):
        LogControl(log).request(verb, {}, by="ann")
    Keeper(log, obey=obey).host.look()
    (_, (pause, why)), (_, (resume, bug)) = ends(log)
    assert (pause, resume, bug) == ("failed", "failed", "ValueError: a bug")
    assert why == "the disk: it is full. Retry with backoff; nothing was applied."


def test_what_a_process_accepted_that_ended_is_told_to_have_failed_and_not_done_again(log):
    request = LogControl(log).request("rebuild", {}, by="ann")
    LogControl(log).acknowledge(Acknowledgement(request.id, "accepted", "", "process 1"))
    keeper = Keeper(log)
    keeper.host.look()
    assert keeper.did == []
    assert ends(log)[0][1] == ("failed", "who accepted it ended before it was done: ask again")


def test_what_waited_too_long_is_refused(log):
    LogControl(log).request("rebuild", {}, by="ann")
    later = datetime.now(UTC) + timedelta(seconds=REQUEST_SECONDS_MAX + 60)
    keeper = Keeper(log, now=lambda: later)
    keeper.host.look()
    assert keeper.did == []
    assert ends(log)[0][1][0] == "refused"


def test_long_work_holds_up_no_pause_and_only_one_runs_at_a_time(log):
    began, numbers = [], itertools.count()
    may_end = contextlib.ExitStack()
    gate = threading.Event()
    may_end.callback(gate.set)

    def obey(request):
        if request.verb == "rebuild":
            began.append(next(numbers))
            assert gate.wait(30)
        return Obeyed("done", "")

    keeper = Keeper(log, obey=obey)
    for verb in ("rebuild", "rebuild", "pause"):
        LogControl(log).request(verb, {}, by="ann")
    with may_end:
        keeper.host.look()
        eventually(lambda: began == [0], what="the first rebuild")
        keeper.host.look()
        assert began == [0]
        assert [end is not None for _, end in ends(log)] == [False, False, True]
    eventually(lambda: ends(log)[0][1], what="its end")
    eventually(lambda: keeper.host.look() or ends(log)[1][1], what="the second one")
    assert began == [0, 1]
    keeper.host.stop()


def test_what_is_no_request_is_passed(log):
    for number, value in enumerate((None, b"", b"no json", b"[]", b'{"request": {}}', b'{"x":1}')):
        log.append([NewRecord(b"k", value, (), f"{number:032x}", "0" * 32)])
    LogControl(log).request("pause", {}, by="ann")
    keeper = Keeper(log)
    keeper.host.look()
    assert keeper.did == ["pause"]
