"""What was said under a second id, or lives on in what was drawn from it, is forgotten with it."""

import itertools

import pytest

from mnemolog.projections.kinds import NAMES
from mnemolog.schemas.errors import NotFound
from support.remembering import opened, texts

SECRET = "my PIN is 0000"
LOOKS_ALIKE = ("my PIN is 0000", " my  PIN is\t0000\n", "my PIN is 0000\u00a0")
MARK = "PIN"  # in everything that tells of it
HARMLESS = "the safe stands in the hall"
SAYING = {
    "observe": lambda m, text, **scope: m.observe(text, **scope),
    "message": lambda m, text, **scope: m.message(text, **scope),
    "remember": lambda m, text, **scope: m.remember(text, **scope),
    "a plan's step": lambda m, text, **scope: m.plan("be ready", steps=["x", text], **scope),
    "an alternative": lambda m, text, **scope: m.decide("wait", alternatives=[text], **scope),
    "a reason": lambda m, text, **scope: m.decide("wait", why=text, **scope),
    "data": lambda m, text, **scope: m.observe("seen", data={"a": [{"pin": text}]}, **scope),
    "arguments": lambda m, text, **scope: m.append(
        "action.started", {"action": "a", "tool": "t", "arguments": {"deep": [text]}}, **scope
    ),
    "a result": lambda m, text, **scope: m.append(
        "action.finished", {"action": "a", "success": True, "result": text}, **scope
    ),
    "a comment": lambda m, text, **scope: m.feedback("e-1", 1, comment=text, **scope),
    "a checkpoint's observation": lambda m, text, **scope: m.checkpoint(
        "go", plan_summary="on", key_observations=[text], **scope
    ),
    "a checkpoint's working memory": lambda m, text, **scope: m.checkpoint(
        "go",
        plan_summary="on",
        task_state={"task_id": "t", "working_memory": {"notes": [text]}},
        **scope,
    ),
}


def hits(mem):
    """Return where MARK is found, surface by surface."""
    recalled = mem.recall("what is my PIN?", hits_max=50, include_outdated=True)
    found = [text for text in texts(recalled) if MARK in text]
    found += [level for one in recalled for level in one.row.levels.values() if MARK in level]
    found += [entry.text for entry in mem.timeline(rows_max=500) if MARK in (entry.text or "")]
    found += [mem.saved(one.id) for one in mem.checkpoints() if MARK in str(mem.saved(one.id))]
    tables = [name for (name,) in mem.sql("SELECT table_name FROM duckdb_tables()").rows]
    for name in tables:
        asked = f"SELECT '{name}' FROM {name} t WHERE t::VARCHAR LIKE '%{MARK}%'"
        found += mem.sql(asked, fresh=False).rows
    return found


def files_with(mem, text):
    """Return the projections' files that hold *text*, once old versions are scrubbed."""
    log = mem.engine.folder / "log"
    return [
        path
        for path in mem.engine.folder.rglob("*")
        if path.is_file() and log not in path.parents and text.encode() in path.read_bytes()
    ]


def say_everywhere(mem, mark):
    """Say the secret by every verb, by an agent each, as it may be spaced; return what was said."""
    spaced = itertools.cycle(LOOKS_ALIKE)
    return [
        SAYING[how](mem, text, agent=f"{mark}-{how}", session="s", task="t")
        for how, text in zip(SAYING, spaced, strict=False)
    ]


@pytest.mark.bad_input(87)
def test_a_text_is_forgotten_under_every_id_and_by_every_rebuild(tmp_path):
    with opened(tmp_path, agent="ops-1") as mem:
        said = say_everywhere(mem, "first")
        kept = mem.observe(HARMLESS)
        mem.wait_for(kept.token)
        assert len(hits(mem)) > len(SAYING)
        mem.wait_for(mem.forget(text=SECRET).token)
        assert hits(mem) == []
        for one in said:
            with pytest.raises(NotFound):
                mem.get(one)
        mem.rebuild()
        assert hits(mem) == []
        again = say_everywhere(mem, "again")  # said once more
        mem.wait_for(again[-1].token)
        assert hits(mem) == []
        assert texts(mem.recall("where is the safe?"))[0] == HARMLESS
        assert mem.get(kept).event.text == HARMLESS


def draw(mem, one, other):
    """Draw from two memories what can be drawn, and again from what was drawn."""
    formed = mem.append("memory.formed", {"text": "of an event: PIN 0000", "from_events": [one.id]})
    drawn = mem.append(
        "knowledge.consolidated",
        {"text": "of two: PIN 0000", "memories": [one.memory_id, other.memory_id]},
    )
    further = mem.append(
        "knowledge.consolidated", {"text": "of those: PIN 0000", "memories": [drawn.memory_id]}
    )
    for memory, level in itertools.product([one, drawn, further], [1, 2]):
        mem.append(
            "memory.summarised",
            {"memory": memory.memory_id, "level": level, "text": f"short {level}: PIN"},
        )
    return [formed, drawn, further]


FORGETTING = {
    "by its text": lambda m, one: m.forget(text=SECRET),
    "by what the append returned": lambda m, one: m.forget(one),
    "by its id": lambda m, one: m.forget(one.id),
    "by its memory": lambda m, one: m.forget(one.memory_id),
}


@pytest.mark.bad_input(87)
@pytest.mark.parametrize("how", FORGETTING)
def test_what_was_drawn_from_it_goes_with_it(how):
    with opened(agent="ops-1") as mem:
        one = mem.observe(SECRET)
        other = mem.observe(HARMLESS)
        drawn = draw(mem, one, other)
        decided = mem.decide("open the safe", because=[one, drawn[0].memory_id])
        mem.wait_for(mem.end(), projections=NAMES)
        assert len(hits(mem)) > 9
        mem.wait_for(FORGETTING[how](mem, one).token)
        assert hits(mem) == []
        mem.rebuild()
        assert hits(mem) == []
        for gone in (one, *drawn):
            with pytest.raises(NotFound):
                mem.get(gone)
        assert mem.get(other).event.text == HARMLESS
        assert mem.get(decided).event.what == "open the safe"  # rested on it, was not drawn from it
        assert MARK not in str(mem.why(decided))


@pytest.mark.bad_input(87)
def test_what_leads_back_to_itself_is_forgotten_once():
    with opened(agent="ops-1") as mem:
        one, other = mem.remember(SECRET), mem.remember("another PIN")
        for a, b in ((one, other), (other, one)):
            fields = {"from_memory": a.memory_id, "to_memory": b.memory_id, "kind": "summarises"}
            mem.append("memory.linked", fields)
        mem.wait_for(mem.end())
        mem.wait_for(mem.forget(one).token)
        assert hits(mem) == []


@pytest.mark.bad_input(87)
def test_what_is_like_it_and_what_others_said_stays():
    with opened(agent="ops-1") as mem:
        one = mem.observe(SECRET, id="e1")
        kept = [
            mem.observe("my PIN is 0001"),
            mem.observe("another PIN", id="e1", agent="ops-2"),
            mem.append(
                "memory.formed",
                {"text": "of another's event: PIN", "from_events": ["e1"]},
                agent="ops-2",
            ),
        ]
        mem.wait_for(mem.end())
        mem.wait_for(mem.forget(one).token)
        for other in kept:
            assert MARK in mem.get(other).event.text


@pytest.mark.bad_input(87)
def test_no_vector_and_no_file_of_a_projection_tells_of_it_after_a_rebuild(tmp_path):
    with opened(tmp_path, agent="ops-1") as mem:
        mem.observe(SECRET, task="t")
        mem.checkpoint("go", plan_summary=SECRET, task="t")
        mem.wait_for(mem.end(), projections=NAMES, vectors=True)
        mem.sql("SELECT 1")
        mem.wait_for(mem.forget(text=SECRET).token, projections=NAMES)
        assert mem._readers.memories().counts()["memories"] == 0
        for _ in range(2):  # the second rebuild takes the generation away that knew of it
            mem.rebuild()
        assert mem.recall("my PIN").memories == ()
    assert files_with(mem, SECRET) == []
