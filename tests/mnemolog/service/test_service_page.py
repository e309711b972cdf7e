"""docs/service.md says what the code says, and its commands run."""

import re
import shutil
import subprocess

import pytest

from mnemolog import http_errors
from mnemolog.http_problems import status_of
from mnemolog.schemas import errors
from mnemolog.schemas.errors import MnemologError
from mnemolog.service.generate import document
from support import markdown
from support.serving import served
from support.sources import ROOT

PAGE = (ROOT / "docs" / "service.md").read_text()
NEVER_TOLD = {"not_served"}  # the client's own


def every_kind():
    found = [*vars(errors).values(), *vars(http_errors).values()]
    return {one for one in found if isinstance(one, type) and issubclass(one, MnemologError)}


def test_every_code_stands_on_the_page_beside_its_status():
    (rows,) = (table[1:] for table in markdown.tables(PAGE) if table[0][0] == "status")
    written = {
        code: set(map(int, re.findall(r"\d{3}", row[0])))
        for row in rows
        for code in re.findall(r"`([a-z_]+)`", row[1])
    }
    told = {kind.code: status_of(kind.__new__(kind)) for kind in every_kind()}
    assert written.keys() == told.keys() - NEVER_TOLD
    assert {code for code, statuses in written.items() if told[code] not in statuses} == set()


def test_every_endpoint_stands_on_the_page():
    paths = re.findall(r'"(/[^"]*)": \{\n      "(get|post)"', document())
    assert len(paths) > 10
    missing = [path for path, method in paths if f"{method.upper()} {path}" not in PAGE]
    assert missing == []


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not here")
def test_the_commands_of_the_page_run():
    blocks = [block for _, block in markdown.blocks(markdown.lines(PAGE), "sh")]
    assert len(blocks) >= 5
    with served() as one:
        script = f'M={one.url}\ncurl() {{ command curl --fail-with-body "$@"; }}\n'
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script + "\n".join(blocks)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the connection pool of auth is exhausted" in done.stdout
