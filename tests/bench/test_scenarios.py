"""Each scenario of the bench runs, in a tiny size, and tells figures of what it says."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.sources import ROOT

BENCH = ROOT / "bench"
SECONDS_MAX = 200
FIGURE = re.compile(r"\d")

# Scenario -> its smallest arguments, and how many rows they give.
TINY = {
    "append": (["--only", "embedded", "--sizes", "1", "100", "--rounds", "2"], 4),
    "recall": (["--memories", "50", "--rounds", "2", "--embedder", "hashing"], 8),
    "checkpoint": (["--sizes", "10 KB", "--rounds", "2"], 4),
    "projecting": (["--events", "300"], 7),
    "importing": (["--events", "300"], 2),
    "serving": (["--memories", "30", "--clients", "1", "3", "--rounds", "1", "--quick"], 2),
}


def run(name: str, *arguments: str) -> str:
    command = [sys.executable, str(BENCH / f"{name}.py"), *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=SECONDS_MAX, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def rows_of(name: str, *arguments: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in run(name, "--json", *arguments).splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize("name", TINY)
def test_a_scenario_runs_in_a_tiny_size(name, tmp_path):
    arguments, count = TINY[name]
    rows = rows_of(name, "--folder", str(tmp_path), *arguments)
    assert len(rows) == count
    for row in rows:
        assert FIGURE.search(row["ours"]), row
        assert not row["peer"] or FIGURE.search(row["ratio"]), row
    assert list(tmp_path.iterdir()) == [], "it takes its data away"


@pytest.mark.kafka
def test_appending_to_kafka_is_measured_in_a_tiny_size(kafka):
    options = ["--only", "kafka", "--sizes", "100", "--rounds", "2"]
    whole, log_alone = rows_of("append", *options, "--bootstrap", kafka.bootstrap)
    assert whole["what"] == "kafka, 100 at a time"
    assert log_alone["what"] == "kafka, 100 at a time, log alone"
    assert FIGURE.search(whole["ratio"])


@pytest.mark.kafka
@pytest.mark.slow
def test_a_worker_on_kafka_is_measured_in_a_tiny_size(kafka, tmp_path):
    around = ["--bootstrap", kafka.bootstrap, "--folder", str(tmp_path), "--events", "200"]
    little = ["--appends", "2", "--rounds", "1", "--embedders", "hashing", "--sinks", "analytics"]
    rows = rows_of("streaming", *around, *little)
    said = [row["what"] for row in rows]
    assert len(rows) == 1 + 3 + 6, said
    assert all(FIGURE.search(row["ours"]) for row in rows)
    faust = next(row for row in rows if "bare Faust agent" in row["peer"])
    assert FIGURE.search(faust["ratio"])
    assert [text for text in said if "without a replica" in text and "until owned" in text]
    assert list(tmp_path.iterdir()) == [], "it takes its data away"


@pytest.mark.kafka
@pytest.mark.slow
def test_a_workers_memory_is_measured_at_each_quarter(kafka, tmp_path):
    around = ["--bootstrap", kafka.bootstrap, "--folder", str(tmp_path)]
    rows = rows_of("resident", *around, "--events", "80")
    assert [row["what"].split()[-2] for row in rows] == ["0", "20", "40", "60", "80"]
    assert all(" MB" in row["ours"] for row in rows)


@pytest.mark.slow
def test_all_that_is_run_stands_in_one_table():
    told = run("run", "importing", "projecting", "--events", "200")
    lines = [line for line in told.splitlines() if line.startswith("|")]
    assert lines[0].startswith("| scenario |")
    assert {line.count("|") for line in lines} == {lines[0].count("|")}
    assert {line.split("|")[1].strip() for line in lines[2:]} == {"projecting", "importing"}


def test_a_scenario_that_is_not_there_is_named():
    command = [sys.executable, str(BENCH / "run.py"), "nothing"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no scenario 'nothing'; there are append" in done.stderr


@pytest.mark.parametrize("script", sorted(path.stem for path in BENCH.glob("*.py")))
def test_every_script_that_can_be_run_has_help(script):
    path = Path(BENCH / f"{script}.py")
    if '__name__ == "__main__"' in path.read_text():
        assert "--help" in run(script, "--help")
