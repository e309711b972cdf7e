"""Trees, traces, spans and evaluations through the whole stack: resumed, recalled, counted, once.

Memory on the embedded log. The samples stand beside the checkout, or these are skipped.
"""

import json
from collections import Counter

import pytest

from mnemolog.importers.importing import import_paths
from mnemolog.projections.kinds import NAMES
from support.remembering import PATIENCE_SECONDS, opened, recorded
from support.sources import ROOT

DATA = ROOT.parent / "shared" / "data"
FOLDERS = ("toolbench", "langfuse", "otel-spans", "inspect")


@pytest.fixture(scope="module")
def remembering(tmp_path_factory):
    if not all((DATA / folder).exists() for folder in FOLDERS):
        pytest.skip(f"no samples in {DATA}: they are not beside this checkout")
    with opened(tmp_path_factory.mktemp("traces") / "data") as mem:
        yield mem, take(mem)


def take(mem):
    paths = [str(DATA / folder) for folder in FOLDERS]
    report = import_paths(paths, publisher=mem.engine.publisher, log=mem.engine.log)
    mem.wait_for(mem.end(), timeout_seconds=250, projections=NAMES, vectors=True)
    return report


def of(mem, event_type):
    return [event for event in recorded(mem) if event.event.event_type == event_type]


# Trees


@pytest.fixture(scope="module")
def search(remembering):
    """Return the memory, the tree, the task's name, and the ids of its checkpoints in order."""
    mem, _ = remembering
    paths = [path for path in (DATA / "toolbench").glob("*") if path.read_bytes()[:1] == b"{"]
    tree = json.loads(paths[0].read_bytes())["tree"]["tree"]
    (started,) = [e for e in of(mem, "task.started") if e.envelope.agent == "toolbench"]
    task = started.envelope.task
    saved = [e.envelope.id for e in of(mem, "checkpoint.saved") if e.envelope.task == task]
    return mem, tree, task, saved


def test_the_branch_points_of_a_search_are_the_task_s_checkpoints(search):
    mem, _, task, saved = search
    listed = mem.checkpoints(task=task, rows_max=100)
    assert [checkpoint.id for checkpoint in listed] == saved[::-1]


def test_from_the_deepest_branch_point_the_way_leads_back_to_the_first(search):
    mem, tree, _, saved = search
    ways = []
    for checkpoint in saved:
        way = [checkpoint]
        while (parent := mem.saved(way[-1]).checkpoint.parent) is not None:
            way.append(parent)
        ways.append(way)
    assert {way[-1] for way in ways} == {saved[0]}
    depths, waiting = [], [(tree, 1)]
    while waiting:
        node, depth = waiting.pop()
        branches = len(node["children"]) > 1
        depths += [depth] * branches
        waiting += [(child, depth + branches) for child in reversed(node["children"])]
    assert [len(way) for way in ways] == depths


def test_a_task_is_resumed_from_its_last_branch_point(search):
    mem, _, task, saved = search
    checkpoint = mem.resume(task).checkpoint.checkpoint
    assert checkpoint.id == saved[-1]
    state = checkpoint.task_state
    assert state.task_id == task
    assert state.current_node == state.nodes[-1].id


# Traces, spans, evaluations


def test_an_answer_is_recalled_by_its_words_with_its_event(remembering):
    mem, _ = remembering
    for words in ("Sagrada Família Barcelona", "What is Langfuse?", "weather Tokyo stormy"):
        found = mem.recall(words, hits_max=10, timeout_seconds=PATIENCE_SECONDS)
        word = words.split()[0].rstrip("?")
        evident = [memory for memory in found if word in memory.text]
        assert evident, words
        source = mem.get(evident[0].provenance.event_id)
        assert word in source.event.model_dump_json()


def test_calls_answers_and_costs_can_be_counted(remembering):
    mem, report = remembering
    events = [e.event for e in recorded(mem)]
    actions = {e.action for e in events if e.event_type in ("action.started", "action.finished")}
    assert mem.sql("SELECT count(*) FROM actions").rows == [(len(actions),)]
    assert mem.sql("SELECT count(*) FROM feedback").rows == [(report.by_type["feedback.given"],)]
    uses = [e.event.model_use for e in recorded(mem) if e.event.model_use is not None]
    spent = Counter(use.model for use in uses)
    assert spent["gpt-4o-mini-2024-07-18"] >= 10
    assert sum(use.cost_usd or 0 for use in uses) > 0


def test_why_leads_from_an_answer_back_to_the_question(remembering):
    mem, _ = remembering
    (found,) = [e for e in of(mem, "message.exchanged") if "stormy, high around 23" in e.event.text]
    events = {e.envelope.id: e for e in recorded(mem)}
    step, types = found, []
    while step.envelope.cause is not None:
        step = events[step.envelope.cause]
        types.append(step.event.event_type)
    assert types[:3] == ["action.finished", "action.started", "message.exchanged"]
    assert types[-1] == "session.started"


def test_the_state_of_an_evaluated_sample_is_its_last_checkpoint(remembering):
    mem, _ = remembering
    (path,) = (DATA / "inspect").glob("*browser.json")
    (sample,) = json.loads(path.read_bytes())["samples"]
    checkpoint = mem.resume("browser-1").checkpoint.checkpoint
    assert checkpoint.task_state.state.values["store"] == sample["store"]


def test_all_of_it_imported_again_adds_nothing_anywhere(remembering):
    mem, first = remembering
    assert first.problems == []
    before = mem.digests()
    again = take(mem)
    assert (again.added, again.already_there) == (0, first.added)
    assert mem.digests() == before
