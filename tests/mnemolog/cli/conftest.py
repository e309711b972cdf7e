"""The command line as a function: arguments in; exit code, answers and notes out."""

import io
import json
import sys
from dataclasses import dataclass
from typing import Any

import pytest
import structlog

from mnemolog.cli.main import main


@dataclass
class Done:
    """What a command did: answers go to `out`, everything else to `err`."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def data(tmp_path):
    return tmp_path / "data"


@pytest.fixture
def cli(data, monkeypatch, capsys):
    """Run the command line in this process, on the folder *data*, with the hashing embedder."""
    monkeypatch.setenv("MNEMOLOG_EMBEDDER", "hashing")
    monkeypatch.setenv("MNEMOLOG_DATA", str(data))

    def run(*arguments, stdin=b"", **environment):
        with monkeypatch.context() as around:
            for name, value in environment.items():
                around.setenv(name, value)
            return _run(arguments, stdin)

    def _run(arguments, stdin):
        monkeypatch.setattr(sys, "argv", ["mnemolog", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        capsys.readouterr()
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code or 0
        said = capsys.readouterr()
        return Done(code, said.out, said.err)

    yield run
    structlog.reset_defaults()


@pytest.fixture
def say(cli):
    """Append an observation and return its id."""

    def append(text, *options):
        fields = json.dumps({"text": text})
        done = cli("append", "observation.recorded", fields, "--agent", "ops-1", "--json", *options)
        assert done.code == 0, done.err
        return done.json["id"]

    return append
