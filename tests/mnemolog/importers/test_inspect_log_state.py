"""A sample's state is made whole from its changes, and saved where it has changed."""

import json

import pytest

from mnemolog.importers.base import Unreadable
from mnemolog.importers.inspect_log_state import Followed
from mnemolog.schemas.events.experience import CheckpointSaved
from support.evaluations import changed, evaluation, event, sample, span
from support.import_log import ImportLog, json_file


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


def saved(log: ImportLog) -> list:
    return [found.recorded.event.checkpoint for found in log.of(CheckpointSaved)]


def values(log: ImportLog) -> list[dict]:
    return [checkpoint.task_state.state.values for checkpoint in saved(log)]


def test_each_change_of_state_or_store_is_a_checkpoint_whose_parent_is_the_one_before(
    log, tmp_path
):
    begun = {"messages": [{"role": "user", "content": "Go"}], "store": {"n": 0}, "tools": []}
    report = log.take(
        json_file(
            tmp_path,
            evaluation(
                sample(
                    event("sample_init", state=begun),
                    span(
                        "generate",
                        "solver",
                        changed("store", ("replace", "/n", 1)),
                        changed("state", ("add", "/messages/1", {"role": "assistant"})),
                        changed("store", ("add", "/m", [2])),
                    ),
                )
            ),
        )
    )
    assert report.problems == []
    assert values(log) == [
        {"n": 1},
        {"messages": [*begun["messages"], {"role": "assistant"}], "store": {"n": 0}, "tools": []},
        {"n": 1, "m": [2]},
    ]
    checkpoints = saved(log)
    assert [c.parent for c in checkpoints] == [None, *(c.id for c in checkpoints[:-1])]
    states = [c.task_state.state.state_schema for c in checkpoints]
    assert states == ["inspect.store", "inspect.state", "inspect.store"]
    assert {c.plan_summary for c in checkpoints} == {"use_tools > generate"}
    assert {c.current_sub_goal for c in checkpoints} == {"solver generate"}
    assert {c.task_state.task_id for c in checkpoints} == {"trains-1"}
    assert [c.id for c in checkpoints] == [e.envelope.id for e in log.of(CheckpointSaved)]


def test_a_change_that_changes_nothing_saves_nothing(log, tmp_path):
    again = [changed("store", ("add", "/a", 1)), changed("store", ("add", "/a", 1))]
    log.take(json_file(tmp_path, evaluation(sample(*again))))
    assert values(log) == [{"a": 1}]


def test_attachments_are_resolved_in_what_is_saved(log, tmp_path):
    row = [changed("store", ("add", "/a", "attachment://x1")), changed("store", ("add", "/b", 1))]
    log.take(json_file(tmp_path, evaluation(sample(*row, attachments={"x1": "long"}))))
    assert values(log)[-1] == {"a": "long", "b": 1}


def test_a_change_that_does_not_fit_is_named_and_the_rest_goes_on(log, tmp_path):
    row = [
        changed("store", ("add", "/a", 1), ("remove", "/x/y"), ("add", "/lost", 1)),
        changed("store", ("add", "/b", 2)),
    ]
    report = log.take(json_file(tmp_path, evaluation(sample(*row))))
    assert [problem.place for problem in report.problems] == ["sample 1, event 1"]
    assert values(log) == [{"a": 1, "b": 2}]


def test_a_long_state_is_kept_without_its_messages(log, tmp_path):
    long = [{"role": "user", "content": "x" * 600_000}]
    row = [changed("state", ("add", "/messages", long), ("add", "/store", {"n": 1}))]
    report = log.take(json_file(tmp_path, evaluation(sample(*row))))
    assert report.problems == []
    assert values(log) == [{"store": {"n": 1}, "messages_left_out": 1}]


# Changes


@pytest.mark.parametrize(
    ("changes", "value"),
    [
        ([("add", "/c", 3)], {"a": {"b": [1, 2]}, "c": 3}),
        ([("add", "/a/b/1", 9)], {"a": {"b": [1, 9, 2]}}),
        ([("add", "/a/b/-", 9)], {"a": {"b": [1, 2, 9]}}),
        ([("replace", "/a/b/0", 9)], {"a": {"b": [9, 2]}}),
        ([("remove", "/a/b/0")], {"a": {"b": [2]}}),
        ([("remove", "/a")], {}),
        ([("remove", "/x")], {"a": {"b": [1, 2]}}),
        ([("add", "", {"z": 1})], {"z": 1}),
        ([("add", "/x~1y~0z", 1)], {"a": {"b": [1, 2]}, "x/y~z": 1}),
        ([("add", "/", 1)], {"a": {"b": [1, 2]}, "": 1}),
        ([("test", "/a", 5)], {"a": {"b": [1, 2]}}),
    ],
)
def test_changes_are_those_of_the_rfc(changes, value):
    followed = Followed({"a": {"b": [1, 2]}})
    given = [dict(zip(("op", "path", "value"), c, strict=False)) for c in changes]
    assert followed.change(given) == (value != {"a": {"b": [1, 2]}})
    assert followed.kept() == value


def test_a_part_is_moved_or_copied():
    followed = Followed({"a": {"b": [1]}})
    followed.change([{"op": "copy", "from": "/a/b", "path": "/c"}])
    followed.change([{"op": "move", "from": "/a", "path": "/d"}])
    followed.change([{"op": "add", "path": "/c/0", "value": 7}])
    assert followed.kept() == {"c": [7, 1], "d": {"b": [1]}}


@pytest.mark.parametrize(
    "change",
    [
        {"op": "add", "path": "/a/b/9", "value": 1},
        {"op": "add", "path": "/a/b/x", "value": 1},
        {"op": "add", "path": "/a/b/0/deeper", "value": 1},
        {"op": "replace", "path": "/a/b/-", "value": 1},
        {"op": "remove", "path": ""},
        {"op": "move", "from": "/x/y", "path": "/z"},
        {"op": "copy", "path": "/z"},
        {"op": "add", "path": "a", "value": 1},
        {"op": "add", "path": None, "value": 1},
        {"op": "wish", "path": "/a"},
        {"op": "add", "path": "/a/b/²", "value": 1},
        3,
    ],
)
def test_a_change_that_leads_nowhere_is_refused(change):
    followed = Followed({"a": {"b": [1, 2]}})
    with pytest.raises(Unreadable):
        followed.change([change])
    assert followed.kept() == {"a": {"b": [1, 2]}}


@pytest.mark.parametrize(
    "changes",
    [
        [{"op": "copy", "from": "", "path": f"/c{n}"} for n in range(60)],
        [{"op": "add", "path": "/x" * n, "value": {}} for n in range(1, 3_000)],
        [{"op": "add", "path": "", "value": 7}],
        [{"op": "add", "path": "/x", "value": "x" * 17_000_000}],
    ],
)
def test_a_state_without_end_is_lost_and_harms_nothing(changes):
    followed = Followed({"a": "x" * 100})
    with pytest.raises(Unreadable):
        followed.change(changes)
    followed.change([{"op": "add", "path": "/b", "value": 1}])
    assert len(json.dumps(followed.kept())) <= 40_000_000
