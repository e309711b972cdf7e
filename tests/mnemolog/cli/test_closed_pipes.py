"""A reader that goes away, a full disk, a stream that is closed: each command ends as it should."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mnemolog.cli import output
from mnemolog.cli.main import main
from support.remembering import opened

COMMANDS = (
    *(("tail",), ("tail", "--json"), ("config",), ("status",), ("timeline",), ("doctor",)),
    *(("sql", "SELECT 1 AS one"), ("export",), ("--help",), ("import", "--help")),
)
RUN = (sys.executable, "-m", "mnemolog.cli.main")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pipes") / "data"
    with opened(folder, agent="ops-1") as mem:
        mem.wait_for(mem.observe("the pool is exhausted").token)
    return folder


@pytest.fixture
def printed_to(monkeypatch, data):
    """Return a function that runs a command, in this process, that prints to a file."""

    def run(arguments, number, *, buffers):
        raw = os.fdopen(number, "wb", 0 if not buffers else -1)
        with open(raw.fileno(), "w", closefd=False) as stream:
            stream.reconfigure(write_through=not buffers)
            monkeypatch.setattr(sys, "stdout", stream)
            monkeypatch.setattr(sys, "__stdout__", stream)
            monkeypatch.setattr(sys, "argv", ["mnemolog", *arguments])
            monkeypatch.setenv("MNEMOLOG_DATA", str(data))
            monkeypatch.setenv("MNEMOLOG_EMBEDDER", "hashing")
            with pytest.raises(SystemExit) as ended:
                main()
            monkeypatch.undo()
        raw.close()
        return ended.value.code

    return run


@pytest.mark.parametrize(
    ("arguments", "buffers"),
    [*((one, True) for one in COMMANDS), *((one, False) for one in COMMANDS if len(one) == 1)],
)
def test_a_reader_that_went_away_is_no_error_of_any_command(printed_to, capfd, arguments, buffers):
    reading, writing = os.pipe()
    os.close(reading)
    assert printed_to(arguments, writing, buffers=buffers) == 0
    assert capfd.readouterr().err == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device here is always full")
@pytest.mark.parametrize("buffers", [True, False])
@pytest.mark.parametrize("arguments", [("config",), ("tail", "--json")], ids=" ".join)
def test_what_the_disk_does_not_take_is_said_once(printed_to, capfd, arguments, buffers):
    full = os.open("/dev/full", os.O_WRONLY)
    assert printed_to(arguments, full, buffers=buffers) == output.UNWRITTEN
    assert capfd.readouterr().err.count("standard output: No space left on device") == 1


@pytest.mark.parametrize("closed", ["| head -c 0", "<&- >&- 2>&-"])
def test_a_command_whose_streams_are_closed_ends_well_and_harms_no_store(data, closed):
    script = f"{' '.join(RUN)} tail --data {data} {closed}; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, timeout=100, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
