"""An object in a process of its own, which may crash, hang or be killed without harm to this one."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import current_process, get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from .cache import temporary_cache
from .errors import AutotuneError
from .log import show_messages_as_parent
from .temporary_cache import adopt

# A fork of a process with threads or a CUDA context is not safe.
_processes = get_context("spawn")
_START_SECONDS, _END_SECONDS = 120.0, 10.0
_FIRST_TO_GO = "1000"
_UNGUARDED = 78  # the exit code of a process that would start another one while it imports the main module
_NO_GUARD = " (put what the main module does under if __name__ == '__main__':)"


class WorkerError(AutotuneError, RuntimeError):
    """The process is gone; the message says how, such as ``ended by SIGSEGV``."""


class WorkerKilledError(WorkerError):
    """The process was killed from outside, as the system does when memory runs out: its work may not be to blame."""


class WorkerHungError(WorkerError):
    """The process did not answer in time, and was ended."""


class Worker:
    """Makes an object in a new process and calls its methods there, one at a time.

    The process ends with this one, however that ends; Ctrl-C in a terminal reaches this one alone. When memory runs
    out, the system ends the worker rather than this process.

    Args:
        make: makes the object; like all that is sent, it is pickled, between these two processes only.

    Raises:
        WorkerError: the process ended before the object was made; what `make` raises is raised here, too.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        if getattr(current_process(), "_inheriting", False):
            os._exit(_UNGUARDED)  # as multiprocessing would, whose message is a page long
        self._pipe, theirs = _processes.Pipe()
        self._ends = threading.Lock()
        self._process = _processes.Process(target=_serve, args=(theirs, make, temporary_cache()), daemon=True)
        with _ctrl_c_blocked():
            self._process.start()
        theirs.close()
        self._exchange(None, _START_SECONDS)

    def call(self, method: str, *arguments: Any, seconds: float | None = None) -> Any:
        """What a method of the object returns or raises there.

        Raises:
            WorkerError: the process ended before it answered; `WorkerKilledError` if somebody killed it.
            WorkerHungError: it did not answer within `seconds`.
        """
        return self._exchange((method, arguments), seconds)

    @property
    def alive(self) -> bool:
        """Whether the process is there."""
        return self._process.is_alive()

    def end(self) -> None:
        """End the process, and what it started, whatever they are doing; a call in another thread ends, too."""
        with self._ends:  # the other thread does the same, and a pipe that two close at once is a bad file descriptor
            if self._process.pid and self._process.exitcode is None:
                with suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)
                self._process.kill()
                self._process.join()
            self._pipe.close()

    def _exchange(self, message: Any, seconds: float | None) -> Any:
        try:
            if message is not None:
                self._pipe.send(message)
            if not self._pipe.poll(seconds):
                raise WorkerHungError(f"did not end within {seconds:.3g} s")
            value, error = self._pipe.recv()
        except (EOFError, OSError):
            raise self._ending() from None
        except BaseException:
            self.end()  # an answer that comes later would be taken for that of the next call
            raise
        if error is not None:
            raise error
        return value

    def _ending(self) -> WorkerError:
        self._process.join(_END_SECONDS)
        code = self._process.exitcode
        self.end()
        if code is None:
            return WorkerError("closed its pipe and went on")
        if code >= 0:
            return WorkerError(f"ended with exit code {code}{_NO_GUARD * (code == _UNGUARDED)}")
        kind = WorkerKilledError if code == -signal.SIGKILL else WorkerError
        return kind(f"ended by {signal.Signals(-code).name}")


@contextmanager
def _ctrl_c_blocked() -> Iterator[None]:
    """Let a process that is started inherit a mask without SIGINT."""
    # Up to Python 3.11 the start of multiprocessing's resource tracker unblocks the signal: have it behind us.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(pipe: Connection, make: Callable[[], Any], cache: Path | None) -> None:
    """Make the object, and do what the pipe brings until its other end is closed."""
    os.setpgid(0, 0)
    adopt(cache)
    show_messages_as_parent()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_FIRST_TO_GO)
    with suppress(EOFError, ConnectionError):
        served, error = _outcome(make)
        pipe.send((None, error))
        while error is None:
            method, arguments = pipe.recv()
            pipe.send(_outcome(getattr(served, method), *arguments))


def _outcome(call: Callable[..., Any], *arguments: Any) -> tuple[Any, Exception | None]:
    try:
        return call(*arguments), None
    except Exception as error:
        trace = "".join(traceback.format_exception(error))  # which is lost on the way
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # such as that of one which holds functions
            error = RuntimeError(f"{type(error).__name__}: {error}")
        error.add_note(trace)
        return None, error


def _end_with_parent() -> None:
    """A worker that hangs does not see that its pipe was closed."""
    parent = parent_process()
    if parent:
        parent.join()
        os.killpg(0, signal.SIGKILL)
