"""Event-sourced memory for long-running AI agents.

    from mnemolog import Memory

    with Memory("./data", agent="ops-1") as memory:
        seen = memory.observe("deploy failed: out of memory on node-7", task="t-42")
        memory.decide("roll back to v1.8", because=[seen], task="t-42")
        print(memory.recall("why did we roll back?", after=memory.end()).text)

Names are loaded when they are first used: the command line starts without any store's driver.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from mnemolog.async_memory import AsyncMemory
    from mnemolog.memory import Memory
    from mnemolog.schemas.checkpoint import Checkpoint
    from mnemolog.schemas.errors import MnemologError
    from mnemolog.schemas.positions import Token

__all__ = ["AsyncMemory", "Checkpoint", "Memory", "MnemologError", "Token"]

_HOME: Final = {
    "AsyncMemory": "mnemolog.async_memory",
    "Checkpoint": "mnemolog.schemas.checkpoint",
    "Memory": "mnemolog.memory",
    "MnemologError": "mnemolog.schemas.errors",
    "Token": "mnemolog.schemas.positions",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'mnemolog' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
