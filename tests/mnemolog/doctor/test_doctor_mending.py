"""A check that breaks, a repair that fails: the others go on, and each is told."""

import pytest

from mnemolog.doctor import (
    Finding,
    Patient,
    Repair,
    clock,
    errors,
    examined,
    examining,
    mend,
    stores,
)
from mnemolog.engine import LEASE_FILE
from mnemolog.projections.lease import Lease
from mnemolog.schemas.errors import Damaged, MnemologError, StoreUnavailable
from mnemolog.settings import Settings
from support.doctoring import looked
from support.remembering import opened


@pytest.fixture
def patient(tmp_path):
    return Patient(Settings.unchecked(data=str(tmp_path)), tmp_path / "default", None)


def failing(error):
    def fail(*_):
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (StoreUnavailable("index.db", "locked", hint="wait"), "wait"),
        (OSError(5, "Input/output error"), MnemologError.hint),
        (RecursionError("deep"), MnemologError.hint),
    ],
)
def test_a_check_that_breaks_is_a_finding_and_the_others_go_on(patient, monkeypatch, error, advice):
    monkeypatch.setattr(clock, "check", failing(error))
    found = examined(patient)
    (broken,) = [one for one in found if one.check == "clock"]
    assert (broken.state, broken.advice) == ("bad", advice)
    assert str(error) in broken.detail
    assert broken.bundled == f"the check failed: {type(error).__name__}"
    assert {one.check for one in found} >= {"packages", "errors"}


def test_what_another_check_tells_already_is_told_once(patient, monkeypatch):
    error = Damaged("index.db", "torn")
    told = Finding("errors", "bad", f"checkpoints: {error}")
    monkeypatch.setattr(clock, "check", failing(error))
    monkeypatch.setattr(errors, "check", lambda _: iter([told]))
    found = examined(patient)
    assert told in found
    assert "clock" not in {one.check for one in found}


def test_an_interrupt_is_no_finding(patient, monkeypatch):
    monkeypatch.setattr(examining.clock, "check", failing(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        examined(patient)


def repairs(*runs):
    named = [Repair(f"do {number}", run) for number, run in enumerate(runs)]
    return [Finding("x", "bad", "y", repair=repair) for repair in named]


def test_a_repair_that_fails_is_told_and_the_others_are_run(patient):
    told = []
    findings = repairs(
        failing(StoreUnavailable("disk", "full", hint="Make room.")),
        failing(ValueError("odd")),
        lambda: "all of it",
    )
    assert mend(findings, tell=told.append) == 2
    assert told == [
        "will do 0",
        "  not done: disk: full. Make room.",
        "will do 1",
        f"  not done: ValueError: odd. {MnemologError.hint}",
        "will do 2",
        "  done: all of it",
    ]


def test_repairs_that_say_the_same_are_run_once():
    ran = []
    findings = repairs(lambda: ran.append(1) or "done") * 3
    assert mend([*findings, Finding("x", "ok", "y")], tell=lambda _: None) == 0
    assert ran == [1]


# Beside others


def test_who_begins_to_keep_the_projections_while_doctor_looks_is_not_disturbed(data, monkeypatch):
    begun = []

    def look_and_be_overtaken(serving):
        begun.append(opened(data, agent="ops-1"))
        begun[-1].observe("appended meanwhile")
        assert not begun[-1].engine.is_owner

    monkeypatch.setitem(stores._LOOKS, "analytics", {look_and_be_overtaken: True})
    looked(data, stores)
    (mem,) = begun
    mem.wait_for(mem.end())
    assert mem.engine.is_owner
    mem.close()


def test_what_a_keeper_has_open_is_left_to_it_and_that_is_said(data):
    with opened(data):
        found = {one.detail.split()[0]: one for one in looked(data, stores)}
    assert {one.state for one in found.values()} == {"ok"}
    left = {name for name, one in found.items() if stores.OF_ITS_KEEPER in one.detail}
    assert left == {"memories", "analytics"}


def test_who_died_is_still_told_after_doctor_looked(data):
    lease = Lease.take(data / "default" / LEASE_FILE)
    lease._file.close()  # as a death does: nothing is said
    looked(data, stores)
    again = Lease.take(data / "default" / LEASE_FILE)
    assert again.is_after_a_death
    again.release()
