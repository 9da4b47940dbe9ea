"""Scratch memory of a kernel on a GPU: one for each stream and each CUDA graph, since their launches may overlap."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from cuda.bindings import driver

from ...cuda_core import handle_return

_ACTIVE = driver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE
_NOT_CAPTURED = (driver.CUresult.CUDA_SUCCESS, driver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE)
_IMPLICIT = driver.CUresult.CUDA_ERROR_STREAM_CAPTURE_IMPLICIT


def capture_id(stream: int) -> int | None:
    """The number of the capture that a stream is part of; None if it is not being captured."""
    status, capturing, number, *_ = driver.cuStreamGetCaptureInfo(stream)
    if status == _IMPLICIT:
        return 0  # the legacy stream, which no capture can hold, while another stream is being captured
    handle_return((status,))
    return int(number) if capturing == _ACTIVE else None


class Workspaces:
    """The workspaces of one kernel, kept as long as the process lives.

    Args:
        size: bytes of each.
        context: makes the CUDA context that they are in the current one for a while.
    """

    def __init__(self, size: int, context: AbstractContextManager[None]) -> None:
        self._size = size
        self._context = context
        self._pointers: dict[tuple[int, int | None], int] = {}

    def __len__(self) -> int:
        return len(self._pointers)

    def pointer(self, stream: int) -> int:
        """Device memory that was zeroed before what is launched next on the stream.

        Of two threads that come here on one stream at once, both use the memory of the first.
        """
        # Asking for the number of a capture as well takes three times as long.
        plain = driver.cuStreamIsCapturing(stream) == _NOT_CAPTURED
        key = stream, None if plain else capture_id(stream)
        pointer = self._pointers.get(key)
        if pointer is None:
            with self._context:
                pointer = self._pointers.setdefault(key, self._new(*key))
        return pointer

    def _new(self, stream: int, capture: int | None) -> int:
        if capture is None:
            pointer = int(handle_return(driver.cuMemAlloc(self._size)))
            handle_return(driver.cuMemsetD8Async(pointer, 0, self._size, stream))
            return pointer
        # The graph must not hold the zeroing: a kernel leaves its workspace fit for the next launch.
        with _outside_of_captures() as other:
            pointer = int(handle_return(driver.cuMemAlloc(self._size)))
            handle_return(driver.cuMemsetD8Async(pointer, 0, self._size, other))
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
