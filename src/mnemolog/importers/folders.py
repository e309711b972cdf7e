"""The folder that an agent works in names its project."""

import re
from typing import Any

from mnemolog.importers.shapes import name_or_none


def project_of(cwd: Any) -> str | None:
    r"""Return the last part of *cwd*, if that is a name.

    >>> project_of("/home/kari/ferry"), project_of("C:\\ferry\\"), project_of("/")
    ('ferry', 'ferry', None)
    """
    if not isinstance(cwd, str):
        return None
    return name_or_none(re.split(r"[\\/]", cwd.rstrip("\\/"))[-1])
