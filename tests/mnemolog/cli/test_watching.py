"""status says whether all is well; --watch says it again and again, and ends on Ctrl-C quietly."""

import io
import json

import pytest

from mnemolog.cli import watching
from mnemolog.engine import LEASE_FILE
from mnemolog.health import Level
from mnemolog.outside_look import OutsideLook
from mnemolog.projections.lease import Holding
from support.remembering import opened
from support.watched import Clock


def test_status_says_that_all_is_well(cli, say):
    say("it rains")
    done = cli("status")
    assert "health" in done.out
    assert "  ok\n" in done.out
    assert cli("status", "--json").json["health"]["level"] == "ok"


def test_status_says_what_is_not_well_and_what_to_do(cli, data):
    with opened(data, projects=False) as memory:
        memory.observe("it rains", agent="ops-1")
    done = cli("status")
    assert "DEGRADED moving" in done.out
    assert "Any command or program that opens the folder folds the rest." in done.out
    told = cli("status", "--json").json
    assert told["health"]["verdicts"][0]["question"] == "moving"


def test_without_a_terminal_each_look_is_a_line(data, capsys):
    pauses = []

    def pause():
        pauses.append(1)
        if len(pauses) == 2:
            raise KeyboardInterrupt

    with opened(data) as memory:
        memory.wait_for(memory.observe("it rains", agent="ops-1").token)
        watching.follow(
            lambda: _status(memory),
            OutsideLook(memory.engine),
            pause=pause,
            show=lambda *_: pytest.fail("this is no terminal"),
            as_json=False,
        )
    first, second = capsys.readouterr().out.splitlines()
    assert "  ok  memories 0 behind, 0 parked  " in first
    assert first.split("  ")[1:] == second.split("  ")[1:]


def _status(memory):
    from mnemolog.status import status  # noqa: PLC0415 - drivers are heavy

    return status(memory.engine)


def test_a_watch_ends_on_ctrl_c_with_0_and_in_json_each_look_is_an_object(cli, say, monkeypatch):
    say("it rains")
    looks = []

    def look(self):
        looks.append(1)
        if len(looks) == 3:
            raise KeyboardInterrupt
        return once(self)

    once = OutsideLook.look
    monkeypatch.setattr(OutsideLook, "look", look)
    done = cli("status", "--watch", "--json", "--every", "0.2")
    assert (done.code, done.err) == (0, "")
    told = [json.loads(line) for line in done.out.splitlines()]
    assert [one["health"]["level"] for one in told] == ["ok", "ok"]


def test_on_a_terminal_the_same_is_printed_anew(data, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    screen, shown = Terminal(), []
    monkeypatch.setattr("sys.stdout", screen)

    def pause():
        raise KeyboardInterrupt

    with opened(data) as memory:
        watching.follow(
            lambda: _status(memory),
            OutsideLook(memory.engine),
            pause=pause,
            show=lambda found, health, looks: shown.append((found.tenant, health.level())),
            as_json=False,
        )
    assert shown == [("default", Level.OK)]
    assert screen.getvalue() == watching.HOME_AND_CLEAR


def test_from_outside_one_sees_a_keeper_that_is_stuck_or_stopped(data, monkeypatch):
    clock = Clock()
    with opened(data, projects=False) as memory:
        memory.observe("it rains", agent="ops-1")
        held = {"is_held": True, "pid": 7, "host": "here", "lives": True}
        monkeypatch.setattr("mnemolog.outside_look.look", lambda path: found[path.name])
        found = {LEASE_FILE: Holding(**held)}
        looks = OutsideLook(memory.engine, clock=clock, now=clock.now)
        assert looks.look().level("moving") is Level.OK
        clock.seconds = 121
        assert looks.look().level("moving") is Level.FAILING
        found = {LEASE_FILE: Holding(**held, is_stopped=True)}
        health = looks.look()
        assert health.level("moving") is Level.FAILING
        assert "stopped" in str(health.to_dict())
