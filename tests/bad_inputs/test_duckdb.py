"""Analysts' tables and the state beside them: cut logs of writes, and one id many times a batch."""

import shutil
from pathlib import Path

import pytest

from mnemolog.projections.kinds import NAMES
from mnemolog.schemas.positions import Token
from support.raw_records import put
from support.remembering import opened, texts

EVENTS = 16


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """Return the folder of a memory whose process was killed, and its digests."""
    folder = tmp_path_factory.mktemp("killed")
    with opened(folder / "alive", agent="ops-1") as mem:
        for number in range(EVENTS):
            last = mem.observe(f"lamp {number}", task="t")
            mem.checkpoint(f"goal {number}", plan_summary="on", task="t")
            if number == EVENTS // 2:
                mem.wait_for(last.token, projections=NAMES)
        mem.wait_for(mem.end(), projections=NAMES, vectors=True)
        digests = mem.digests()
        shutil.copytree(folder / "alive", folder / "left")
    return folder / "left", digests


def logs_of_writes(folder: Path) -> list[Path]:
    """Return those of the projections; the log of the tenant itself is the only truth."""
    found = [path for path in folder.rglob("*") if path.name.endswith((".wal", "-wal"))]
    return [path for path in found if path.stat().st_size and "log" not in path.parent.name]


CUTS = {
    "7 bytes": lambda content: content[:-7],
    "half": lambda content: content[: len(content) // 2],
    "all but its head": lambda content: content[:40],
    "everything": lambda _: b"",
    "its head": lambda content: content[7:],
    "in its middle": lambda content: content[:99] + b"\0" * 64 + content[163:],
}
FEW_CUTS = ("7 bytes", "everything", "in its middle")


@pytest.mark.bad_input(75)
@pytest.mark.parametrize(
    ("store", "cut"),
    [
        *(("analytics", cut) for cut in CUTS),
        *((store, cut) for store in ("memories", "weights", "checkpoints") for cut in FEW_CUTS),
    ],
)
def test_a_cut_log_of_writes_is_made_good_from_the_log_of_the_tenant(killed, tmp_path, store, cut):
    left, digests = killed
    shutil.copytree(left, tmp_path / "data")
    cuttable = [p for p in logs_of_writes(tmp_path / "data") if store in p.parts]
    assert cuttable
    for path in cuttable:
        path.write_bytes(CUTS[cut](path.read_bytes()))
    for _ in range(2):  # a start never loops
        with opened(tmp_path / "data", agent="ops-1") as mem:
            mem.wait_for(mem.end(), projections=NAMES, vectors=True)
            assert mem.sql("SELECT count(*) FROM observations").rows == [(EVENTS,)]
            assert mem.resume("t").checkpoint.checkpoint.current_goal == f"goal {EVENTS - 1}"
            assert "lamp 7" in texts(mem.recall("lamp 7"))
            assert mem.digests() == digests


@pytest.mark.bad_input(77)
@pytest.mark.parametrize("engine", ["memory", "disk"])
@pytest.mark.parametrize("order", ["e1 e2 e1 e3 e1", "e1 e1 e1", "e3 e2 e1 e1 e2 e3"])
def test_a_batch_may_hold_one_id_many_times(tmp_path, engine, order):
    names = order.split()
    data = ":memory:" if engine == "memory" else tmp_path / "data"
    with opened(data, agent="ops-1") as mem:
        with mem.engine.dispatcher.paused():  # so that one batch holds them all
            said = {name: mem.observe(f"lamp {name}", id=name) for name in sorted(set(names))}
            for name in names:
                again(mem, said[name])
        end = mem.end()
        mem.wait_for(end, projections=NAMES)
        ids = sorted(set(names))
        assert mem.sql("SELECT event_id FROM events ORDER BY 1").rows == [(name,) for name in ids]
        assert sorted(memory.provenance.event_id for memory in mem.recall("lamp")) == ids
        assert mem._readers.memories().counts()["memories"] == len(ids)
        assert [entry.event_id for entry in mem.timeline()] == ids
        # Repeats stand on the log, and nowhere else.
        assert sum(mem.engine.log.ends().values()) == len(ids) + len(names)
        mem.rebuild()
        assert mem.sql("SELECT count(*) FROM events").rows == [(len(ids),)]


def again(mem, said) -> Token:
    """Put the event on the log once more, as Kafka may."""
    record = mem.engine.log.at(said.position)
    return put(mem, record.value, key=record.key, headers=record.headers)
