"""The show, as a newcomer types it: in a process of its own, on a folder of its own."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from mnemolog import Memory
from mnemolog.demo import proof_part
from mnemolog.demo.show import show
from mnemolog.schemas.errors import InvalidSetting

MNEMOLOG = str(Path(sys.executable).parent / "mnemolog")
SECONDS_MAX = 240


def run_demo(*options, **environment):
    return subprocess.run(
        [MNEMOLOG, "demo", *options],
        env={**os.environ, **environment},
        check=False,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
    )


@pytest.mark.slow
def test_the_demo_proves_all_that_it_shows_and_leaves_nothing(tmp_path):
    done = run_demo(TMPDIR=str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "FAILED" not in done.stdout
    told = [
        "come first",
        "the checkpoint came back whole",
        "FROM decisions",
        "rm -r ",
        "nothing can be recalled any more",
        "the digest is the one from before",
        "verify says equal",
        "14 of 14 proofs hold",
    ]
    places = [done.stdout.index(text) for text in told]
    assert places == sorted(places)
    assert not list(tmp_path.glob("mnemolog-demo-*"))


def test_what_is_kept_can_be_asked_and_the_environment_leads_nowhere_else(tmp_path):
    kept = tmp_path / "kept"
    away = {"MNEMOLOG_DATA": str(tmp_path / "away"), "MNEMOLOG_LOG": "kafka://127.0.0.1:1"}
    done = run_demo("--keep", str(kept), "--embedder", "hashing", **away)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (tmp_path / "away").exists()
    with Memory(str(kept), log="", tenant="default", read_only=True) as memory:
        assert memory.recall("session_version", kinds=["decision"]).memories
        assert memory.resume("jwt-login").checkpoint is not None


def test_a_folder_that_holds_anything_is_refused_and_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InvalidSetting, match="new or empty"):
        show(keep=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_an_index_that_does_not_come_back_fails_the_demo(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(proof_part, "shutil", SimpleNamespace(rmtree=lambda _: None))
    with pytest.raises(SystemExit, match="1"):
        show(keep=tmp_path / "kept", embedder="hashing")
    assert "[FAILED] nothing can be recalled any more" in capsys.readouterr().out
