"""Lines of sessions with anything in any place end as a report, and are told once."""

from string import ascii_lowercase

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.import_log import ImportLog, lines_file

SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.text(ascii_lowercase, max_size=3)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


def made_of(fields: dict) -> st.SearchStrategy:
    """Return objects that may lack any of *fields*, and have anything in its place."""
    either = {key: value | JSON for key, value in fields.items()}
    return st.fixed_dictionaries({}, optional=either)


NAMES = st.sampled_from(["n1", "n2", "n3", "\ud800"])
TIMES = st.sampled_from(["2025-06-01T10:00:00Z", "2025-06-01T10:00:00"])
TEXTS = st.sampled_from(
    [
        "",
        "Hi.",
        "Hi. There.",
        "\udce9\0",
        "<command-name>/exit</command-name>",
        "<local-command-stdout>x",
    ]
)
KINDS = ("text", "thinking", "tool_use", "tool_result", "image", "input_text", "summary_text")
BLOCKS = made_of(
    {
        "type": st.sampled_from(KINDS),
        "text": TEXTS,
        "thinking": TEXTS,
        "id": NAMES,
        "tool_use_id": NAMES,
        "name": st.sampled_from(["Bash", "Task"]),
        "input": st.fixed_dictionaries({"prompt": TEXTS}),
        "content": TEXTS
        | st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": TEXTS})),
        "is_error": st.booleans(),
    }
)
CONTENT = TEXTS | st.lists(BLOCKS, max_size=3)
MESSAGES = made_of(
    {
        "id": NAMES,
        "content": CONTENT,
        "model": NAMES,
        "stop_reason": st.sampled_from(["end_turn", "tool_use"]),
        "usage": st.fixed_dictionaries({"input_tokens": st.integers(0, 9), "output_tokens": JSON}),
    }
)
CLAUDE_TYPES = ("user", "assistant", "system", "summary", "attachment", "progress", "hologram")
SUBTYPES = ("compact_boundary", "stop_hook_summary", "local_command")
CLAUDE = made_of(
    {
        "type": st.sampled_from(CLAUDE_TYPES),
        "uuid": NAMES,
        "parentUuid": NAMES,
        "logicalParentUuid": NAMES,
        "leafUuid": NAMES,
        "sessionId": st.sampled_from(["s1", "s2"]),
        "agentId": st.sampled_from(["g1", "g2"]),
        "isSidechain": st.booleans(),
        "isMeta": st.booleans(),
        "isCompactSummary": st.booleans(),
        "timestamp": TIMES,
        "cwd": st.sampled_from(["/home/kari", "/"]),
        "message": MESSAGES,
        "summary": TEXTS,
        "content": TEXTS,
        "subtype": st.sampled_from(SUBTYPES),
        "level": st.sampled_from(["info", "warning"]),
        "compactMetadata": st.fixed_dictionaries({"trigger": JSON}),
        "attachment": st.fixed_dictionaries(
            {"type": st.sampled_from(["queued_command", "hook_blocking_error"]), "prompt": TEXTS}
        ),
        "hookErrors": st.lists(JSON, max_size=2),
        "toolUseResult": st.fixed_dictionaries({"durationMs": JSON, "interrupted": JSON}),
        "toolUseID": NAMES,
        "costUSD": st.floats(),
    }
)
ITEMS = ("message", "reasoning", "function_call", "function_call_output", "web_search_call", "x")
EVENTS = (
    *("user_message", "agent_message", "agent_reasoning", "token_count", "task_complete"),
    *("turn_aborted", "thread_rolled_back", "shutdown_complete", "hologram"),
)
CODEX_TYPES = ("session_meta", "turn_context", "response_item", "event_msg", "compacted", "x")
NUMBERS = st.fixed_dictionaries({"input_tokens": JSON, "output_tokens": st.integers(0, 9)})
PAYLOADS = made_of(
    {
        "type": st.sampled_from(ITEMS + EVENTS),
        "id": st.sampled_from(["r1", "r2"]),
        "forked_from_id": st.sampled_from(["r1", "r2"]),
        "role": st.sampled_from(["user", "assistant", "developer"]),
        "content": CONTENT,
        "message": TEXTS,
        "text": TEXTS,
        "summary": st.lists(BLOCKS, max_size=2),
        "call_id": NAMES,
        "name": NAMES,
        "arguments": st.sampled_from(["", "{}", "[1]", '{"a":1}']),
        "action": st.fixed_dictionaries({"query": JSON}),
        "status": st.sampled_from(["completed", "failed"]),
        "output": TEXTS | CONTENT | st.fixed_dictionaries({"content": CONTENT, "success": JSON}),
        "model": NAMES,
        "instructions": TEXTS,
        "base_instructions": st.fixed_dictionaries({"text": JSON}),
        "source": st.fixed_dictionaries({"subagent": JSON}),
        "info": st.fixed_dictionaries({"total_token_usage": JSON, "last_token_usage": NUMBERS}),
        "images": st.lists(JSON, max_size=2),
    }
)
CODEX = made_of({"type": st.sampled_from(CODEX_TYPES), "timestamp": TIMES, "payload": PAYLOADS})


@pytest.mark.parametrize(("name", "lines"), [("claude-code", CLAUDE), ("codex", CODEX)])
@settings(max_examples=100)
@given(data=st.data())
def test_lines_with_anything_in_any_place_end_as_a_report_and_are_told_once(
    tmp_path_factory, name, lines, data
):
    drawn = data.draw(st.lists(lines, max_size=8))
    path = lines_file(tmp_path_factory.mktemp("any", numbered=True), *drawn)
    log = ImportLog()
    first = log.take(path, format=name)
    second = log.take(path, format=name)
    assert len(log.events()) == first.added == first.events
    assert (second.added, second.events) == (0, first.events)
    assert second.problems == first.problems
    causes = {found.envelope.cause for found in log.events()} - {None}
    assert causes <= {found.envelope.id for found in log.events()}
