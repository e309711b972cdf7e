"""How a memory ends, in whatever thread it does: closed by hand, collected, or at Python's end."""

import threading
from typing import Final

from mnemolog import recording
from mnemolog.engine import Engine
from mnemolog.readers import Readers
from mnemolog.recording import Recorder
from mnemolog.streams import controlling, dispatching, hosting

# None of them can wait for its own end.
OWN_THREADS: Final = (
    recording.THREAD,
    dispatching.THREAD,
    hosting.THREAD,
    controlling.THREAD,
    controlling.WORK_THREAD,
)


def let_go(recorder: Recorder, readers: Readers, engine: Engine) -> None:
    """Close what a memory stands on, from whatever thread the collector runs in."""
    if threading.current_thread().name in OWN_THREADS:
        threading.Thread(target=let_go, args=(recorder, readers, engine)).start()
        return
    recorder.close()
    readers.close()
    engine.close()
