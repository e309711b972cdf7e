"""What the checkpoints projection alone does: files, forgetting, litter. The rest is the contract.

See tests/projections/test_all_projections.py for what it does as every projection does.
"""

import pytest

from contracts.projection_contract import Died, place_in, settle
from mnemolog.projections import fault_points
from mnemolog.projections.checkpoints import projection as module
from mnemolog.projections.checkpoints.file_format import snapshot
from mnemolog.projections.checkpoints.projection import CheckpointsProjection
from mnemolog.projections.checkpoints.reading import CheckpointReader
from mnemolog.projections.digests import ContentDigest
from mnemolog.schemas.errors import StoreUnavailable
from mnemolog.schemas.events.experience import (
    ActionStarted,
    MessageExchanged,
    ObservationRecorded,
    TaskCompleted,
)
from mnemolog.schemas.events.memory import MemoryForgotten
from mnemolog.schemas.times import microseconds
from support.checkpoints import checkpoint, files, fold, reader, saved
from support.histories import START, batches, happened, identity, memory_of, recorded

PIN = "my PIN is 0000"


def texts(folder, *events):
    with reader(folder, *events) as asked:
        return [entry.text for entry in asked.timeline()]


SAVED_AT = microseconds(START) + 60_000_000
EVENT = {"guest": 0, "cause": None, "agent": "ops-1", "user": None, "project": None}
COVERED = [
    (
        "timeline",
        "e0",
        {
            **EVENT,
            "type": "action.started",
            "event_id": "e0",
            "occurred_at": microseconds(START),
            "text": 'bash {"n":1}',
            "session": "s1",
            "task": None,
        },
    ),
    (
        "timeline",
        "saved-ops-1-c2",
        {
            **EVENT,
            "type": "checkpoint.saved",
            "event_id": "saved-ops-1-c2",
            "occurred_at": SAVED_AT,
            "text": "go · step",
            "session": None,
            "task": "t1",
        },
    ),
    (
        "actions",
        "e0",
        {"action": "a1", "part": "started", "tool": "bash", "success": None, "costly": 0},
    ),
    (
        "checkpoints",
        "saved-ops-1-c2",
        {
            "event_id": "saved-ops-1-c2",
            "occurred_at": SAVED_AT,
            "id": "c2",
            "agent": "ops-1",
            "task": "t1",
            "parent": "c1",
            "tags": '["x"]',
            "digest": snapshot(checkpoint("c2", parent="c1", tags=["x"])).name,
            "text": "Agent: ops-1. Overall goal: go. Current plan: step. Tags: x",
        },
    ),
]


def test_the_covered_rows_of_a_small_history_are_these(tmp_path):
    events = (
        happened(ActionStarted(action="a1", tool="bash", arguments={"n": 1}), session="s1"),
        saved("c2", parent="c1", tags=["x"]),
    )
    fold(tmp_path, *events)
    projection = CheckpointsProjection.open(place_in(tmp_path))
    told = list(projection.content())
    projection.close()
    wanted = [("ops-1", table, identity(event_id), values) for table, event_id, values in COVERED]
    assert [(row.key, row.table, row.row_id, dict(row.values)) for row in told] == wanted


def test_a_damaged_file_changes_the_digest_and_its_row_says_why(tmp_path):
    folder = fold(tmp_path, saved("c1"))
    projection = CheckpointsProjection.open(place_in(tmp_path))
    sound = ContentDigest.of(projection.content()).hex
    path = folder / "files" / files(folder)[0]
    path.write_bytes(path.read_bytes()[:-1])
    assert ContentDigest.of(projection.content()).hex != sound
    (row,) = [row for row in projection.content() if row.table == "checkpoints"]
    assert "its header tells of" in row.values["damaged"]
    projection.close()


# Forgetting


def test_an_event_forgotten_by_its_id_loses_its_words_and_its_checkpoint(tmp_path):
    folder = fold(
        tmp_path,
        ObservationRecorded(text=PIN),
        saved("c1"),
        MemoryForgotten(events=[identity("e0"), identity("saved-ops-1-c1")]),
    )
    asked = CheckpointReader.open(folder)
    assert [entry.text for entry in asked.timeline()] == [None, None, ""]
    assert asked.list() == []
    assert files(folder) == []
    asked.close()


def test_a_text_is_forgotten_wherever_it_stands_however_it_is_spaced(tmp_path):
    assert texts(
        tmp_path,
        ObservationRecorded(text=PIN),
        ObservationRecorded(text="my  PIN\nis 0000"),
        happened(MessageExchanged(role="user", text=PIN), agent="other"),
        happened(TaskCompleted(outcome="done", lesson=PIN)),
        ActionStarted(action="a1", tool="note", arguments={"text": PIN}),
        ObservationRecorded(text="harmless"),
        MemoryForgotten(texts=[PIN]),
    ) == [None, None, None, None, None, "harmless", ""]


def test_a_text_is_forgotten_as_its_memory_says_it(tmp_path):
    said = MessageExchanged(role="user", speaker="Ann", text="The depot opens at six in winter.")
    forgotten = MemoryForgotten(texts=["Ann: The depot opens at six in winter."])
    assert texts(tmp_path, said, forgotten) == [None, ""]


def test_a_memory_forgotten_by_its_id_takes_the_words_of_its_event(tmp_path):
    said = ObservationRecorded(text="The depot opens at six in winter.")
    assert texts(tmp_path, said, MemoryForgotten(memories=[memory_of("e0")])) == [None, ""]
    folder = fold(
        tmp_path / "other", saved("c1"), MemoryForgotten(memories=[memory_of("saved-ops-1-c1")])
    )
    assert files(folder) == []


def test_a_forgetting_may_come_before_its_target(tmp_path):
    folder = fold(
        tmp_path,
        MemoryForgotten(events=[identity("saved-ops-1-c1")], texts=[PIN]),
        saved("c1"),
        ObservationRecorded(text=PIN),
    )
    asked = CheckpointReader.open(folder)
    assert [entry.text for entry in asked.timeline()] == ["", None, None]
    assert asked.list() == []
    assert files(folder) == []
    asked.close()


def test_a_forgotten_text_is_nowhere_in_the_folder(tmp_path):
    folder = fold(
        tmp_path,
        ObservationRecorded(text=PIN),
        saved("c1", key_observations=[PIN]),
        MemoryForgotten(texts=[PIN]),
    )
    assert [path.name for path in folder.rglob("*") if path.is_file()] == ["index.db"]
    assert PIN.encode() not in (folder / "index.db").read_bytes()


def test_a_file_that_another_checkpoint_shares_stays(tmp_path):
    same = happened(saved("c1").event, event_id="again", task="t1")
    folder = fold(tmp_path, saved("c1"), same, MemoryForgotten(events=[identity("again")]))
    assert len(files(folder)) == 1
    with reader(tmp_path) as asked:
        assert [one.event.event_id for one in asked.list()] == ["saved-ops-1-c1"]
        assert asked.get("c1").checkpoint == checkpoint("c1")


# Litter


def test_files_that_a_crash_left_are_swept_and_those_in_use_are_kept(tmp_path):
    folder = fold(tmp_path, saved("c1"))
    in_use = files(folder)
    (folder / "files" / ("0" * 64)).write_bytes(b"litter")
    (folder / "files" / ".draft.1.draft").write_bytes(b"half")
    projection = CheckpointsProjection.open(place_in(tmp_path))
    settle(projection)
    projection.close()
    assert files(folder) == in_use


def test_sweeping_stops_in_time_and_says_that_more_is_left(tmp_path, monkeypatch):
    folder = fold(tmp_path, saved("c1"))
    (folder / "files" / ("0" * 64)).write_bytes(b"litter")
    projection = CheckpointsProjection.open(place_in(tmp_path))
    assert projection.follow_up(seconds_max=0)
    assert len(files(folder)) == 2
    assert not projection.follow_up(seconds_max=5)
    assert len(files(folder)) == 1
    projection.close()


def test_a_death_before_a_forgotten_file_is_removed_leaves_it_out_of_reach(tmp_path):
    events = recorded(saved("c1"), MemoryForgotten(events=[identity("saved-ops-1-c1")]))
    projection = CheckpointsProjection.open(place_in(tmp_path))
    first, second = batches(events, records_max=1)
    projection.apply(first)

    def die(point):
        if point == "checkpoints.committed":
            raise Died

    with pytest.raises(Died), fault_points.listening(die):
        projection.apply(second)
    projection.close()
    folder = place_in(tmp_path).folder
    assert len(files(folder)) == 1
    asked = CheckpointReader.open(folder)
    assert asked.newest().found is None
    asked.close()
    settle(again := CheckpointsProjection.open(place_in(tmp_path)))
    again.close()
    assert files(folder) == []


# Failures


def test_a_fold_that_fails_parks_its_event_and_its_keys_later_ones(tmp_path, monkeypatch):
    def failing(item, write):
        if b"second" in item.canonical:
            raise ValueError("boom")
        return whole(item, write)

    whole = module.fold
    monkeypatch.setattr(module, "fold", failing)
    projection = CheckpointsProjection.open(place_in(tmp_path))
    told = [ObservationRecorded(text=text) for text in ("first", "second", "third")]
    for batch in batches(recorded(*told, happened(told[0], agent="other"))):
        projection.apply(batch)
    assert [(one.reason, one.behind) for one in projection.parked()] == [
        ("ValueError: boom", False),
        ("ValueError: boom", True),
    ]
    kept = [row.values["agent"] for row in projection.content()]
    assert kept == ["ops-1", "other"]
    projection.close()


def test_a_disk_that_takes_no_file_moves_nothing(tmp_path):
    projection = CheckpointsProjection.open(place_in(tmp_path))
    (place_in(tmp_path).folder / "files").write_text("in the way")
    (batch,) = batches(recorded(saved("c1")))
    with pytest.raises(StoreUnavailable):
        projection.apply(batch)
    assert projection.progress() == {}
    (place_in(tmp_path).folder / "files").unlink()
    projection.apply(batch)
    assert [row.table for row in projection.content()] == ["timeline", "checkpoints"]
    projection.close()
