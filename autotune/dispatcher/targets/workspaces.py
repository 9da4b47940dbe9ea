"""Workspaces of kernels on a GPU: one for each stream and each CUDA graph, since their launches may overlap."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import get_ident

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
    """The workspaces of one kernel, kept as long as the process lives.

    Args:
        size: bytes of each.
        context: makes the CUDA context that they are in the current one for a while.
    """

    def __init__(self, size: int, context: AbstractContextManager[None]) -> None:
        self._size = size
        self._context = context
        self._pointers: dict[Key, int] = {}

    def __len__(self) -> int:
        return len(self._pointers)

    def pointer(self, stream: int) -> int:
        """Device memory that was zeroed before what is launched next on the stream.

        Of two threads that come here on one stream at once, both use the memory of the first.
        """
        key = _key(stream)
        pointer = self._pointers.get(key)
        if pointer is None:
            with self._context:
                pointer = self._pointers.setdefault(key, _zeroed(self._size, *key))
        return pointer


class Scratch:
    """Workspaces that all kernels share which expect nothing in theirs.

    Those of one stream run one after the other. A workspace that is too small is kept, since launches may be queued
    that use it, and one of twice the size takes its place.

    Args:
        context: as of `Workspaces`.
    """

    def __init__(self, context: AbstractContextManager[None]) -> None:
        self._context = context
        self._held: dict[tuple[Key, int], tuple[int, int]] = {}  # address and bytes

    def pointer(self, size: int, stream: int) -> int:
        """At least so many bytes of device memory for what is launched next on the stream."""
        key = _key(stream)
        # The default stream of each thread has one handle for all of them.
        place = key, get_ident() if stream == _PER_THREAD else 0
        pointer, held = self._held.get(place, (0, 0))
        if held < size:
            most = max(size, 2 * held)
            with self._context:
                pointer = _zeroed(most, *key)
            self._held[place] = pointer, most
        return pointer


def _key(stream: int) -> Key:
    # Asking for the number of a capture as well takes three times as long.
    plain = driver.cuStreamIsCapturing(stream) == _NOT_CAPTURED
    return stream, None if plain else capture_id(stream)


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
