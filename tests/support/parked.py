"""A fault to inject: a fold that fails on an event of this text, and on no other."""

from typing import Any, Final

FAULT: Final = "the fault is here"


def failing(monkeypatch: Any, module: Any, name: str) -> None:
    """Let *name* of *module*, which folds an event, fail on what says `FAULT`."""
    whole = getattr(module, name)

    def failing_fold(item: Any, *more: Any) -> Any:
        recorded = getattr(item, "recorded", item)
        if getattr(getattr(recorded, "event", None), "text", None) == FAULT:
            raise ValueError(FAULT)
        return whole(item, *more)

    monkeypatch.setattr(module, name, failing_fold)
