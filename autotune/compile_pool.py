"""Compiling in parallel, ahead of whoever needs the kernels, in processes that may die."""

from __future__ import annotations

import os
import signal
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Self

from .codegen.source import KernelSource
from .compiler import CompiledKernel, CompileError, compile_kernel

# A fork of a process with threads or a CUDA context is not safe.
_processes = get_context("spawn")


class CompilePool:
    """Compiles in one process per CPU; a context manager, and leaving it gives up what is unfinished.

    `concurrent.futures.ProcessPoolExecutor` fails every job when one of its processes dies. Here each process
    belongs to one thread of a thread pool, so a compiler that crashes or runs out of memory fails its own job only.
    """

    def __init__(self, workers: int | None = None) -> None:
        self._workers: list[_Worker] = []
        self._own = threading.local()
        # Processes inherit the mask of the thread that starts them: Ctrl-C in a terminal reaches the parent alone.
        # Up to Python 3.11 the start of multiprocessing's resource tracker unblocks the signal: have it behind us.
        resource_tracker.ensure_running()
        self._threads = ThreadPoolExecutor(
            workers or os.cpu_count(),
            initializer=signal.pthread_sigmask,
            initargs=(signal.SIG_BLOCK, {signal.SIGINT}),
        )

    def submit(self, source: KernelSource, arch: str) -> Future[CompiledKernel]:
        """Compile when a process is free; the future raises what `compile_kernel` raises.

        A process that dies makes its own future raise `CompileError`, and a new one takes its place.
        """
        return self._threads.submit(self._compile, source, arch)

    def _compile(self, source: KernelSource, arch: str) -> CompiledKernel:
        if not hasattr(self._own, "worker"):
            self._own.worker = _Worker()
            self._workers.append(self._own.worker)
        worker: _Worker = self._own.worker
        try:
            return worker.compile(source, arch)
        except EOFError:
            del self._own.worker
            self._workers.remove(worker)
            raise CompileError(f"the compiler ended {worker.ending()} on {source.entry} for {arch}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._end_workers()
        self._threads.shutdown(wait=True)
        self._end_workers()  # one may have been starting

    def _end_workers(self) -> None:
        for worker in list(self._workers):
            worker.process.terminate()
            worker.process.join()


class _Worker:
    """One process and the pipe to it."""

    def __init__(self) -> None:
        self._pipe, theirs = _processes.Pipe()
        self.process = _processes.Process(target=_serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()

    def compile(self, source: KernelSource, arch: str) -> CompiledKernel:
        """Compile there.

        Raises:
            EOFError: the process ended before it answered.
        """
        try:
            self._pipe.send((source, arch))
            answer = self._pipe.recv()
        except OSError:
            raise EOFError from None
        if isinstance(answer, CompiledKernel):
            return answer
        raise answer

    def ending(self) -> str:
        """How the process ended: ``by SIGSEGV`` or ``with exit code 1``."""
        self.process.join()
        code = self.process.exitcode or 0
        return f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"


def _serve(pipe: Connection) -> None:
    """Compile what the pipe brings until its other end is closed, by a parent that is done or gone."""
    with suppress(EOFError, ConnectionError):
        while True:
            pipe.send(_answer(*pipe.recv()))


def _answer(source: KernelSource, arch: str) -> CompiledKernel | Exception:
    try:
        return compile_kernel(source, arch)
    except Exception as error:  # the parent raises it
        return error
