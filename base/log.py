"""What happens, as messages of the logger ``autotune``: silent unless somebody listens."""

from __future__ import annotations

import logging
import os

_VARIABLE = "AUTOTUNE_VERBOSE"  # which workers inherit

logger = logging.getLogger("autotune")
slow = logger.getChild("slow")  # what is going to take more than a second, which the command line tells in a terminal


def show_messages() -> None:
    """Print messages on stderr, those of workers that are started from now on, too."""
    os.environ[_VARIABLE] = "1"
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s  %(message)s", "%H:%M:%S"))
    logger.handlers = [handler]
    logger.setLevel(logging.INFO)


def show_messages_as_parent() -> None:
    """In a worker, do as the process that started it."""
    if os.environ.get(_VARIABLE):
        show_messages()


def messages_shown() -> bool:
    """Whether anybody listens."""
    return logger.isEnabledFor(logging.INFO)
