"""`mnemolog demo`: two histories are told, asked, lost, rebuilt and proved equal, offline."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mnemolog.demo.auth_part import play_auth, resume_auth
from mnemolog.demo.proof_part import ask_as_analyst, lose_and_rebuild
from mnemolog.demo.screen import Screen
from mnemolog.demo.stage import Stage
from mnemolog.demo.tracker_part import play_tracker
from mnemolog.engine import present
from mnemolog.schemas.errors import InvalidSetting

FOLDER_PREFIX = "mnemolog-demo-"


def show(*, keep: Path | None = None, embedder: str | None = None) -> None:
    """Play both scenarios and prove what they show; the data stays in *keep* if one is given.

    Exits with 1 if a proof fails. Raises InvalidSetting for a folder that holds anything.
    """
    screen = Screen()
    began = time.monotonic()
    with _folder(keep) as folder:
        stage = Stage(folder=folder, now=present(), embedder=embedder, screen=screen)
        play_auth(stage)
        play_tracker(stage)
        screen.title("What is left when the processes have ended")
        resume_auth(stage)
        ask_as_analyst(stage)
        lose_and_rebuild(stage)
    _close(screen, seconds=time.monotonic() - began, keep=keep)
    if screen.failed:
        raise SystemExit(1)


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep is None:
        with tempfile.TemporaryDirectory(prefix=FOLDER_PREFIX) as folder:
            yield Path(folder)
        return
    if keep.exists() and (not keep.is_dir() or any(keep.iterdir())):
        raise InvalidSetting("keep", str(keep), "a folder that is new or empty")
    yield keep


def _close(screen: Screen, *, seconds: float, keep: Path | None) -> None:
    screen.title("Done")
    total = len(screen.proved) + len(screen.failed)
    screen.say(f"{len(screen.proved)} of {total} proofs hold; {seconds:.0f} s.")
    for what in screen.failed:
        screen.say(f"not so: {what}", style="bold red")
    if keep is not None:
        screen.say(f"The data is in {keep}. Ask it:")
        screen.say(f'  mnemolog recall "支付由谁负责？" --data {keep}')
        screen.say(f"  mnemolog why auth-token-fixed --data {keep}")
