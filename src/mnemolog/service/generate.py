"""Writes the OpenAPI document that clients are made from: `python -m mnemolog.service.generate`.

It is checked in beside the other schemas, and a test says whether it is current.
"""

import json
import sys
from pathlib import Path
from typing import Final

from mnemolog.memory import Memory
from mnemolog.schemas import generate
from mnemolog.service.app import application
from mnemolog.service.core import Service

NAME: Final = "openapi.json"


def document() -> str:
    """Return the content of the file."""
    service = Service(_never, tenant="none", keys=None)
    return json.dumps(application(service).openapi(), indent=2, ensure_ascii=False) + "\n"


def path() -> Path:
    """Return where it is."""
    return generate.FOLDER / NAME


def main() -> None:
    """Write the document, if it is not current."""
    content, place = document(), path()
    if not place.exists() or place.read_text(encoding="utf-8") != content:
        place.write_text(content, encoding="utf-8")
        sys.stdout.write(f"wrote {place.name}\n")


def _never(tenant: str) -> Memory:
    raise AssertionError(tenant)


if __name__ == "__main__":
    main()
