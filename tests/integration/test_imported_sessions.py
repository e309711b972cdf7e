"""Sessions of coding agents through the whole stack: what analysts and resuming agents see of them.

Memory on the embedded log and LanceDB. Samples that stand beside the checkout are skipped without
it.
"""

import pytest

from mnemolog.importers.importing import import_paths
from mnemolog.projections.kinds import NAMES
from support import codex
from support.claude_code import answers, calls, model, says, usage, user
from support.import_log import lines_file
from support.remembering import PATIENCE_SECONDS, opened, recorded
from support.sources import ROOT

DATA = ROOT.parent / "shared" / "data"
CLAUDE_CODE = [
    user("u1", "Why does the harbour clock run slow?"),
    model("a1", calls("t1", cmd="lost"), parent="u1", usage=usage(1)),
    user("u2", "Look at the pendulum of the harbour clock.", parent="u1"),
    model("a2", calls("t2", cmd="look"), parent="u2", message="m2", usage=usage(1)),
    model("a3", calls("t3", cmd="ask"), parent="a2", message="m2", usage=usage(30)),
    user("u3", [answers("t2", "rust")], parent="a2"),
    user("u4", [answers("t3", "no idea", is_error=True)], parent="a3"),
    model("a4", says("The pendulum is rusty."), parent="u3", usage=usage(9)),
]
CODEX = [
    codex.meta(),
    codex.said("user", "Paint the lighthouse door."),
    codex.call("c1", cmd="lost"),
    codex.event("thread_rolled_back", num_turns=1),
    codex.said("user", "Paint the lighthouse door green."),
    codex.said("assistant", "The lighthouse door is green."),
    codex.event("task_complete"),
]


def take(mem, path):
    report = import_paths([path], publisher=mem.engine.publisher, log=mem.engine.log)
    mem.wait_for(mem.end(), timeout_seconds=250, projections=NAMES, vectors=True)
    return report


@pytest.fixture(scope="module")
def mem(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sessions")
    with opened(folder / "data") as memory:
        for name, lines in (("claude", CLAUDE_CODE), ("codex", CODEX)):
            path = lines_file(folder, *lines, name=f"{name}.jsonl")
            first = take(memory, path)
            assert (first.problems, first.already_there) == ([], 0)
            before = memory.digests()
            assert take(memory, path).added == 0
            assert memory.digests() == before
        yield memory


@pytest.mark.bad_input(31)
def test_a_call_of_a_rewound_branch_is_orphaned_and_its_session_closed(mem):
    rows = mem.sql("SELECT agent, status, count(*) FROM actions GROUP BY ALL ORDER BY ALL").rows
    assert rows == [
        ("claude-code", "failed", 1),
        ("claude-code", "orphaned", 1),
        ("claude-code", "succeeded", 1),
        ("codex", "orphaned", 1),
    ]
    rows = mem.sql("SELECT session, status FROM sessions ORDER BY session").rows
    assert rows == [("r-1", "ended"), ("s-1", "ended")]


@pytest.mark.bad_input(29)
def test_a_message_in_several_lines_costs_once(mem):
    rows = mem.sql("SELECT tokens_out FROM sessions WHERE session = 's-1'").rows
    assert rows == [(1 + 30 + 9,)]


def test_what_was_said_is_recalled_with_its_event_and_its_causes(mem):
    (found, *_) = mem.recall(
        "the pendulum of the harbour clock", agent="claude-code", timeout_seconds=PATIENCE_SECONDS
    )
    assert found.text == "Look at the pendulum of the harbour clock."
    told = {event.id: event for event in recorded(mem)}
    cause = told[told[found.provenance.event_id].envelope.cause]
    assert cause.event.text == "Why does the harbour clock run slow?"


def test_a_history_of_aider_can_be_counted_and_recalled(tmp_path):
    path = next(iter(sorted((DATA / "aider").glob("*.md"))), None)
    if path is None:
        pytest.skip(f"no files in {DATA / 'aider'}: the samples are not beside this checkout")
    lines = path.read_bytes().decode().split("\n")
    starts = [n for n, line in enumerate(lines) if line.startswith("# aider chat started at")]
    head = tmp_path / "head.md"
    head.write_text("\n".join(lines[starts[1] : starts[40]]))
    commits = sum(line.startswith("> Commit ") for line in lines[starts[1] : starts[40]])
    with opened(tmp_path / "data") as memory:
        assert take(memory, head).problems == []
        assert memory.sql("SELECT count(*) FROM sessions").rows == [(39,)]
        assert memory.sql("SELECT count(*) FROM checkpoints").rows == [(commits,)]
        running = memory.sql("SELECT count(*) FROM actions WHERE status = 'running'").rows
        assert running == [(0,)]
        edited = memory.sql("SELECT count(*) FROM actions WHERE tool = 'edit'").rows[0][0]
        assert edited > 10
        before = memory.digests()
        assert take(memory, head).added == 0
        assert memory.digests() == before
