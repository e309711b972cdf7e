"""Histories that agents have lived through elsewhere come in: what `mnemolog import` does.

The importers load with the first import: what only appends and asks starts without them.
"""

import os
from typing import TYPE_CHECKING

from mnemolog.engine import Engine
from mnemolog.schemas.errors import ReadOnly
from mnemolog.scope import When

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from mnemolog.importers.report import HowFar, ImportReport


class Histories:
    """The part of `Memory` that imports."""

    _engine: Engine

    def import_histories(
        self,
        *paths: "str | PathLike[str]",
        format: str | None = None,  # noqa: A002 - the word of `--format`
        dry_run: bool = False,
        agent: str | None = None,
        user: str | None = None,
        project: str | None = None,
        start: When | None = None,
        on_progress: "Callable[[HowFar], None] | None" = None,
    ) -> "ImportReport":
        """Append what files, folders and patterns hold; "-" is standard input. Twice adds nothing.

        Formats are recognised unless *format* names one. *agent*, *user* and *project* come before
        what a history says; where they are silent, it names them itself, whatever this handle's
        defaults are: so the same file is the same history. *start* is when one without times
        begins. What is bad is named in the report and its neighbours come in; the report's token
        is what to wait for. A dry run appends nothing. See `importing.import_paths`.

        Raises InvalidSetting for an unknown format, a bad name or start, else as an append does.
        """
        from mnemolog.importers.base import START_DEFAULT, Options  # noqa: PLC0415 - see above
        from mnemolog.importers.importing import import_paths  # noqa: PLC0415

        if self._engine.read_only and not dry_run:
            raise ReadOnly("import_histories")
        self._engine.check_open()
        begun = START_DEFAULT if start is None else start
        options = Options(agent=agent, user=user, project=project, start=begun)
        return import_paths(
            [os.fspath(path) for path in paths],
            publisher=self._engine.publisher,
            log=self._engine.log,
            blobs=self._engine.blobs,
            format=format,
            options=options,
            on_progress=on_progress,
            dry_run=dry_run,
        )
