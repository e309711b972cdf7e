"""A process of its own that appends to a log or waits on it, for tests of several processes.

Run as a command: it prints one line for each thing that is done, flushed at once.
"""

import hashlib
import sys
from pathlib import Path

from mnemolog.schemas.records import NewRecord
from mnemolog.streams.log import Log
from mnemolog.streams.opening import open_log


def main() -> None:
    verb, address, tenant, *rest = sys.argv[1:]
    log = opened(address, tenant)
    {"append": append, "wait": wait}[verb](log, *rest)


def opened(address: str, tenant: str) -> Log:
    if address.startswith("kafka://"):
        return open_log(address, folder=Path(), tenant=tenant)
    return open_log(None, folder=Path(address).parent, tenant=tenant)


def append(log: Log, name: str, count: str) -> None:
    """Append *count* records, and say where each stands as soon as it was acknowledged."""
    for number in range(int(count)):
        said = f"{name}-{number}".encode()
        identity = hashlib.sha256(said).hexdigest()[:32]
        (position,) = log.append([NewRecord(name.encode(), said, (), identity, identity)])
        print(position, said.decode(), flush=True)


def wait(log: Log, seconds: str) -> None:
    """Say that it waits, and then what came of it."""
    ends = log.ends()
    print("waiting", flush=True)
    print(log.wait(ends, timeout_seconds=float(seconds)), flush=True)


if __name__ == "__main__":
    main()
