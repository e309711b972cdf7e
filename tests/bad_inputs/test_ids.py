"""Names and ids with delimiters, names that are paths, names longer than any file's name."""

import itertools

import pytest

from mnemolog.projections.kinds import NAMES
from mnemolog.schemas.errors import InvalidEvent, InvalidSetting
from mnemolog.schemas.limits import ID_BYTES_MAX, NAME_BYTES_MAX, TENANT_BYTES_MAX
from support.import_log import TENANT, ImportLog, json_file
from support.remembering import opened, texts

# Each pair joins to one text with the delimiter that stands in it.
JOINED = [
    (f"a{mark}b", "c", "a", f"b{mark}c")
    for mark in (
        "&",
        "=",
        "&run_id=",
        ":",
        "/",
        "|",
        ",",
        "\\",
        " ",
        ".",
        "#",
        "-",
        "_",
        "%2F",
        "::",
    )
]


def files_outside(folder, data):
    """Return what lies below *folder* and not in *data*."""
    return {p for p in folder.rglob("*") if p != data and data not in p.parents} - {*data.parents}


@pytest.mark.bad_input(79)
def test_pairs_that_join_to_one_text_are_kept_apart_in_every_store():
    with opened() as mem:
        for one, other, another, last in JOINED:
            for agent, name in ((one, other), (another, last)):
                around = {"agent": agent, "session": name, "task": f"{agent}\t{name}"[:1] + name}
                mem.observe(f"lamp of {agent!r} {name!r}", **around, id=name, source=f"/{name}")
                mem.checkpoint(
                    "go", plan_summary="on", agent=agent, task=name, id=f"{agent}.{name}"
                )
        mem.wait_for(mem.end(), projections=NAMES, vectors=True)
        pairs = [pair for one, other, a, b in JOINED for pair in ((one, other), (a, b))]
        assert len(set(pairs)) == len(pairs)
        for agent, name in pairs:
            found = mem.recall("lamp", agent=agent, session=name, hits_max=50)
            assert texts(found) == [f"lamp of {agent!r} {name!r}"]
            assert len(mem.timeline(agent=agent, session=name)) == 1
            assert len(mem.checkpoints(agent=agent, task=name)) == 1
        asked = "SELECT count(DISTINCT identity), count(*) FROM events"
        assert mem.sql(asked).rows == [(2 * len(pairs), 2 * len(pairs))]
        ids = mem.sql("SELECT count(DISTINCT memory), count(*) FROM memories").rows
        assert ids == [(2 * len(pairs), 2 * len(pairs))]


@pytest.mark.bad_input(79)
@pytest.mark.parametrize("mark", ["&", ":", "/", "\x20", "\u2028", "é"])
def test_agent_source_and_id_that_join_to_one_text_are_three_things(mark):
    parts = ["a", "b", "c", "d"]
    with opened(projects=False) as mem:
        said = {
            mem.observe(
                "x",
                agent=mark.join(parts[:first]),
                source=mark.join(parts[first:second]),
                id=mark.join(parts[second:]),
            ).identity
            for first, second in itertools.combinations(range(1, 4), 2)
        }
        assert len(said) == 3
        assert sum(mem.engine.log.ends().values()) == 3


PATHS = (
    *("../../tmp/pwn", "/etc/x", "..\\..\\x", "C:\\x", "c:/x", "\\\\host\\share", "//host/share"),
    *(".", "..", "a/..", "a/../../b", "./x", "x/.", "a\\..\\b", "/", "\\", "/../x", "..;/x/.."),
)
HARMLESS = (
    "a/b",
    "a\\b",
    "...",
    "..a",
    "a..",
    "~",
    "~root",
    "CON",
    "com1",
    "a.",
    "-rf",
    "%2e%2e%2f",
    "*",
)
FIELDS = ("agent", "user", "project", "session", "task", "phase")


@pytest.mark.bad_input(81)
@pytest.mark.parametrize("path", [path for path in PATHS if path != "..;/x/.."])
def test_a_name_that_is_a_path_is_refused_wherever_it_is_given(tmp_path, path):
    data = tmp_path / "deep" / "down" / "data"
    with opened(data, agent="ops-1", projects=False) as mem:
        for give in (
            *(lambda word=word: mem.observe("x", **{word: path}) for word in FIELDS),
            lambda: mem.observe("x", tags=[path]),
            lambda: mem.message("x", speaker=path),
            lambda: mem.remember("x", kind=path),
            lambda: mem.append("task.started", {"goal": "x", "parent_task": path}),
            lambda: mem.append("task.phase-changed", {"to_phase": path}),
            lambda: mem.checkpoint("x", plan_summary="y", task_state={"task_id": path}),
            lambda: mem.feedback("e-1", 1, given_by=path),
            *(lambda word=word: mem.recall("x", **{word: path}) for word in FIELDS[:-1]),
        ):
            with pytest.raises(InvalidEvent, match="no path"):
                give()
        assert sum(mem.engine.log.ends().values()) == 0
    assert files_outside(tmp_path, data) == set()
    with pytest.raises(InvalidSetting, match="no path"):
        opened(data, tenant=path)
    with pytest.raises(InvalidEvent, match="no path"):
        opened(data, agent=path).observe("x")
    assert files_outside(tmp_path, data) == set()


@pytest.mark.bad_input(81)
def test_ids_and_harmless_names_make_no_file_outside_the_folder(tmp_path):
    data = tmp_path / "deep" / "down" / "data"
    with opened(data) as mem:
        for number, name in enumerate([*HARMLESS, *PATHS]):
            scope = {"agent": f"ops-{number}", "task": f"t{number}"}
            scope |= dict.fromkeys(FIELDS, name) if name in HARMLESS else {}
            said = mem.observe("the lamp is on", id=name, source=name, correlation=name, **scope)
            saved = mem.checkpoint("go", plan_summary="on", id=f"{name} s", parent=name, **scope)
            with mem.act("bash", action=name, **scope):
                pass
            mem.wait_for(mem.end())
            assert mem.get(said).id == name
            assert mem.resume(scope["task"]).checkpoint.saved.id == saved.id
            assert "the lamp is on" in texts(mem.recall("lamp", agent=scope["agent"]))
        mem.wait_for(mem.end(), projections=NAMES, vectors=True)
        mem.rebuild()
    assert files_outside(tmp_path, data) == set()


@pytest.mark.bad_input(81)
def test_a_harmless_name_of_a_tenant_is_a_folder_of_its_own_within_the_data(tmp_path):
    data = tmp_path / "deep" / "down" / "data"
    for name in HARMLESS:
        with opened(data, tenant=name, agent="ops-1") as mem:
            mem.wait_for(mem.observe(f"the lamp of {name} is on").token)
            assert texts(mem.recall("lamp")) == [f"the lamp of {name} is on"]
            assert mem.engine.folder.parent == data
    assert len({path.name.casefold() for path in data.iterdir()}) == len(HARMLESS)
    assert files_outside(tmp_path, data) == set()


@pytest.mark.bad_input(81)
@pytest.mark.parametrize("path", ["../../tmp/pwn", "/etc/x", "..\\..\\x", "C:\\x", "a/../../b"])
def test_a_path_in_an_imported_history_makes_no_file_outside_the_folder(tmp_path, path):
    data = tmp_path / "deep" / "down" / "data"
    runs = [
        {"task_id": path, "traj": [{"role": "user", "content": f"hello {path}"}]},
        {
            "session_id": path,
            "messages": [{"role": "user", "content": f"hello {path}", "name": path}],
        },
        {
            "task_id": 1,
            "info": {"task": {"user_id": path}},
            "traj": [{"role": "user", "content": "x"}],
        },
    ]
    source = json_file(tmp_path, runs)
    with opened(data, tenant=TENANT) as mem:
        ImportLog(mem.engine.log).take(source, format="openai-chat")
        mem.wait_for(mem.observe("a neighbour", agent="ops-1").token, projections=NAMES)
        mem.rebuild()
    assert files_outside(tmp_path, data) == {source}


def of_bytes(size, character):
    """Return a name of *size* bytes made of *character*, filled up with "x"."""
    whole, rest = divmod(size, len(character.encode()))
    return character * whole + "x" * rest


CHARACTERS = ("x", "é", "会", "\U0001f469", "_", "-", "A")


@pytest.mark.bad_input(83)
@pytest.mark.parametrize("character", CHARACTERS, ids=ascii)
@pytest.mark.parametrize("word", FIELDS)
def test_a_name_may_have_1024_bytes_and_not_one_more(word, character):
    longest = of_bytes(NAME_BYTES_MAX, character)
    with opened(projects=False) as mem:
        said = mem.observe("x", **{"agent": "ops-1", word: longest})
        assert (
            getattr(
                mem.engine.codec.decode(mem.engine.log.at(said.position)).recorded.envelope, word
            )
            == longest
        )
        for size in (NAME_BYTES_MAX + 1, 2 * NAME_BYTES_MAX, 100_000):
            with pytest.raises(InvalidEvent, match=rf"{word}.*{size} bytes.*1 to {NAME_BYTES_MAX}"):
                mem.observe("x", **{"agent": "ops-1", word: of_bytes(size, character)})


@pytest.mark.bad_input(83)
@pytest.mark.parametrize("character", ["会", "x", "\U0001f469"], ids=ascii)
@pytest.mark.parametrize("size", [255, 256, 257, 384, 765, NAME_BYTES_MAX])
def test_what_is_saved_under_long_names_is_found_by_the_full_ones(tmp_path, size, character):
    data = tmp_path / "data"
    long = {word: of_bytes(size, character) for word in FIELDS}
    other = {**long, "session": long["session"][:-1] + "y", "task": long["task"][:-1] + "y"}
    with opened(data) as mem:
        for scope in (long, other):
            mem.observe(f"lamp {scope is long}", **scope)
            saved = mem.checkpoint(f"go {scope is long}", plan_summary="on", **scope)
        mem.wait_for(saved.token, projections=NAMES, vectors=True)
        for scope in (long, other):
            where = {word: scope[word] for word in FIELDS[:-1]}
            found = mem.recall("lamp", **where, kinds=["episode"])
            assert texts(found) == [f"lamp {scope is long}"]
            resumed = mem.resume(scope["task"]).checkpoint
            assert resumed.checkpoint.current_goal == f"go {scope is long}"
            assert len(mem.timeline(session=scope["session"], task=scope["task"])) == 2
            asked = "SELECT text FROM observations WHERE session = ? AND task = ? AND agent = ?"
            values = [scope["session"], scope["task"], scope["agent"]]
            assert mem.sql(asked, parameters=values).rows == [(f"lamp {scope is long}",)]
        assert mem.recall("lamp", session=long["session"][:-1]).memories == ()
    with opened(data) as mem:  # and by the next process
        assert mem.resume(long["task"]).checkpoint.checkpoint.current_goal == "go True"


@pytest.mark.bad_input(83)
@pytest.mark.parametrize("character", ["会", "x", "A", "_"])
def test_a_tenant_may_have_256_bytes_and_gets_a_folder_of_its_own(tmp_path, character):
    longest = of_bytes(TENANT_BYTES_MAX, character)
    for tenant in (longest, longest[:-1] + "y"):
        with opened(tmp_path / "data", tenant=tenant, agent="ops-1") as mem:
            assert mem.engine.log.ends() == {0: 0}
            assert len(mem.engine.log.topic) < 249  # as Kafka has it
            mem.wait_for(mem.observe(f"the lamp of {tenant[-1]}").token)
            assert texts(mem.recall("lamp")) == [f"the lamp of {tenant[-1]}"]
    with pytest.raises(InvalidSetting, match=f"1 to {TENANT_BYTES_MAX}"):
        opened(tmp_path / "data", tenant=longest + "x")


@pytest.mark.bad_input(83)
@pytest.mark.parametrize("character", CHARACTERS, ids=ascii)
def test_an_id_may_have_256_bytes_and_not_one_more(character):
    longest = of_bytes(ID_BYTES_MAX, character)
    with opened(agent="ops-1") as mem:
        saved = mem.checkpoint("go", plan_summary="on", id=longest, task="t", source=longest)
        mem.wait_for(saved.token)
        assert mem.saved(longest).checkpoint.id == mem.get(longest).id == longest
        for word in ("id", "source", "correlation", "caused_by"):
            with pytest.raises(InvalidEvent, match=rf"257 bytes.*1 to {ID_BYTES_MAX}"):
                mem.observe("x", **{word: longest + "x"})
