"""A worker tells over HTTP that it moves, that one may ask, and its numbers."""

import json
import urllib.error
import urllib.request
import uuid

import pytest

from mnemolog import Memory
from support.polling import eventually
from support.workers import worker

pytestmark = pytest.mark.kafka


def asked(url):
    """Return the status and the body of an answer."""
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as answer:
        with answer:
            return answer.code, answer.read().decode()


def test_a_worker_tells_that_it_moves_that_it_is_ready_and_its_numbers(tmp_path, kafka):
    log, mark = f"kafka://{kafka.bootstrap}", uuid.uuid4().hex[:8]
    tenant = f"t-{mark}"
    with Memory(tmp_path / "writer", log=log, tenant=tenant, projects=False) as memory:
        memory.observe("it rains", agent="ops-1")
    wanted = ("--tenant", tenant, "--group", f"g-{mark}", "--health-listen", "127.0.0.1:0")
    with worker(tmp_path / "worker", log, *wanted) as one:
        url = f"http://127.0.0.1:{one.tells('health is told')['port']}"
        one.tells("tenant ready", tenant=tenant)

        def applied():
            told = asked(f"{url}/metrics")[1]
            return (
                f'mnemolog_applied_records_total{{tenant="{tenant}"}} 1.0' in told
                and f'mnemolog_lag_events{{projection="memories",tenant="{tenant}"}} 0.0' in told
            )

        eventually(applied, what="its numbers are told", pause=0.5)
        assert asked(f"{url}/healthz")[0] == 200
        eventually(lambda: asked(f"{url}/readyz")[0] == 200, what="it is ready", pause=0.5)
        assert json.loads(asked(f"{url}/readyz")[1])["level"] == "ok"
        assert one.stop() == 0
