"""What a worker does about a tenant beside its projections, while it owns it."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from mnemolog.controls import controlled
from mnemolog.dead_letters import copied
from mnemolog.engine import Engine
from mnemolog.processors import hosted


@contextmanager
def attended(engine: Engine) -> Iterator[None]:
    """Run processors, copy dead letters and obey the topic of control within the block.

    What fails in one of them is told there.
    """
    with ExitStack() as block:
        block.enter_context(hosted(engine))
        block.enter_context(copied(engine))
        block.enter_context(controlled(engine))
        yield
