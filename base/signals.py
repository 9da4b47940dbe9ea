"""Handlers of Ctrl-C and SIGTERM while something runs."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def handled(handler: Callable[[int, FrameType | None], object], *signals: signal.Signals) -> Iterator[None]:
    """Let a function handle these signals meanwhile; outside of the main thread, which alone may say so, do nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = {one: signal.signal(one, handler) for one in signals}
    try:
        yield
    finally:
        for one, before in previous.items():
            signal.signal(one, before)
