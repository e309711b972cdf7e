"""`mnemolog worker` on a real broker: it keeps what it owns, shares, hands over, and stops."""

import json
import uuid

import pytest

from mnemolog import Memory
from mnemolog.projections.lease import Lease
from support.polling import eventually
from support.processes import other
from support.workers import TAKE_OVER_SECONDS_MAX, worker

pytestmark = pytest.mark.kafka


@pytest.fixture
def log(kafka):
    return f"kafka://{kafka.bootstrap}"


@pytest.fixture
def group():
    return f"workers-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def tenants():
    """Return names that no other test has, in order."""
    mark = uuid.uuid4().hex[:8]
    return [f"t{number}-{mark}" for number in range(4)]


def named(*tenants):
    return [part for tenant in tenants for part in ("--tenant", tenant)]


def say(log, folder, tenant, *texts):
    """Append from a process's handle that projects nothing, and return the last token."""
    with Memory(folder / "writer", log=log, tenant=tenant, projects=False) as memory:
        return [memory.observe(text, agent="ops-1").token for text in texts][-1]


def recalled(data, log, tenant, question, *, after):
    with Memory(data, log=log, tenant=tenant, embedder="hashing", projects=False) as memory:
        return memory.recall(question, after=after, timeout_seconds=60)[0].text


def test_a_worker_keeps_what_it_owns_and_stops_when_told(tmp_path, log, group, tenants):
    tenant = tenants[0]
    say(log, tmp_path, tenant, "before the worker")
    with worker(tmp_path / "data", log, *named(tenant), "--group", group) as one:
        one.tells("tenant ready", tenant=tenant)
        token = say(log, tmp_path, tenant, "the pool of auth is exhausted")
        found = recalled(tmp_path / "data", log, tenant, "which pool?", after=token)
        assert found == "the pool of auth is exhausted"
        assert one.stop() == 0
    assert one.told("tenant let go", tenant=tenant)
    assert not [line for line in one.lines if line["level"] != "info"]
    Lease.take(tmp_path / "data" / tenant / "projector.lock").release()


def test_a_tenant_whose_log_is_made_later_is_taken_in_while_the_worker_runs(
    tmp_path, log, group, tenants
):
    first, later = tenants[:2]
    with worker(tmp_path / "data", log, *named(first, later), "--group", group) as one:
        one.tells("tenant not served", topic=f"mnemolog.{later}.events")
        say(log, tmp_path, first, "there from the start")
        one.tells("tenant ready", tenant=first)
        token = say(log, tmp_path, later, "made afterwards")
        one.owns(first, later)
        assert recalled(tmp_path / "data", log, later, "made", after=token) == "made afterwards"
        assert len(one.told("tenant taken", tenant=first)) == 1  # it stayed open all the while


def test_workers_share_whole_tenants_and_the_survivor_owns_all_after_a_kill(
    tmp_path, log, group, tenants
):
    for tenant in tenants:
        say(log, tmp_path, tenant, f"first of {tenant}")
    asked = (*named(*tenants), "--group", group)
    with worker(tmp_path / "one", log, *asked) as one:
        one.owns(*tenants)
        with worker(tmp_path / "two", log, *asked) as two:
            eventually(lambda: len(two.owned) == 2, what="a share", within_seconds=60)
            one.owns(*(set(tenants) - set(two.owned)))
            lost = two.owned
            two.kill()
            one.owns(*tenants, within_seconds=TAKE_OVER_SECONDS_MAX)
        token = say(log, tmp_path, lost[0], "after the take-over")
        assert recalled(tmp_path / "one", log, lost[0], "take-over", after=token)


def test_a_worker_that_stops_hands_over_at_once(tmp_path, log, group, tenants):
    for tenant in tenants[:2]:
        say(log, tmp_path, tenant, "something")
    asked = (*named(*tenants[:2]), "--group", group)
    with worker(tmp_path / "one", log, *asked) as one, worker(tmp_path / "two", log, *asked) as two:
        eventually(lambda: len(one.owned) == len(two.owned) == 1, what="shares", within_seconds=60)
        assert two.stop() == 0
        one.owns(*tenants[:2], within_seconds=8)  # sooner than a silent one is given up


def test_a_worker_whose_folder_another_process_holds_waits_and_says_so(
    tmp_path, log, group, tenants
):
    tenant = tenants[0]
    data = tmp_path / "data"
    asked = (*named(tenant), "--group", group)
    with other(data, log=log, tenant=tenant) as holder, worker(data, log, *asked) as one:
        told = one.tells("folder held; waiting", tenant=tenant)
        assert f"process {holder.pid}" in told["holder"]
        assert not one.told("tenant taken")
        holder.end()
        one.tells("tenant taken", tenant=tenant)


def test_a_setting_that_is_no_broker_ends_the_worker_with_a_hint(tmp_path):
    with worker(tmp_path, "nowhere") as one:
        assert one.process.wait(60) == 2
    assert "kafka://host:port" in json.dumps(one.lines)
