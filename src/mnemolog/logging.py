"""How mnemolog logs: for people on a terminal, as JSON lines elsewhere, always to standard error.

No payload text at info level or above: events are named by id and position.
"""

import logging
import sys
from typing import Any

import structlog


def set_up_logging(*, level: str = "warning") -> None:
    """Send structlog's events of *level* and above to standard error. Programs may do otherwise."""
    renderer: Any = (
        structlog.dev.ConsoleRenderer()
        if sys.stderr.isatty()
        else structlog.processors.JSONRenderer()
    )
    # The client's complaints come many a second; our own errors say what is wrong, once.
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(
            logging.getLevelNamesMapping()[level.upper()]
        ),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
