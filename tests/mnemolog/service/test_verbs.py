"""`Memory("http://...")` has the verbs of `Memory`, with their arguments, results and errors."""

import inspect
from datetime import UTC, datetime

import pytest

from mnemolog import Memory
from mnemolog.http_errors import NotServed
from mnemolog.http_memory import HttpMemory
from mnemolog.http_wire import dumped
from mnemolog.schemas.errors import (
    InvalidSetting,
    NotFound,
)
from mnemolog.writing import Writer
from support.remembering import recorded, texts
from support.serving import served

NOW = datetime(2030, 1, 2, tzinfo=UTC)
NOT_SERVED = {"sql", "rebuild", "verify", "digests", "export", "import_histories"}
NO_VERBS = {"draft", "engine", "lineage", "close"}


def parameters(verb):
    return [(p.name, p.kind, p.annotation) for p in inspect.signature(verb).parameters.values()]


def public(cls):
    return {name for name in dir(cls) if not name.startswith("_")}


@pytest.fixture(scope="module")
def service():
    with served() as one:
        yield one


@pytest.fixture
def far(service, request):
    """Give a client with an agent of its own, so that tests share a service and no memories."""
    name = request.node.name[:60].replace("[", "-").replace("]", "")
    with Memory(service.url, agent=f"{name}-agent", user=name, task=f"{name}-task") as memory:
        yield memory


# Shape


def test_every_verb_is_either_asked_refused_by_name_or_one_that_only_appends():
    own = set(vars(HttpMemory))
    appending = (public(Writer) | {"checkpoint"}) - NO_VERBS
    assert public(Memory) - NO_VERBS == (public(Memory) - NO_VERBS) & (own | appending)
    assert public(HttpMemory) == public(Memory)


@pytest.mark.parametrize("name", sorted(public(Memory) - NO_VERBS))
def test_a_verb_takes_what_it_takes_in_process(name):
    assert parameters(getattr(HttpMemory, name)) == parameters(getattr(Memory, name))


def test_an_address_makes_a_client_which_is_a_memory(far):
    assert type(far) is HttpMemory
    assert isinstance(far, Memory)


@pytest.mark.parametrize("name", sorted(NOT_SERVED))
def test_what_is_not_served_says_so(far, name):
    arguments = {"sql": ("SELECT 1",), "export": ("x",)}.get(name, ())
    with pytest.raises(NotServed, match=name):
        getattr(far, name)(*arguments)


@pytest.mark.parametrize(
    "given", [{"tenant": "other"}, {"log": "kafka://x"}, {"blobs": True}, {"embedder": "fast"}]
)
def test_what_is_the_services_to_say_is_refused(service, given):
    with pytest.raises(InvalidSetting, match=next(iter(given))):
        Memory(service.url, **given)


@pytest.mark.parametrize("url", ["http://", "http://a:b@x", "http://x/?q=1", "http://x:port"])
def test_an_address_that_is_none_is_refused(url):
    with pytest.raises(InvalidSetting, match="data"):
        Memory(url)


def test_a_folder_takes_no_key():
    with pytest.raises(InvalidSetting, match="key"):
        Memory(":memory:", key="mnk_x")


# Verbs that append


def test_each_verb_appends_what_it_appends_in_process(far, service):
    def live(mem, agent):
        around = {"agent": agent, "occurred_at": NOW, "source": "/tests"}
        seen = mem.observe("the pool", data={"n": [1, 2.5, None]}, tags=["pool"], **around)
        mem.message("必须在 3 天内完成迁移。", role="user", speaker="小李", **around)
        mem.plan("look, then raise", steps=["look", "raise"], **around)
        done = mem.decide("raise it", because=[seen], confidence=0.5, caused_by=seen, **around)
        mem.feedback(done, 1, label="good", **around)
        kept = mem.remember("the pool is 80", importance=0.9, valid_from=NOW, **around)
        mem.used(kept.memory_id, **around)
        mem.pin(kept.memory_id, **around)
        mem.append("task.started", {"goal": "caf\udce9"}, model_use={"model": "m"}, **around)
        mem.checkpoint("keep it up", plan_summary="watch", id=f"cp-{agent}", **around)
        with mem.act("psql", arguments={"max": 50}, id=f"act-{agent}", **around) as action:
            action.result = "pool is 50"

    with service.memory() as near:
        live(far, "far")
        live(near, "near")
        said = {}
        for one in recorded(near):
            told = one.event.model_dump(mode="json", exclude={"checkpoint": {"id", "agent"}})
            told.pop("duration_ms", None)
            around = (one.envelope.user, one.envelope.task, one.envelope.repaired)
            said.setdefault(one.envelope.agent, []).append((one.event.event_type, told, around))
    assert len(said["far"]) == len(said["near"]) == 12
    for here, there in zip(said["near"], said["far"], strict=True):
        assert here[0] == there[0]
        assert without_ids(here[1]) == without_ids(there[1])
        assert here[2][2] == there[2][2]
    assert {one[2][0] for one in said["far"]} != {None}  # the handle's own user


def without_ids(told):
    ids = {"because_events", "target", "memories", "memory", "action"}
    return {name: value for name, value in told.items() if name not in ids}


def test_before_a_costly_action_the_state_is_saved_over_there(far):
    far.observe("the pool of auth is exhausted")
    with far.act("psql", costly=True) as action:
        assert action.saved.position < action.started.position
    saved = far.saved(action.saved, after=action.finished.token).checkpoint
    assert saved.agent == far._defaults["agent"]
    with far.act("psql", costly=True, agent="told nothing") as action:
        assert action.saved is None


def test_the_same_id_counts_once(far):
    first = far.observe("once", id="e-1")
    assert far.observe("once", id="e-1") == first


def test_a_text_of_three_megabytes_comes_back_whole(far):
    said = far.observe("ab" * 1_500_000)
    assert far.get(said, after=said.token).event.text == "ab" * 1_500_000
    state = {"log": ["cd" * 1_500_000]}
    saved = far.checkpoint("keep it up", plan_summary="p", intermediate_results=state)
    assert far.saved(saved, after=saved.token).checkpoint.intermediate_results == state
    found = far.resume(far._defaults["task"]).checkpoint
    assert found.checkpoint.intermediate_results == state
    assert len(found.heads.intermediate_results["log"][0]) < 300_000


def test_what_is_forgotten_is_found_no_more(far):
    first, second = far.observe("the pin is 0000"), far.observe("the door is green")
    found = far.recall("pin", after=second.token)
    assert texts(found)[0] == "the pin is 0000"
    far.forget(found[0], reason="asked to")
    gone = far.forget(second.id)  # a bare id is looked up by the service
    far.wait_for(gone.token)
    assert texts(far.recall("pin")) == []
    with pytest.raises(NotFound):
        far.get(first)
    with pytest.raises(NotFound):
        far.forget("never-appended")


# Verbs that ask


def test_each_answer_is_what_the_same_question_gets_in_process(far, service):
    agent, task = far._defaults["agent"], far._defaults["task"]
    seen = far.observe("the pool of auth is exhausted", tags=["pool"], data={"max": 50})
    done = far.decide("raise the pool", because=[seen])
    saved = far.checkpoint("keep it up", plan_summary="watch the pool", tags=["a"])
    far.act("psql", costly=True).__enter__()
    far.wait_for(far.end(), vectors=True)
    with service.memory() as near:
        asked = {"at": NOW, "agent": agent, "explain": True, "user": None}
        here, there = (m.recall("which pool?", **asked) for m in (near, far))
        assert here.to_dict() == there.to_dict()
        memory = here[0].id
        for ask in (
            lambda m: m.get(seen),
            lambda m: m.event(done, whole=False),
            lambda m: m.history(memory),
            lambda m: m.why(done),
            lambda m: m.resume(task, at=NOW),
            lambda m: tuple(m.timeline(agent=agent, rows_max=3)),
            lambda m: m.checkpoints(task=task),
            lambda m: m.saved(saved),
            lambda m: m.end(),
        ):
            assert ask(near) == ask(far)
        here, there = near.get(memory), far.get(memory)
        assert there == far.memory(memory) or there.weight != here.weight
        assert dumped(type(here.row), here.row) == dumped(type(there.row), there.row)


def test_a_handles_user_restricts_recall_unless_another_is_named(far, service):
    said = far.observe("blue is the colour")
    with Memory(service.url, user="somebody else") as other:
        assert texts(other.recall("colour", after=said.token, agent=far._defaults["agent"])) == []
        found = other.recall("colour", user=None, agent=far._defaults["agent"])
        assert texts(found) == ["blue is the colour"]
