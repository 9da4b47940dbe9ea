"""Compiling in parallel, ahead of whoever needs the kernels, in processes that may die."""

from __future__ import annotations

import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

from .base.worker import Worker, WorkerError, WorkerKilledError
from .codegen.model.program import Program
from .compiler import CompiledKernel, CompileError, CompilerKilledError, cached_kernel, compile_kernel

_SECONDS = 120.0  # a fully unrolled product of 16x8 takes about one
_NICE = 10  # launches of a kernel that is timed must not wait for a processor that compiles


class CompilePool:
    """Compiles in one process per CPU; a context manager, and leaving it gives up what is unfinished.

    `concurrent.futures.ProcessPoolExecutor` fails every job when one of its processes dies. Here each process
    belongs to one thread of a thread pool, so a compiler that crashes, hangs or runs out of memory fails its own job
    only.

    Attributes:
        processes: how many there may be.
    """

    def __init__(self, workers: int | None = None) -> None:
        import cuda.core.utils  # noqa: F401, here: of threads that are the first to import it at once, one may see half of it

        self.processes = workers or os.cpu_count() or 1
        self._workers: list[Worker] = []
        self._own = threading.local()
        self._left = False
        self._prepared: dict[tuple[str, str], Future[CompiledKernel]] = {}
        self._threads = ThreadPoolExecutor(self.processes)

    def submit(self, program: Program, arch: str) -> Future[CompiledKernel]:
        """Compile when a process is free; the future raises what `compile_kernel` raises.

        What is in the disk cache waits for no process. One that dies, or takes two minutes, makes its own future raise
        `CompileError`, and a new one takes its place. If it was killed, the new one tries again what it compiled.

        Raises:
            CompilerMissingError: there is no compiler.
        """
        if prepared := self._prepared.pop((program.source_digest, arch), None):
            return prepared
        if kernel := cached_kernel(program, arch):
            done: Future[CompiledKernel] = Future()
            done.set_result(kernel)
            return done
        return self._threads.submit(self._compile, program, arch)

    def prepare(self, program: Program, arch: str) -> None:
        """Compile for whoever submits the same later, and finds it in the disk cache if it is ready by then."""
        key = program.source_digest, arch
        if key not in self._prepared:
            future = self._prepared[key] = self._threads.submit(self._compile, program, arch)
            future.add_done_callback(lambda _: self._prepared.pop(key, None))

    def _compile(self, program: Program, arch: str) -> CompiledKernel:
        for killed_before in (False, True):
            try:
                kernel: CompiledKernel = self._worker().call("compile", program, arch, seconds=_SECONDS)
                return kernel
            except WorkerError as error:
                if self._left:  # which may show as a pipe that is closed
                    raise CompileError(f"the compiler was given up on {program.name} for {arch}") from None
                what = f"the compiler {error} on {program.name} for {arch}"
                if not isinstance(error, WorkerKilledError):
                    raise CompileError(what) from None
                if killed_before:
                    raise CompilerKilledError(f"{what}, twice") from None
        raise AssertionError

    def _worker(self) -> Worker:
        """The process of this thread, started again if it is gone."""
        worker: Worker | None = getattr(self._own, "worker", None)
        if worker is None or not worker.alive:
            if worker:
                self._workers.remove(worker)
            worker = self._own.worker = Worker(_Compiler)
            self._workers.append(worker)
            if self._left:  # what ended the others did not see this one
                worker.end()
        return worker

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._left = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in list(self._workers):
            worker.end()
        self._threads.shutdown(wait=True)


class _Compiler:
    """What the processes host."""

    def __init__(self) -> None:
        os.nice(_NICE)

    def compile(self, program: Program, arch: str) -> CompiledKernel:
        return compile_kernel(program, arch)
