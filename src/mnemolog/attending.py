"""What a worker does about a tenant beside its projections, while it owns it."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from mnemolog.dead_letters import copied
from mnemolog.engine import Engine
from mnemolog.processors import hosted


@contextmanager
def attended(engine: Engine) -> Iterator[None]:
    """Run processors and copy dead letters within the block. What fails in one is told there."""
    with ExitStack() as block:
        block.enter_context(hosted(engine))
        block.enter_context(copied(engine))
        yield
