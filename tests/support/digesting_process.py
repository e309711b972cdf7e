"""A process of its own that folds the small history and prints the digest of each projection.

Run as a command with the path of small_history.py; everything else that could tell one machine
from another comes from the environment that it is given.
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

from mnemolog.memory import Memory

HISTORY = Path(__file__).with_name("small_history.py")
SECONDS_MAX = 120


def digests_in_a_process(**environment: str) -> dict[str, str]:
    """Return the digests as a process under *environment* sees them."""
    answer = subprocess.run(
        [sys.executable, __file__, str(HISTORY)],
        env={**os.environ, **environment},
        capture_output=True,
        check=True,
        timeout=SECONDS_MAX,
    )
    digests: dict[str, str] = json.loads(answer.stdout)
    return digests


def main(path: str) -> None:
    spec = importlib.util.spec_from_file_location("small_history", path)
    assert spec is not None
    assert spec.loader is not None
    history = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(history)
    with Memory(":memory:", embedder="hashing", record_recalls=False) as memory:
        history.feed(memory.engine.publisher)
        memory.wait_for(memory.end(), vectors=True)
        print(json.dumps(dict(memory.digests())))


if __name__ == "__main__":
    main(sys.argv[1])
