"""On Kafka the worker that owns a tenant runs its processors: one worker, and the next after it."""

import uuid
from collections import Counter

import pytest

from mnemolog import Memory
from mnemolog.schemas.decoded import Ours
from mnemolog.streams.processing import source_of
from support.log_records import everything
from support.polling import eventually
from support.workers import worker

pytestmark = pytest.mark.kafka

ON = {"MNEMOLOG_PROCESSORS": "yes"}


def test_each_checkpoint_is_saved_once_whoever_owns_the_tenant(tmp_path, kafka):
    log, mark = f"kafka://{kafka.bootstrap}", uuid.uuid4().hex[:8]
    tenant, group = f"t-{mark}", ("--group", f"workers-{mark}")
    settings = {"log": log, "tenant": tenant, "partitions": 2, "projects": False}
    with Memory(tmp_path / "writer", agent="ann", task="t1", **settings) as memory:

        def causes():
            items = map(memory.engine.codec.decode, everything(memory.engine.log))
            found = [one.recorded.envelope for one in items if isinstance(one, Ours)]
            return Counter(one.cause for one in found if one.source == source_of("checkpoints"))

        said = [memory.append("task.paused", {"reason": f"pause {n}"}) for n in range(3)]
        with worker(tmp_path / "one", log, "--tenant", tenant, *group, **ON) as one:
            eventually(lambda: len(causes()) == 3, what="the owner's", within_seconds=90)
            with worker(
                tmp_path / "two", log, "--tenant", tenant, *group, "--replica", **ON
            ) as two:
                two.tells("tenant ready", tenant=tenant)
                said += [memory.append("task.blocked", {"reason": f"no {n}"}) for n in range(3)]
                eventually(lambda: len(causes()) == 6, what="beside a replica")
                one.kill()
                said += [memory.append("task.paused", {"reason": f"late {n}"}) for n in range(3)]
                eventually(lambda: len(causes()) == 9, what="the next owner's", within_seconds=60)
        assert causes() == Counter(cause.id for cause in said)
