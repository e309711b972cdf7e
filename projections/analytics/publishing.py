"""Where published files stand, who asks for newer ones, and how far they are.

    <tenant folder>/published/analytics.duckdb     all tables, at one position
    <tenant folder>/published/parquet/<table>.parquet
    <tenant folder>/published/REQUEST              a line for each token that somebody waits for

Anyone may open the files read-only, at any time: each is replaced whole by a rename, and whoever
has the former one open keeps it. The DuckDB file comes last: where it has come to, Parquet is
too. Between two renames one Parquet file may be newer than another; the DuckDB file never is.

Only the owner writes them. A request is a line at the end of a file, so that no writer hides
another's; what is lost all the same is made good by the next publish of an idle owner.
"""

import os
import stat
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

from mnemolog.projections.analytics.duckdb_store import instance, quoted, speaking_of
from mnemolog.projections.generations import clear_the_way
from mnemolog.schemas.errors import Damaged, StoreUnavailable
from mnemolog.schemas.positions import Token

PUBLISHED: Final = "published"
FILE: Final = "analytics.duckdb"
PARQUET: Final = "parquet"
REQUEST: Final = "REQUEST"
REQUEST_BYTES_MAX: Final = 65_536  # a longer file is begun anew once all it asks for is there


def published_folder(tenant_folder: Path) -> Path:
    """Return the folder of *tenant_folder* that holds what is published."""
    return tenant_folder / PUBLISHED


def published_file(tenant_folder: Path) -> Path:
    """Return the path of the published tables, whether there are any yet or not."""
    return published_folder(tenant_folder) / FILE


def request_publish(tenant_folder: Path, token: Token) -> None:
    """Ask the owner to publish as soon as it has applied what *token* covers.

    Any process may ask, any number of times; an empty token asks for nothing.
    """
    if not token.offsets:
        return
    folder = published_folder(tenant_folder)
    with speaking_of(folder / REQUEST):
        folder.mkdir(parents=True, exist_ok=True)
        clear_the_way(folder / REQUEST)
        with (folder / REQUEST).open("ab", buffering=0) as file:
            file.write(f"\n{token}\n".encode())  # behind a torn line, too


def requested(folder: Path) -> list[Token]:
    """Return what is asked for in the published *folder*; a torn line asks for nothing."""
    try:
        lines = (folder / REQUEST).read_text(encoding="utf-8", errors="replace").split("\n")
    except (FileNotFoundError, IsADirectoryError):
        return []
    tokens = []
    for line in lines[:-1]:
        try:
            tokens.append(Token.parse(line))
        except ValueError:
            continue
    return tokens


def forget_requests(folder: Path) -> None:
    """Begin the file of requests anew if it has grown long; all it asks for has to be there."""
    path = folder / REQUEST
    if path.exists() and path.stat().st_size > REQUEST_BYTES_MAX:
        path.unlink()


def published_positions(tenant_folder: Path) -> dict[int, int]:
    """Return the last offset of each partition that the published file holds; none before it.

    Raises Damaged or StoreUnavailable if it can't be read.
    """
    return dict(published_state(tenant_folder)[1])


def published_state(tenant_folder: Path) -> tuple[str, Mapping[int, int]]:
    """Return which generation was published, empty if none, and up to which offsets."""
    path = published_file(tenant_folder)
    try:
        found = os.stat(path)  # noqa: PTH116 - its numbers name the file
    except FileNotFoundError:
        return "", {}
    if not stat.S_ISREG(found.st_mode):
        raise Damaged(str(path), "it is no file")
    try:
        return _state_in(path, (found.st_ino, found.st_mtime_ns, found.st_size))
    except StoreUnavailable:
        if path.exists():
            raise
        return "", {}  # taken away since we looked


@lru_cache(maxsize=64)
def _state_in(path: Path, _stamp: tuple[int, int, int]) -> tuple[str, Mapping[int, int]]:
    with speaking_of(path), instance() as connection:
        connection.execute(f"ATTACH {quoted(path)} AS published (READ_ONLY)")
        rows = connection.execute(
            "SELECT generation, log_partition, log_offset FROM published.main.published"
        ).fetchall()
    return (rows[0][0] if rows else ""), {partition: offset for _, partition, offset in rows}
