"""A check that breaks, a repair that fails: the others go on, and each is told."""

import pytest

from mnemolog.doctor import Finding, Patient, Repair, clock, errors, examined, examining, mend
from mnemolog.schemas.errors import Damaged, MnemologError, StoreUnavailable
from mnemolog.settings import Settings


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
