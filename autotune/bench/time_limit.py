"""A limit to what other people's libraries take, so that one that hangs costs a benchmark its own figure only."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from autotune.base.signals import handled

_AGAIN_SECONDS = 1.0  # a library may take the error for one of its own and go on


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Interrupt the block after so many seconds by a signal, which reaches Python code and what waits in it.

    Outside of the main thread, which alone gets signals, there is no limit.

    Raises:
        TimeoutError: the block was interrupted and failed, with whatever error of its own.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    message, interrupted = f"no result within {seconds:.3g} s", False

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        nonlocal interrupted
        interrupted = True
        raise TimeoutError(message)

    with handled(interrupt, signal.SIGALRM):
        signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN_SECONDS)
        try:
            yield
        except Exception:
            if interrupted:
                raise TimeoutError(message) from None
            raise
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
