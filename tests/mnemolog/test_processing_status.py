"""How processors stand is told wherever one looks: status, doctor, the command line."""

from mnemolog import Memory
from mnemolog.doctor.examining import examine
from mnemolog.processors import PROCESSORS, hosted
from mnemolog.schemas.records import NewRecord
from mnemolog.schemas.values import json_bytes, parse_json
from mnemolog.status import status
from mnemolog.streams.processors.checkpoints import CheckpointProcessor
from support.polling import eventually


class Failing(CheckpointProcessor):
    """Can't make of ann's events what it is to make."""

    async def process(self, causes, context):
        if any(cause.recorded.key == "ann" for cause in causes):
            raise ValueError("a secret that nobody is to read")
        return await super().process(causes, context)


def opened(folder, **more):
    return Memory(folder, embedder="hashing", projects=False, processors=True, task="t", **more)


def test_one_that_never_ran_here_is_behind_and_no_warning(tmp_path):
    with opened(tmp_path, agent="ann") as memory:
        memory.append("task.paused")
        (found,) = status(memory.engine).processors
        assert (found.ran, found.behind, found.troubles) == (False, 1, ())
        assert not [one for one in examine(memory.engine) if one.check == "processors"]


def test_one_that_has_done_all_is_well(tmp_path):
    with opened(tmp_path, agent="ann") as memory:
        memory.append("task.paused")
        with hosted(memory.engine):
            eventually(lambda: status(memory.engine).processors[0].behind == 0, what="all is read")
        (found,) = status(memory.engine).processors
        assert (found.ran, found.waiting, found.held, found.parked) == (True, 0, 0, 0)
        (finding,) = [one for one in examine(memory.engine) if one.check == "processors"]
        assert finding.state == "ok"


def test_a_key_that_waits_is_named_and_no_word_of_it_is_told(tmp_path, monkeypatch):
    monkeypatch.setitem(PROCESSORS, "checkpoints", Failing)
    with opened(tmp_path, agent="ann") as memory:
        memory.append("task.paused")
        memory.append("task.paused", agent="bob")
        with hosted(memory.engine):
            eventually(lambda: status(memory.engine).processors[0].held, what="ann's key is held")
            eventually(lambda: memory.engine.log.ends() == {0: 3}, what="bob's goes on")
        (found,) = status(memory.engine).processors
        assert found.troubles == ("a key waits at 0@0: ValueError",)
        assert "checkpoints: a key waits at 0@0: ValueError" in status(memory.engine).warnings
        (finding,) = [one for one in examine(memory.engine) if one.check == "processors"]
        assert (finding.state, "secret" in finding.detail) == ("bad", False)


def test_of_an_event_that_breaks_its_schema_no_word_is_told(tmp_path):
    with opened(tmp_path, agent="ann") as memory:
        memory.observe("sound")
        (sound,) = memory.engine.log.reader({0: 0}).poll(records_max=1, wait_seconds=0)
        broken = parse_json(sound.value) | {"id": "x", "data": {"text": ["a secret"]}}
        content = "0" * 32
        record = NewRecord(sound.key, json_bytes(broken), sound.headers, content, content)
        memory.engine.log.append([record])
        with hosted(memory.engine):
            eventually(lambda: status(memory.engine).processors[0].parked, what="it is parked")
        (found,) = status(memory.engine).processors
        assert found.troubles == ("a key waits at 0@1: InvalidEvent",)
