"""Text that no encoder takes, that breaks where it is cut, that ends a C string: whole stack."""

import json

import pytest
import regex

from mnemolog.schemas.errors import InvalidEvent, NotFound
from mnemolog.schemas.values import REPLACEMENT, restored
from support.nasty import FAMILY
from support.raw_records import put_changed
from support.remembering import opened, texts, the_event

SURROGATES = ("\udce9", "\ud800", "\udfff", "\ude00\ud83d", "\udc80" * 3)


def acted(mem, text):
    with mem.act("bash", arguments={"command": text}) as action:
        action.result = text
        action.data = {text: [text]}
    return action.finished


SAYING = {
    "observe": lambda m, text: m.observe(text),
    "message": lambda m, text: m.message(text),
    "plan": lambda m, text: m.plan(text, steps=[text], reason=text),
    "decide": lambda m, text: m.decide(text, why=text, alternatives=[text]),
    "remember": lambda m, text: m.remember(text),
    "checkpoint": lambda m, text: m.checkpoint(text, plan_summary=text, key_observations=[text]),
    "feedback": lambda m, text: m.feedback("e-0", 1, comment=text),
    "a tool's result": acted,
}


@pytest.fixture(scope="module")
def mem():
    with opened(agent="ops-1") as memory:
        yield memory


@pytest.mark.bad_input(1)
@pytest.mark.parametrize("how", SAYING)
@pytest.mark.parametrize("odd", SURROGATES, ids=ascii)
def test_a_lone_surrogate_is_kept_out_of_the_way_found_and_given_back(mem, how, odd):
    text = f"ls: caf{odd}.txt: no such file, said {how} {odd!a}"
    said = SAYING[how](mem, text)
    found = mem.recall("caf", after=said.token, kinds=[kind_of(mem, said)], hits_max=50)
    assert said.id in {memory.provenance.event_id for memory in found}
    event = the_event(mem, said)
    repairs = json.loads(event.envelope.repaired)
    written = json.loads(mem.engine.log.at(said.position).value)["data"]
    originals = {
        restored(at(written, place), repair)
        for place, repair in repairs.items()
        if not place.endswith("~")
    }
    assert originals == {text}
    assert all(entry.text.encode() for entry in mem.timeline(agent="ops-1"))


def kind_of(mem, said):
    return mem.get(said.memory_id, after=said.token).row.kind


def at(document, pointer):
    for part in pointer.removeprefix("/").split("/"):
        document = document[int(part)] if isinstance(document, list) else document[part]
    return document


@pytest.mark.bad_input(1, 5)
def test_replay_and_a_rebuild_say_the_same_of_odd_text():
    with opened(agent="ops-1") as mem:
        for how, odd in [(how, odd) for how in SAYING for odd in (*SURROGATES, "\0")]:
            last = SAYING[how](mem, f"{how} caf{odd}.txt")
        mem.wait_for(last.token)
        before = mem.digests()
        assert all(built.comparison.is_equal for built in mem.rebuild())
        assert mem.digests() == before


@pytest.mark.bad_input(5)
@pytest.mark.parametrize("odd", ["\0", "\ud83e"], ids=ascii)
def test_log_tables_index_and_snapshot_give_one_answer(mem, odd):
    text, kept = f"what is the {odd} weather in Oslo", f"what is the {REPLACEMENT} weather in Oslo"
    data = {"key": text, odd: [text]}
    said = mem.observe(text, data=data)
    saved = mem.checkpoint(text, plan_summary=text, intermediate_results=data, task="t")
    mem.wait_for(saved.token)
    assert mem.get(said).event.text == kept
    assert mem.get(said).event.data == {"key": kept, REPLACEMENT: [kept]}
    assert mem.get(said.memory_id).text == kept
    asked = "SELECT text, data->>'key' FROM observations WHERE event_id = ?"
    assert mem.sql(asked, parameters=[said.id]).rows == [(kept, kept)]
    assert mem.saved(saved).checkpoint.current_goal == kept
    assert mem.saved(saved).checkpoint.intermediate_results == mem.get(said).event.data
    assert mem.resume("t").checkpoint.checkpoint.plan_summary == kept
    assert kept in texts(mem.recall(text))


@pytest.mark.bad_input(1, 5)
@pytest.mark.parametrize("word", ["agent", "user", "project", "session", "task", "phase", "id"])
@pytest.mark.parametrize("odd", ["\0", "\udce9"], ids=ascii)
def test_a_name_or_id_with_such_a_character_is_refused_up_front(mem, word, odd):
    before = mem.end()
    with pytest.raises(InvalidEvent, match=word):
        mem.observe("x", **{word: f"a{odd}b"})
    assert mem.end() == before


@pytest.mark.bad_input(1, 5)
@pytest.mark.parametrize("odd", ["\0", "\udce9"], ids=ascii)
def test_questions_with_such_a_character_are_answered(mem, odd):
    mem.wait_for(mem.observe("the ferry to Bergen leaves at nine").token)
    found = mem.recall(f"ferry {odd} to Bergen", kinds=["episode"])
    assert (found.missing, texts(found)[0]) == ((), "the ferry to Bergen leaves at nine")
    assert mem.recall("ferry", kinds=[f"epi{odd}sode"]).memories == ()
    assert mem.timeline(agent=f"ops{odd}") == ()
    for ask in (mem.get, mem.why, mem.history, mem.resume, mem.saved):
        with pytest.raises(NotFound):
            ask(f"e{odd}")


CUT_AT = (*range(44, 52), *range(64, 72), *range(94, 102), *range(154, 161), 294, 598, 1_199)


@pytest.mark.bad_input(3)
@pytest.mark.parametrize("how", SAYING)
def test_whatever_is_cut_ends_on_a_whole_character(how):
    with opened(agent="ops-1") as mem:
        said = [SAYING[how](mem, "好" * length + FAMILY * 3) for length in CUT_AT]
        mem.wait_for(said[-1].token)
        shown = [mem.recall("好", tokens_max=tokens, hits_max=50).text for tokens in range(90, 120)]
        shown += [entry.text for entry in mem.timeline(agent="ops-1", rows_max=500)]
        shown += [mem.get(one.memory_id).text for one in said]
        shown += [str(mem.why(one)) for one in said]
    assert sum(FAMILY in text for text in shown) > 9
    for text in shown:
        text.encode()
        women = {one for one in regex.findall(r"\X", text) if "\U0001f469" in one}
        assert women <= {FAMILY}
        assert not regex.search("\u200d$|^\u200d", text, regex.MULTILINE)


@pytest.mark.bad_input(7)
@pytest.mark.parametrize("bad", ["\ud83e", "\0", "a\udfffb"], ids=ascii)
def test_one_bad_text_among_a_hundred_costs_nothing_beside_it(bad):
    with opened(agent="ops-1") as mem:
        for number in range(100):
            if number == 50:
                put_changed(
                    mem, {"text": "x"}, lambda told: told["data"].update(text=f"span 50 {bad}")
                )
            else:
                mem.observe(f"span {number}")
        mem.wait_for(mem.end())
        rows = mem.sql("SELECT text, event_id FROM observations ORDER BY log_offset").rows
        assert [text.split()[1] for text, _ in rows] == [str(number) for number in range(100)]
        assert REPLACEMENT in rows[50][0]
        flags = [mem.get(event_id).envelope.repaired for _, event_id in rows]
        assert [number for number, flag in enumerate(flags) if flag] == [50]
        first, second = (mem.recall(f"span {n}", hits_max=50) for n in ("50", "7"))
        assert (len(first), first.missing, len(second), second.missing) == (50, (), 50, ())
        assert any(REPLACEMENT in text for text in texts(first))
