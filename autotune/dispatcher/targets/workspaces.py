"""Workspaces of kernels on a GPU: one for each stream and each CUDA graph, since their launches may overlap."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from threading import local

from cuda.bindings import driver

from autotune.base.cuda_core import handle_return

_ACTIVE = driver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE
_NOT_CAPTURED = (driver.CUresult.CUDA_SUCCESS, driver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE)
_PER_THREAD = 2  # CU_STREAM_PER_THREAD
_IMPLICIT = driver.CUresult.CUDA_ERROR_STREAM_CAPTURE_IMPLICIT


def capture_id(stream: int) -> int | None:
    """The number of the capture that a stream is part of; None if it is not being captured."""
    status, capturing, number, *_ = driver.cuStreamGetCaptureInfo(stream)
    if status == _IMPLICIT:
        return 0  # the legacy stream, which no capture can hold, while another stream is being captured
    handle_return((status,))
    return int(number) if capturing == _ACTIVE else None


Key = tuple[int, int | None]  # a stream, and the number of the capture that it is part of


class Workspaces:
    """The workspaces of one kernel, or of all kernels that expect nothing in theirs.

    Launches on one stream run one after the other. A workspace that is too small is kept, since launches may be queued
    that use it, and one of twice the size takes its place.

    The default stream of each thread has one handle in all threads, so its workspace is stored with the thread and
    freed with it. A thread's number would not do as a key: a new thread may get that of one whose launches still run.
    All other workspaces are kept as long as the process lives.

    Args:
        context: makes the CUDA context that they are in the current one for a while.
    """

    def __init__(self, context: AbstractContextManager[None]) -> None:
        self._context = context
        self._shared: dict[Key, _Memory] = {}
        self._own = local()

    def __len__(self) -> int:
        return len(self._shared) + len(self._of_this_thread())

    def pointer(self, size: int, stream: int) -> int:
        """At least so many bytes of device memory, zeroed before the first launch that uses them on the stream.

        Of two threads that come here on one stream at once, each may use memory of its own.
        """
        # Asking for the number of a capture as well takes three times as long.
        captured = driver.cuStreamIsCapturing(stream) != _NOT_CAPTURED
        key = stream, capture_id(stream) if captured else None
        memories = self._of_this_thread() if stream == _PER_THREAD else self._shared
        memory = memories.get(key)
        if memory is None or memory.size < size:
            most = size if memory is None else max(size, 2 * memory.size)
            memory = memories[key] = _Memory(most, key, self._context, memory)
        return memory.pointer

    def _of_this_thread(self) -> dict[Key, _Memory]:
        found: dict[Key, _Memory] = self._own.__dict__.setdefault("memories", {})
        return found


class _Memory:
    """Device memory that was zeroed before what is launched next on a stream.

    Attributes:
        size, pointer: its bytes and its address.
    """

    def __init__(self, size: int, key: Key, context: AbstractContextManager[None], outgrown: _Memory | None) -> None:
        self.size = size
        self._context = context
        self._outgrown = outgrown
        self._process = os.getpid()
        with context:
            self.pointer = _zeroed(size, *key)
        # A thread's default stream ends with the thread. A graph that was captured there does not.
        self._ends = key == (_PER_THREAD, None)

    def __del__(self) -> None:
        """Free it if its stream has ended; the driver waits for launches that use it."""
        with suppress(Exception):
            if self._ends and self._process == os.getpid():
                with self._context, relaxed_captures():
                    handle_return(driver.cuMemFree(self.pointer))


def _zeroed(size: int, stream: int, capture: int | None) -> int:
    """New device memory, zeroed before what is launched next on the stream."""
    if capture is None:
        pointer = int(handle_return(driver.cuMemAlloc(size)))
        handle_return(driver.cuMemsetD8Async(pointer, 0, size, stream))
        return pointer
    # The graph must not hold the zeroing: a kernel leaves its workspace fit for the next launch.
    with _outside_of_captures() as other:
        pointer = int(handle_return(driver.cuMemAlloc(size)))
        handle_return(driver.cuMemsetD8Async(pointer, 0, size, other))
    return pointer


@contextmanager
def _outside_of_captures() -> Iterator[int]:
    """A stream on which this thread may work while it captures another; it has done its work in the end."""
    with relaxed_captures():
        stream = handle_return(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))
        try:
            yield int(stream)
            handle_return(driver.cuStreamSynchronize(stream))
        finally:
            handle_return(driver.cuStreamDestroy(stream))


@contextmanager
def relaxed_captures() -> Iterator[None]:
    """Lets this thread call what is forbidden while it captures a stream, such as allocating memory."""
    relaxed = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    before = handle_return(driver.cuThreadExchangeStreamCaptureMode(relaxed))
    try:
        yield
    finally:
        handle_return(driver.cuThreadExchangeStreamCaptureMode(before))
