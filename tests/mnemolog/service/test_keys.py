"""Keys: each opens one tenant, for the rights that it has, from when it is added until removed."""

import json
import stat

import pytest

from mnemolog.schemas.errors import InvalidSetting, NotFound
from mnemolog.service.core import Service
from mnemolog.service.keys import KeyFile
from mnemolog.service.serving import check_place
from support.histories import START
from support.remembering import opened
from support.serving import key_for, problem, served

EVENT = {"type": "observation.recorded", "fields": {"text": "x"}}
POLICY = {"type": "policy.changed", "fields": {"revision": 1, "policy": {}}}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "keys.json"


@pytest.fixture
def service(path):
    key_for(path, "unused")
    with served(keys=path, opens=lambda t: opened(tenant=t, projects=False)) as one:
        yield one


def ends(service, key):
    with service.http(key) as http:
        return http.get("/v1/end").json()["token"]


def test_the_tenant_comes_from_the_key(service, path):
    a, b = (key_for(path, tenant) for tenant in ("a", "b"))
    with service.http(a) as http:
        http.post("/v1/events", json=EVENT).raise_for_status()
    assert (ends(service, a), ends(service, b)) == ("0@0", "")
    assert service.service.tenants.opened() == ["a", "b"]


@pytest.mark.parametrize(
    "named",
    [
        ("GET", "/v1/end?tenant=b", None),
        ("GET", "/v1/timeline?tenant=b", None),
        ("POST", "/v1/recall", {"question": "x", "tenant": "b"}),
        ("POST", "/v1/events", {**EVENT, "scope": {"tenant": "b"}}),
        ("POST", "/v1/events", {**EVENT, "tenant": "b"}),
    ],
)
def test_a_question_can_not_name_another_tenant(service, path, named):
    a, b = key_for(path, "a"), key_for(path, "b")
    method, url, body = named
    with service.http(a) as http:
        headers = {"X-Tenant": "b", "Tenant": "b"}
        answer = http.request(method, url, json=body, headers=headers)
    if url.startswith("/v1/end"):
        assert answer.json() == {"token": ""}
    else:
        assert problem(answer)["status"] == 422
    assert "b" not in service.service.tenants.opened()
    assert ends(service, b) == ""


@pytest.mark.parametrize(
    "authorization",
    [
        None,
        "",
        "Bearer",
        "Bearer mnk_wrong",
        "Basic mnk_wrong",
        "bearer \xff\xfe",
        "x" * 9_000,
    ],
)
def test_without_a_key_that_is_known_nothing_is_answered(service, authorization):
    headers = {} if authorization is None else {"Authorization": authorization.encode("latin-1")}
    with service.http() as http:
        for method, url in (("GET", "/v1/end"), ("POST", "/v1/events"), ("POST", "/v1/recall")):
            answer = http.request(method, url, headers=headers, json={})
            assert problem(answer)["code"] == "unknown_key"
            assert answer.headers["www-authenticate"] == "Bearer"
        assert http.get("/healthz").status_code == 200


@pytest.mark.parametrize(
    ("rights", "refused"),
    [
        (("read",), {"append", "policy", "status"}),
        (("append",), {"end", "policy", "status"}),
        (("admin",), {"end", "append", "policy"}),
        (("read", "append"), {"policy", "status"}),
        (("read", "append", "admin"), set()),
    ],
)
def test_a_key_does_what_it_has_the_right_to(service, path, rights, refused):
    with service.http(key_for(path, "a", *rights)) as http:
        answers = {
            "end": http.get("/v1/end"),
            "append": http.post("/v1/events", json=EVENT),
            "policy": http.post("/v1/events", json=POLICY),
            "status": http.get("/v1/status"),
        }
    assert {name for name, one in answers.items() if one.status_code == 403} == refused
    assert all(one.status_code in {200, 403} for one in answers.values())


def test_a_key_is_known_once_it_is_added_and_unknown_once_it_is_removed(service, path):
    file = KeyFile(path)
    made, key = file.add(name="ci", tenant="a", rights=["read"], now=lambda: START)
    assert ends(service, key) == ""
    assert file.remove(made.id) == made
    with service.http(key) as http:
        assert problem(http.get("/v1/end"))["status"] == 401
        path.unlink()  # a file that is gone opens nothing to everybody
        assert problem(http.get("/v1/end"))["status"] == 401


def test_a_file_that_is_none_lets_nobody_in_and_says_so(service, path):
    path.write_text("{}")
    with service.http("mnk_x") as http:
        assert problem(http.get("/v1/end"))["field"] == "keys"


def test_the_file_has_no_key_in_it_and_is_its_owners_alone(path):
    key = key_for(path, "a")
    assert key.removeprefix("mnk_") not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(key) > 40


@pytest.mark.parametrize(
    "given",
    [{"tenant": "../x"}, {"rights": ["root"]}, {"rights": []}, {"name": "\0"}, {"tenant": ""}],
)
def test_a_key_that_makes_no_sense_is_refused_and_the_file_is_as_it_was(path, given):
    file = KeyFile(path)
    with pytest.raises(InvalidSetting):
        file.add(**{"name": "n", "tenant": "a", "rights": ["read"], "now": lambda: START, **given})
    assert not path.exists()
    with pytest.raises(NotFound):
        file.remove("00000000")


@pytest.mark.parametrize(
    "content", ["", "[]", '{"keys": 7}', '{"keys": [{}]}', '{"keys": [{"rights": 7}]}', "\0"]
)
def test_a_damaged_file_is_named(path, content):
    path.write_text(content)
    with pytest.raises(InvalidSetting, match="keys"):
        KeyFile(path).read()


# Where it may listen


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.0.2.7", "example.invalid"])
def test_elsewhere_than_on_loopback_keys_are_needed(host):
    with pytest.raises(InvalidSetting, match="host"):
        check_place(host, 0, has_keys=False)
    check_place(host, 0, has_keys=True)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_on_loopback_they_are_not(host):
    check_place(host, 8420, has_keys=False)


def test_without_keys_another_hosts_name_is_refused_as_a_led_astray_browser_sends_it():
    with served(opens=lambda t: opened(tenant=t, projects=False)) as one, one.http() as http:
        astray = http.get("/v1/end", headers={"Host": "evil.example"})
        assert problem(astray)["status"] == 400
        assert http.get("/v1/end", headers={"Host": "localhost:1"}).status_code == 200
        simple = http.post("/v1/events", content=json.dumps(EVENT), headers={"Origin": "http://x"})
        assert problem(simple)["status"] == 415  # a form of another site has no JSON's type


def test_the_tenant_of_a_service_without_keys_is_its_own():
    service = Service(lambda tenant: opened(tenant=tenant), tenant="mine", keys=None)
    assert service.caller(None, right="admin").tenant == "mine"
