"""The command line in this process: arguments and standard input in, exit code and words out."""

import io
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from unittest import mock

import structlog

from mnemolog.cli.main import main


@dataclass(frozen=True)
class Ended:
    """How a command ended; `error` is what came out of it that is no exit."""

    code: int
    out: str
    err: str
    error: BaseException | None = None


def run(
    arguments: Sequence[str], *, stdin: bytes = b"", environment: Mapping[str, str] | None = None
) -> Ended:
    """Run `mnemolog` with *arguments*, on streams that are as strict as a terminal's."""
    out, err = io.BytesIO(), io.BytesIO()
    streams = {
        "stdout": io.TextIOWrapper(out, encoding="utf-8", write_through=True),
        "stderr": io.TextIOWrapper(err, encoding="utf-8", errors="backslashreplace"),
    }
    given = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    code, error = 0, None
    with (
        mock.patch.dict(os.environ, environment or {}),
        mock.patch.object(sys, "argv", ["mnemolog", *arguments]),
        mock.patch.object(sys, "stdin", given),
        redirect_stdout(streams["stdout"]),
        redirect_stderr(streams["stderr"]),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        except BaseException as raised:  # noqa: BLE001 - a test says whether that may be
            error = raised
        for stream in streams.values():
            stream.flush()
    structlog.reset_defaults()
    said = (one.getvalue().decode("utf-8", "replace") for one in (out, err))
    return Ended(code, *said, error)
