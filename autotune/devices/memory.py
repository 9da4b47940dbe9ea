"""Device memory for verification: flat buffers of exactly the declared alignment, between guard zones."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from cuda.bindings import driver
from cuda.core import Device, Stream

from autotune.base.cuda_core import handle_return
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.integers import round_up
from autotune.codegen.model.problem import Array
from autotune.verification import POISONS

_ALLOCATION_ALIGNMENT = 256  # bytes of cuMemAlloc
GUARD_BYTES = 1 << 20  # the rows of a tile that starts inside of a buffer and ends outside fit in


def guarded_pointer(base: int, alignment: int) -> int:
    """Where a buffer starts in an allocation that starts at `base`, `GUARD_BYTES` or more from there.

    A multiple of `alignment`, a power of two, and of no larger one, so that accesses which are too wide show. No
    access is wider than 16 bytes: from there on the buffer starts as the driver's own do, or times would be those of
    accesses that straddle cache lines (a transpose of 2 GiB on an H200 took a third longer).
    """
    if alignment >= WIDEST_ACCESS:
        return round_up(base + GUARD_BYTES, _ALLOCATION_ALIGNMENT)
    return round_up(base + GUARD_BYTES, 2 * alignment) + alignment


def guarded_bytes(size: int, alignment: int) -> int:
    """Bytes, a multiple of 8, of an allocation that holds a buffer and the guard zones, wherever it starts."""
    return round_up(GUARD_BYTES + max(3 * alignment, _ALLOCATION_ALIGNMENT) + size + GUARD_BYTES, 8)


class GuardedBuffer:
    """One flat buffer in device memory; it and the guard zones around it start as poison.

    Attributes:
        base, allocated: address and bytes of the allocation, guard zones included.
        pointer: the buffer's address.
        size: the buffer's bytes.
    """

    def __init__(self, device: Device, stream: Stream, size: int, alignment: int) -> None:
        self.allocated = guarded_bytes(size, alignment)
        self._allocation = device.allocate(self.allocated, stream=stream)
        self._stream = stream
        self.base = int(self._allocation.handle)
        self.pointer = guarded_pointer(self.base, alignment)
        self.size = size
        self.poison_all()

    def poison_all(self) -> None:
        """Queue: poison the buffer and its guard zones."""
        self._allocation.fill(POISONS[0], stream=self._stream)

    def fill(self, byte: int) -> None:
        """Queue: set every byte of the buffer, not of its guard zones."""
        if self.size:
            handle_return(driver.cuMemsetD8Async(self.pointer, byte, self.size, self._stream.handle))

    def upload(self, array: Array) -> None:
        """Copy a flat host array of the buffer's size and wait for it."""
        if self.size:
            values = np.ascontiguousarray(array)
            handle_return(driver.cuMemcpyHtoDAsync(self.pointer, values.ctypes.data, self.size, self._stream.handle))
            self._stream.sync()

    def download(self, dtype: npt.DTypeLike, count: int, offset: int = 0) -> Array:
        """Wait for what is queued and copy `count` elements from the byte `offset` on."""
        values = np.empty(count, dtype)
        source = self.pointer + offset
        handle_return(driver.cuMemcpyDtoHAsync(values.ctypes.data, source, values.nbytes, self._stream.handle))
        self._stream.sync()
        return values

    def element(self, index: int, dtype: npt.DTypeLike) -> Any:
        """Wait for what is queued and copy one element."""
        return self.download(dtype, 1, index * np.dtype(dtype).itemsize)[0]

    def copy_from(self, other: GuardedBuffer) -> None:
        """Queue: copy a buffer of the same size."""
        if self.size:
            handle_return(driver.cuMemcpyDtoDAsync(self.pointer, other.pointer, self.size, self._stream.handle))

    def close(self) -> None:
        """Free the memory when the stream gets there."""
        self._allocation.close()
