"""The OpenAPI document is current, names no server, and is true: of what is asked and answered."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from structlog.testing import capture_logs

from mnemolog.service.generate import document, path
from support.serving import key_for, served

DOCUMENT = json.loads(path().read_text(encoding="utf-8"))


def test_the_file_is_current():
    stale = path().read_text(encoding="utf-8") != document()
    assert not stale, "run `python -m mnemolog.service.generate`"


def test_no_address_stands_in_it_and_every_operation_has_a_name():
    assert "servers" not in DOCUMENT
    operations = [one for methods in DOCUMENT["paths"].values() for one in methods.values()]
    assert len({one["operationId"] for one in operations}) == len(operations)
    assert all(one["responses"].keys() >= {"200", "4XX", "5XX"} for one in operations)


def test_every_reference_in_it_leads_somewhere():
    for place in set(references(DOCUMENT)):
        node = DOCUMENT
        for step in place.removeprefix("#/").split("/"):
            node = node[step]


def references(node):
    if isinstance(node, dict):
        yield from (value for name, value in node.items() if name == "$ref")
        node = list(node.values())
    if isinstance(node, list):
        for item in node:
            yield from references(item)


def test_its_schemas_are_schemas():
    for schema in DOCUMENT["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)


CONFIG = """
[checks]
# A wait for a token that no append returned ends as any wait does.
not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", "504"]
# What an event of a type may hold is more than this document says: schemas/json/ has it.
positive_data_acceptance.expected-statuses = [
    "2xx", "401", "403", "404", "409", "413", "415", "422", "5xx",
]
"""
RUN = (
    *("--checks", "all", "--phases", "examples,coverage,fuzzing", "--max-examples", "5"),
    *("--seed", "20300102", "--suppress-health-check", "all", "--continue-on-failure"),
)


@pytest.mark.slow
def test_schemathesis_finds_nothing(tmp_path):
    (tmp_path / "schemathesis.toml").write_text(CONFIG)
    keys = tmp_path / "keys.json"
    key = key_for(keys, "a", "read", "append", "admin")
    # A question that waits for what never comes is told so soon.
    with capture_logs() as logs, served(keys=keys, wait_seconds=0.02) as one:
        done = subprocess.run(
            [
                *(Path(sys.executable).with_name("st"), "run", f"{one.url}/openapi.json", *RUN),
                *("-H", f"Authorization: Bearer {key}", "--no-color"),
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not [one for one in logs if one["log_level"] in {"error", "critical"}]
