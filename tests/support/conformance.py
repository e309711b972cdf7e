"""The CloudEvents conformance cases, read where they lie beside the checkout, never copied."""

import base64
import itertools
import re
import textwrap
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from mnemolog.schemas.values import json_bytes, parse_json
from support.events import record
from support.sources import ROOT

CASES = ROOT.parent / "shared" / "data" / "cloudevents-conformance"
KAFKA = CASES / "features" / "kafka-protocol-binding.feature"
MINIMUM = CASES / "yaml" / "v1.0" / "v1_minimum.yaml"
FULL = CASES / "yaml" / "v1.yaml"


class Scenario(NamedTuple):
    payload: bytes
    headers: list[tuple[str, bytes]]
    attributes: dict[str, str]
    data: Any


def existing(path: Path) -> str:
    if not path.exists():
        pytest.skip("the CloudEvents conformance cases are not beside this checkout")
    return path.read_text()


def scenarios(feature: str) -> list[Scenario]:
    """Return the scenarios of *feature*, an outline once for each of its examples."""
    found = []
    for part in re.split(r"Scenario(?: Outline)?:", feature)[1:]:
        payload, data = (
            textwrap.dedent(one).strip() for one in re.findall(r'"""(.*?)"""', part, re.DOTALL)
        )
        headers, attributes, *examples = tables(part)
        names, *rows = examples[0] if examples else ([], [])
        for row in rows or [[]]:
            told = [
                (key, fill(value, dict(zip(names, row, strict=True)))) for key, value in headers[1:]
            ]
            found.append(
                Scenario(
                    payload.encode(),
                    [(key, value.encode()) for key, value in told],
                    dict(attributes[1:]),
                    parse_json(data.encode()),
                )
            )
    return found


def tables(part: str) -> list[list[list[str]]]:
    lines = ((line.strip().startswith("|"), line) for line in part.splitlines())
    groups = itertools.groupby(lines, key=lambda one: one[0])
    return [
        [[cell.strip() for cell in line.strip().strip("|").split("|")] for _, line in rows]
        for is_table, rows in groups
        if is_table
    ]


def fill(value: str, example: dict[str, str]) -> str:
    for name, given in example.items():
        value = value.replace(f"<{name}>", given)
    return value


def events(text: str) -> list[tuple[dict[str, str], str, str]]:
    """Return (attributes, data, mode) of each event: our own reading of the little YAML it is."""
    found = []
    for part in text.split("\n---\n"):
        head, _, data = part.partition("\nData: |\n")
        mode = re.search(r"^Mode: (\w+)", head, re.MULTILINE)
        inner = head.partition("ContextAttributes:\n")[2].partition("\nTransportExtensions")[0]
        attributes = dict(re.findall(r'^ +([a-z0-9]+) ?: "?([^"|\n]+)"?$', inner, re.MULTILINE))
        for name, block in re.findall(r"^ +([a-z0-9]+) : \|\n +(.+)$", inner, re.MULTILINE):
            attributes[name] = block + "\n"
        found.append((attributes, textwrap.dedent(data), mode[1] if mode else "both"))
    return found


def binary(attributes: dict[str, str], data: bytes):
    headers = [(f"ce_{name}", value.encode()) for name, value in attributes.items()]
    renamed = [("content-type" if n == "ce_datacontenttype" else n, v) for n, v in headers]
    return record(data, headers=renamed)


def structured(attributes: dict[str, str], data: bytes, *, is_json: bool):
    body = (
        {"data": parse_json(data)} if is_json else {"data_base64": base64.b64encode(data).decode()}
    )
    return record(
        json_bytes({**attributes, **body}),
        headers=[("content-type", b"application/cloudevents+json; charset=utf-8")],
    )


def structured_document(attributes: dict[str, str], data: bytes) -> dict[str, Any]:
    """Return an event as the document that stands in files."""
    is_json = "json" in attributes.get("datacontenttype", "application/json")
    body = (
        {"data": parse_json(data)} if is_json else {"data_base64": base64.b64encode(data).decode()}
    )
    return {**attributes, **body}
