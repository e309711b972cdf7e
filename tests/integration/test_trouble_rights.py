"""A folder that may not be written: it is read, and what would write says so; nobody is root here.

Root may write anywhere, so a child becomes nobody once it has imported what it needs.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from support.trouble import ENVIRONMENT, left, made

NOBODY = 65_534
AS_NOBODY = """
import io, json, os, sys
from contextlib import redirect_stderr, redirect_stdout
from unittest import mock
import duckdb, lancedb
import mnemolog.cli.importing, mnemolog.doctor.bundle, mnemolog.memory, mnemolog.status
import mnemolog.projections.analytics.projection, mnemolog.projections.analytics.published_files
import mnemolog.projections.memories.checking, mnemolog.replay.lineage
from mnemolog.cli.main import main
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
for arguments in json.loads(sys.argv[1]):
    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        mock.patch.object(sys, "argv", ["mnemolog", *arguments]),
        mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"text": "x"}'))),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    print(json.dumps([code, out.getvalue(), err.getvalue()]), flush=True)
"""


@pytest.fixture(scope="module")
def lived():
    """Return a folder that everybody may look into, below one that everybody may enter."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        folder = Path(name) / "lived"
        yield folder, made(folder)


@pytest.fixture
def data(lived):
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        shutil.copytree(lived[0], Path(name) / "data")
        for path in (Path(name) / "data").rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
        (Path(name) / "data").chmod(0o755)
        if os.geteuid() != 0:
            protect(Path(name) / "data")
        yield Path(name) / "data"
        for path in [Path(name) / "data", *(Path(name) / "data").rglob("*")]:
            path.chmod(0o755)


def protect(folder):
    for path in sorted(folder.rglob("*"), reverse=True):
        path.chmod(path.stat().st_mode & ~0o222)


def as_nobody(data, *commands):
    """Return code, answer and notes of each command line, run by a user who owns nothing here."""
    done = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, json.dumps(commands)],
        env={**os.environ, **ENVIRONMENT, "MNEMOLOG_DATA": str(data), "HOME": "/nonexistent"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = [tuple(json.loads(line)) for line in done.stdout.splitlines()]
    assert not any("Traceback" in err for _, _, err in told), told
    return told


def is_refused(told, *words):
    code, _, err = told
    return code == 4 and all(word in err for word in words)


SAY = ("append", "observation.recorded", '{"text": "x"}', "--agent", "ops-1")
RIGHTS = "May this user write there"


def test_a_folder_that_may_only_be_read_is_read_and_doctor_names_what_may_not(lived, data):
    append, importing, rebuild, status, recall, sql, resume, doctor, fix = as_nobody(
        data,
        SAY,
        ("import", "-"),
        ("rebuild", "weights"),
        ("status", "--json"),
        ("recall", "lamp 3", "--json"),
        ("sql", "SELECT count(*) AS n FROM observations", "--json"),
        ("resume", "t"),
        ("doctor", "--json"),
        ("doctor", "--fix", "--json"),
    )
    for told in (append, importing, rebuild):
        assert is_refused(told, "log.db", "may not be written", RIGHTS), told
    assert json.loads(status[1])["ends"] == {"0": lived[1].records}, status
    assert "what is there is read" in status[2]
    assert "lamp 3 is on" in [one["text"] for one in json.loads(recall[1])["memories"]], recall
    assert (sql[0], "14" in sql[1]) == (0, True), sql
    assert "goal 11" in resume[1], resume
    for told in (doctor, fix):
        bad = [one for one in json.loads(told[1]) if one["state"] == "bad"]
        assert (told[0], [one["check"] for one in bad]) == (1, ["rights"]), told
        assert "chown" in bad[0]["advice"]
    assert left(data) == lived[1]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can take a part of a folder from a user")
@pytest.mark.parametrize("part", ["memories", "analytics", "published"])
def test_a_part_that_may_not_be_written_keeps_nobody_from_appending(lived, data, part):
    owned_but(data, part)
    append, status, recall, doctor = as_nobody(
        data, SAY, ("status", "--json"), ("recall", "lamp 3", "--json"), ("doctor", "--json")
    )
    assert append[0] in {0, 4}, append
    assert append[1].strip(), append  # its id
    if append[0]:
        assert part in append[2], append
        assert "write" in append[2] or "ermi" in append[2], append
    assert json.loads(status[1])["ends"]["0"] >= lived[1].records + 1, status
    assert recall[0] == 0 or part in recall[2], recall
    bad = [one for one in json.loads(doctor[1]) if one["state"] == "bad"]
    assert "rights" in [one["check"] for one in bad], bad
    assert left(data).records == lived[1].records + 1 + ("recalled" in str(recall))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can take a part of a folder from a user")
def test_a_part_that_may_not_even_be_read_is_named_by_all(lived, data):
    owned_but(data, "weights")
    (data / "default" / "weights").chmod(0o700)
    append, recall, status, doctor = as_nobody(
        data, SAY, ("recall", "lamp 3"), ("status",), ("doctor", "--json")
    )
    assert append[0] == 4
    assert "weights" in append[2]
    assert append[1].strip()
    assert recall[0] in {0, 4}
    assert "weights" in recall[2] + recall[1], recall
    assert status[0] in {0, 4}
    assert "weights" in status[1] + status[2]
    assert doctor[0] == 1
    assert "weights" in doctor[1]


def owned_but(data, part):
    """Give all of the folder to nobody, but for one part of it."""
    protected = data / "default" / part
    for path in [data, *data.rglob("*")]:
        if path != protected and protected not in path.parents:
            os.chown(path, NOBODY, NOBODY)
