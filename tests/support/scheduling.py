"""Which modules of tests run one after another in one process, and which begin first.

Each process of pytest-xdist takes whole modules, so that what a module's tests share is made once.
Those that need the broker are one group: one broker serves them all, and while they wait for it
the others use the machine. A module that is not recognised costs a broker more, and nothing else.
"""

import re
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from xdist.scheduler import LoadFileScheduling

ROOT: Final = Path(__file__).parents[2]
BROKER: Final = "the broker"
_NEEDS_BROKER = re.compile(r"mark\.kafka|support\.large import LOGS")  # which are marked there
_HAS_ITS_OWN = "kafka_can_run"  # and takes longest of all


class ByModule(LoadFileScheduling):
    """Hands out modules, and those that need the broker as one."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(module_of(nodeid))


@cache
def group_of(module: str) -> str:
    """Return what the tests of *module*, a path from the project's root, are handed out with."""
    text = (ROOT / module).read_text()
    return BROKER if _NEEDS_BROKER.search(text) and _HAS_ITS_OWN not in text else module


def module_of(nodeid: str) -> str:
    return nodeid.split("::", 1)[0]


def longest_first(items: list[pytest.Item]) -> None:
    """Put those of *items* first that would keep the end waiting for them."""
    slow = {module_of(item.nodeid) for item in items if item.get_closest_marker("slow")}

    def rank(item: pytest.Item) -> int:
        module = module_of(item.nodeid)
        if group_of(module) == BROKER:
            return 0
        if _HAS_ITS_OWN in getattr(item, "fixturenames", ()):
            return 1
        return 2 if module in slow else 3

    items.sort(key=rank)
