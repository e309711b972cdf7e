"""Whatever a file holds, an import ends with a report, and nothing beside it is lost."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemolog.importers.formats import names
from mnemolog.schemas.events.experience import MessageExchanged
from support.import_log import ImportLog, json_file, lines_file


def said(text) -> dict:
    return {"role": "user", "content": text}


def texts(log: ImportLog) -> list[str]:
    return [found.recorded.event.text for found in log.of(MessageExchanged)]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec=None), max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=10,
)
KEYS = ("role", "content", "name", "tool_calls", "function_call", "tool_call_id", "type", "text")
ROLES = st.sampled_from(["system", "user", "assistant", "tool", "function", "developer"])
CALLS = st.fixed_dictionaries({"id": JSON, "function": st.fixed_dictionaries({"name": JSON})})
MESSAGE = st.builds(
    dict,
    st.dictionaries(st.sampled_from(KEYS), JSON),
    role=ROLES | JSON,
    tool_calls=JSON | st.lists(CALLS, max_size=2),
)
RUN = st.builds(
    dict,
    st.dictionaries(st.sampled_from(("task_id", "trial", "info", "user", "id", "reward")), JSON),
    messages=st.lists(MESSAGE | JSON, max_size=4) | JSON,
)
TURN = st.dictionaries(
    st.sampled_from(("dia_id", "speaker", "text", "img_url", "blip_caption", "query")), JSON
)
SESSIONS = st.dictionaries(
    st.sampled_from(("session_1", "session_02", "session_x", "speaker_a", "session_1_date_time")),
    JSON | st.just("1:56 pm on 8 May, 2023") | st.lists(TURN, max_size=3),
)
SAMPLE = st.fixed_dictionaries({"sample_id": JSON | st.just("c"), "conversation": JSON | SESSIONS})


@pytest.mark.parametrize("name", names())
@settings(max_examples=60)
@given(items=st.lists(JSON | MESSAGE | RUN | SAMPLE, max_size=4), as_lines=st.booleans())
def test_no_json_raises_out_of_an_import_and_a_second_one_adds_nothing(
    tmp_path_factory, name, items, as_lines
):
    folder = tmp_path_factory.mktemp("any", numbered=True)
    path = lines_file(folder, *items) if as_lines else json_file(folder, items)
    log = ImportLog()
    first = log.take(path, format=name)
    second = log.take(path, format=name)
    assert len(log.events()) == first.added
    assert (second.added, second.events) == (0, first.events)
    assert second.problems == first.problems


@pytest.mark.parametrize("name", names())
@settings(max_examples=60)
@given(
    content=st.binary(max_size=200), before=st.sampled_from([b"", b"[", b"{", b"\x1f\x8b", b"[{"])
)
def test_no_bytes_raise_out_of_an_import(tmp_path_factory, name, content, before):
    path = tmp_path_factory.mktemp("any", numbered=True) / "in"
    path.write_bytes(before + content)
    log = ImportLog()
    report = log.take(path, format=name)
    assert len(log.events()) == report.added


@settings(max_examples=60)
@given(
    # A file that begins as gzip does is gzip.
    bad=st.binary(max_size=60).filter(lambda line: b"\n" not in line and line[:2] != b"\x1f\x8b"),
    at=st.integers(0, 3),
)
def test_no_line_costs_a_neighbour(tmp_path_factory, bad, at):
    lines = [json.dumps({"messages": [said(f"n {n}")]}).encode() for n in range(3)]
    lines.insert(at, bad)
    log = ImportLog()
    log.take(
        lines_file(tmp_path_factory.mktemp("any", numbered=True), *lines), format="openai-chat"
    )
    assert [text for text in texts(log) if text.startswith("n ")] == ["n 0", "n 1", "n 2"]
