"""Whatever stands in the fields of a run, an import ends with a report and costs no neighbour."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemolog.schemas.events.experience import MessageExchanged
from support.call_logs import call_logs
from support.import_log import ImportLog, json_file, lines_file
from support.openhands import EVENTS, OLD_EVENTS, old_run, run
from support.swe_agent import HISTORY, STEPS, traj

JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec=None), max_size=12)
    | st.sampled_from(["user", "agent", "bash", "submitted", "{}", "2025-01-01T00:00:00", "true"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=8,
)


def spoilt(value) -> st.SearchStrategy:
    """Return values like *value*, of which any part, down to the leaves, may be anything."""
    if isinstance(value, dict):
        kept = {key: spoilt(inner) for key, inner in value.items()}
        like = st.fixed_dictionaries({}, optional=kept)
    elif isinstance(value, list):
        like = st.tuples(*map(spoilt, value)).map(list)
    else:
        like = st.just(value)
    return st.integers(0, 9).flatmap(lambda chance: JUNK if chance == 0 else like)


MINI = [
    {"role": "system", "content": "x"},
    {"role": "user", "content": "y", "extra": {"timestamp": 1.5, "exit_status": "Submitted"}},
    {"role": "assistant", "content": "```bash\nls\n```", "extra": {"cost": 1, "response": {}}},
    {"role": "exit", "content": "<returncode>0</returncode>", "extra": {"returncode": 0}},
]
WHOLE = spoilt({"messages": MINI, "info": {"exit_status": "x"}})
LIKE = {
    "openhands": st.one_of(*map(spoilt, (run(), old_run(), EVENTS[3], OLD_EVENTS[1]))),
    "openhands-llm-logs": spoilt(call_logs()[1]),
    "swe-agent": spoilt(traj(STEPS[:2])) | spoilt({"history": HISTORY[:5]}),
    "mini-swe-agent": WHOLE | spoilt(MINI[2]),
}


@pytest.mark.parametrize("name", sorted(LIKE))
@settings(max_examples=100)
@given(data=st.data())
def test_nothing_in_a_run_raises_and_a_second_import_adds_nothing(tmp_path_factory, name, data):
    items = data.draw(st.lists(LIKE[name], max_size=3))
    folder = tmp_path_factory.mktemp("run", numbered=True)
    as_lines = data.draw(st.booleans())
    path = lines_file(folder, *items) if as_lines else json_file(folder, items)
    log = ImportLog()
    first = log.take(path, format=name)
    second = log.take(path, format=name)
    assert len(log.events()) == first.added
    assert (second.added, second.events) == (0, first.events)
    assert second.problems == first.problems


@pytest.mark.parametrize(
    ("name", "sound"),
    [
        ("openhands", old_run(OLD_EVENTS[:1])),
        ("openhands-llm-logs", call_logs()[0]),
        ("swe-agent", {"history": HISTORY[:2]}),
        ("mini-swe-agent", {"messages": [{"role": "user", "content": "Please fix it."}]}),
    ],
)
@settings(max_examples=40)
@given(data=st.data())
def test_no_run_costs_a_neighbour(tmp_path_factory, name, sound, data):
    # A message by itself makes the whole file one run.
    odd = data.draw(WHOLE if name == "mini-swe-agent" else LIKE[name])
    folder = tmp_path_factory.mktemp("run", numbered=True)
    alone, beside = ImportLog(), ImportLog()
    alone.take(json_file(folder, sound), format=name)
    beside.take(lines_file(folder, odd, sound), format=name)
    told = {f.envelope.id for f in beside.of(MessageExchanged)}
    assert {f.envelope.id for f in alone.of(MessageExchanged)} <= told
