"""A service tells its health to anybody, and metrics to whoever administers that tenant."""

import json

from mnemolog.schemas.errors import StoreUnavailable
from support.polling import eventually
from support.remembering import opened
from support.serving import key_for, problem, served


def quick(tenant):
    return opened(tenant=tenant, projects=False)


def test_without_keys_metrics_are_for_whoever_is_on_this_machine():
    with served(opens=quick) as one, one.memory() as memory, one.http() as http:
        memory.observe("it rains", agent="ops-1")
        one.service.watch.look()
        found = http.get("/metrics")
    assert found.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert 'mnemolog_appended_events_total{tenant="default"} 1.0' in found.text


def test_with_keys_metrics_are_for_an_administrator_and_of_its_tenant_alone(tmp_path):
    keys = tmp_path / "keys.json"
    reads, rules = key_for(keys, "a"), key_for(keys, "a", "read", "admin")
    with (
        served(opens=quick, keys=keys) as one,
        one.memory("a"),
        one.memory("b"),
        one.http(rules) as admin,
        one.http(reads) as reader,
        one.http() as nobody,
    ):
        one.service.watch.look()
        assert problem(reader.get("/metrics"))["status"] == 403
        assert problem(nobody.get("/metrics"))["status"] == 401
        found = admin.get("/metrics").text
    assert 'tenant="a"' in found
    assert 'tenant="b"' not in found


def test_what_stands_still_is_not_alive_and_no_tenant_is_named(monkeypatch):
    with (
        served(opens=lambda _: opened(tenant="secret"), tenant="secret") as one,
        one.memory("secret") as memory,
        one.http() as http,
    ):
        one.service.watch.look()
        assert http.get("/healthz").json() == {"status": "alive"}
        monkeypatch.setattr(memory.engine.dispatcher, "failure", ZeroDivisionError("ours"))
        one.service.watch.look()
        told = problem(http.get("/healthz"))
        assert (told["status"], told["code"]) == (503, "unavailable")
        assert "it ended: ours" in told["detail"]
        assert "secret" not in json.dumps(told)
        assert problem(http.get("/readyz"))["status"] == 503


def test_what_is_too_far_behind_is_alive_and_not_ready(monkeypatch):
    with served(opens=quick) as one, one.memory() as memory, one.http() as http:
        memory.observe("it rains", agent="ops-1")
        watch = one.service.watch
        watch.look()
        assert http.get("/readyz").status_code == 200
        began = watch._clock()
        monkeypatch.setattr(watch, "_clock", lambda: began + 61)
        monkeypatch.setattr(watch._tenants["default"], "_clock", lambda: began + 61)
        watch.look()
        assert http.get("/healthz").status_code == 200
        assert "1 events behind, by 61 s" in problem(http.get("/readyz"))["detail"]


def test_without_keys_it_is_not_ready_before_its_tenant_can_be_opened():
    refused = [StoreUnavailable("the folder", "made to fail")] * 2

    def opens(tenant):
        if refused:
            raise refused.pop()
        return quick(tenant)

    with served(opens=opens) as one, one.http() as http:
        eventually(lambda: http.get("/readyz").status_code == 200, what="it is ready")
        assert not refused
        assert one.service.tenants.opened() == ["default"]


def test_who_watches_opens_nothing_and_keeps_nothing_open():
    with served(opens=quick, tenants=1) as one, one.memory("a"):
        with one.service.tenants.if_open("b") as found:
            assert found is None
        assert one.service.tenants.opened() == ["a"]


def test_a_service_looks_by_itself():
    with served(opens=quick) as one, one.memory():
        eventually(lambda: one.service.watch.pictures, what="a look")
