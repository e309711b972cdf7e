"""On Kafka the worker that owns a tenant obeys its topic of control; a pause passes to the next."""

import uuid

import pytest

from mnemolog import Memory
from mnemolog.schemas.errors import TimedOut
from mnemolog.streams.control import TOPIC, paused_by
from support.command_line import run
from support.polling import eventually
from support.workers import worker

pytestmark = pytest.mark.kafka


def test_a_pause_holds_for_the_next_owner_until_it_is_resumed(tmp_path, kafka):
    log, mark = f"kafka://{kafka.bootstrap}", uuid.uuid4().hex[:8]
    tenant, group = f"t-{mark}", ("--group", f"workers-{mark}")
    settings = {"log": log, "tenant": tenant, "partitions": 1, "projects": False}

    def asked(verb):
        words = ["--log", log, "--tenant", tenant, "--data", str(tmp_path / "anywhere")]
        done = run(["control", verb, *words, "--wait", "--timeout", "60"])
        assert done.error is None, done
        return done.code, done.out.split(":")[0]

    with Memory(tmp_path / "two", agent="ann", **settings) as memory:
        memory.observe("room 1")
        with worker(tmp_path / "one", log, "--tenant", tenant, *group) as one:
            one.owns(tenant)
            assert asked("pause") == (0, "done")
            assert asked("swap") == (1, "refused")
            assert list(paused_by(tmp_path / "one" / tenant)) == [TOPIC]
            one.stop()
        with worker(tmp_path / "two", log, "--tenant", tenant, *group):
            eventually(
                lambda: TOPIC in paused_by(tmp_path / "two" / tenant),
                what="the next owner pauses",
                within_seconds=60,
            )
            said = memory.observe("room 2")
            with pytest.raises(TimedOut):
                memory.wait_for(said.token, timeout_seconds=0.1)
            assert asked("resume") == (0, "done")
            memory.wait_for(said.token)
