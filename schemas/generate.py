"""Writes the schemas that others build on: `python -m mnemolog.schemas.generate`.

The files are checked in, and a test says whether they are current. This is the one module of the
vocabulary that touches a disk; nothing imports it.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from mnemolog.schemas.asyncapi import asyncapi
from mnemolog.schemas.events import ALL_EVENTS
from mnemolog.schemas.json_schemas import file_name, json_schema

FOLDER: Final = Path(__file__).resolve().parent / "json"
ASYNCAPI: Final = "asyncapi.json"


def generated() -> dict[str, str]:
    """Return the content of every file, by name."""
    schemas = {file_name(event): _text(json_schema(event)) for event in ALL_EVENTS}
    return {**schemas, ASYNCAPI: _text(asyncapi(ALL_EVENTS))}


def _text(document: Mapping[str, Any]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Write what is not current. An old version's schema stays: it is published for ever."""
    FOLDER.mkdir(exist_ok=True)
    for name, content in generated().items():
        path = FOLDER / name
        if not path.exists() or path.read_text(encoding="utf-8") != content:
            path.write_text(content, encoding="utf-8")
            sys.stdout.write(f"wrote {path.name}\n")


if __name__ == "__main__":
    main()
