"""Where the statements stand: `sql/`, each file loaded by exactly one function of the same name."""

from functools import cache
from pathlib import Path
from typing import Final

_FOLDER: Final = Path(__file__).parent / "sql"


@cache
def sql(name: str) -> str:
    """Return the statements of `sql/<name>.sql`."""
    return (_FOLDER / f"{name}.sql").read_text(encoding="utf-8")
