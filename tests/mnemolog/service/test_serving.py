"""The command itself: a process that serves, ends when it is told to, and refuses what it must."""

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

from mnemolog import Memory
from mnemolog.http_errors import Refused, UnknownKey
from support.processes import ANSWER_SECONDS_MAX, command
from support.remembering import texts

COMMAND = (sys.executable, "-m", "mnemolog.cli.main")


@contextmanager
def process(data, *options):
    """Run `mnemolog serve` on *data*; give the process and its address."""
    running = subprocess.Popen(
        [*COMMAND, "serve", "--data", str(data), "--port", "0", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "MNEMOLOG_EMBEDDER": "hashing"},
    )
    try:
        line = running.stdout.readline()
        assert line.startswith("listening at http://127.0.0.1:"), running.stderr.read()
        yield running, line.split()[-1]
    finally:
        running.kill()
        running.communicate(timeout=ANSWER_SECONDS_MAX)


def ended(running, number):
    running.send_signal(number)
    _, said = running.communicate(timeout=ANSWER_SECONDS_MAX)
    assert "Traceback" not in said, said
    return running.returncode


@pytest.fixture
def data(tmp_path):
    return tmp_path / "data"


def key(data, *options):
    done = command("serve", "keys", "add", "--json", *options, data=data)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_what_was_appended_is_there_after_kill_9_and_a_new_start(data):
    with process(data) as (running, url), Memory(url, agent="ops-1") as far:
        said = far.observe("the pool of auth is exhausted")
        running.kill()
    with process(data) as (running, url):
        with Memory(url, agent="ops-1") as far:
            found = far.recall("pool", after=said.token, timeout_seconds=60)
            assert texts(found) == ["the pool of auth is exhausted"]
        assert ended(running, signal.SIGTERM) == 0


def test_ctrl_c_ends_it_as_any_command(data):
    with process(data) as (running, _):
        assert ended(running, signal.SIGINT) == 130


def test_a_folder_that_is_open_elsewhere_is_served_and_asked_at_once(data):
    with (
        Memory(data, embedder="hashing", agent="near") as near,
        process(data) as (_, url),
        Memory(url, agent="far") as far,
    ):
        said = far.observe("said from afar")
        assert texts(near.recall("afar", after=said.token)) == ["said from afar"]
        told = near.observe("said nearby")
        assert "said nearby" in texts(far.recall("nearby", after=told.token))


def test_keys_are_managed_while_it_runs(data):
    reader, writer = key(data, "--tenant", "a"), key(data, "--tenant", "a", "--right", "append")
    listed = json.loads(command("serve", "keys", "list", "--json", data=data).stdout)
    assert [(one["id"], one["tenant"], one["rights"]) for one in listed] == [
        (reader["id"], "a", ["read"]),
        (writer["id"], "a", ["append"]),
    ]
    assert all("key" not in one and "sha256" not in one for one in listed)
    with process(data) as (running, url):
        with Memory(url, key=writer["key"]) as far:
            far.observe("x")
            with pytest.raises(Refused, match="read"):
                far.end()
        with Memory(url, key=reader["key"]) as far:
            assert far.end().offsets == {0: 0}
            command("serve", "keys", "remove", reader["id"], data=data)
            with pytest.raises(UnknownKey):
                far.end()
        with Memory(url) as far, pytest.raises(UnknownKey):
            far.end()
        assert ended(running, signal.SIGTERM) == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--host", "0.0.0.0"), "without a key"),
        (("--host", "::"), "without a key"),
        (("--port", "70000"), "port"),
        (("keys", "add", "--tenant", "a", "--right", "root"), "right"),
        (("keys", "add", "--tenant", "../a"), "tenant"),
    ],
)
def test_what_makes_no_sense_is_refused(data, options, words):
    done = command("serve", *options, data=data)
    assert done.returncode == 2
    assert words in done.stderr.decode()
    assert b"Traceback" not in done.stderr


def test_a_key_that_is_not_there_can_not_be_removed(data):
    assert command("serve", "keys", "remove", "00000000", data=data).returncode == 3


def test_a_port_that_is_taken_is_told(data):
    with process(data) as (_, url):
        done = command("serve", "--port", url.rsplit(":", 1)[1], data=data)
    assert done.returncode == 4
    assert b"Is another service listening there?" in done.stderr
