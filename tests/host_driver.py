"""A GPU in host memory: kernels are Python functions of their packed arguments, which run when they are launched."""

import ctypes
import zlib
from itertools import count
from types import SimpleNamespace

import numpy as np

from autotune.base.cuda_core import CUDAError
from autotune.codegen.model.dtype import DType
from autotune.devices import cuda_session, memory, operands
from autotune.devices.cuda_context import CudaContext
from autotune.devices.timing import Timed
from autotune.devices.verifier import Discrepancy
from autotune.verification import POISONS, Mismatch, compare, compare_checked, expected_dtype, poisoned, unwritten


class Handle:
    """Stands for cuda.core's ``Device``. An event is a millisecond later than the one before.

    Attributes:
        lost: whether a kernel has destroyed the context.
        milliseconds: the times of the next events.
    """

    def __init__(self):
        self.lost = False
        self.milliseconds = count()

    def set_current(self): ...

    def to_system_device(self):
        raise RuntimeError("no NVML")

    def sync(self):
        if self.lost:
            raise CUDAError("CUDA_ERROR_ILLEGAL_ADDRESS: lost")

    def create_stream(self):
        def record(event):
            event.at = next(self.milliseconds)

        return SimpleNamespace(handle=7, sync=lambda: None, record=record)

    def create_event(self, options):
        return _Event(sync=lambda: None)

    def allocate(self, size, stream):
        block = ctypes.create_string_buffer(size)
        address = ctypes.addressof(block)
        fill = lambda byte, stream: ctypes.memset(address, byte, size)  # noqa: E731
        return SimpleNamespace(handle=address, fill=fill, close=lambda: None, block=block)


class _Event(SimpleNamespace):
    def __sub__(self, other):
        return int(self.at - other.at)


class Loaded:
    """Stands for `LoadedProgram`: the kernel that a test hands in as compiled is the function to call."""

    def __init__(self, kernel, program):
        self._kernel = kernel

    def bound(self, packed):
        return lambda stream: self._kernel(packed)


class HostVerifier:
    """Stands for `Verifier`, by the rule's twin in NumPy."""

    def __init__(self, *_): ...

    def compare(self, tensor, actual, expected, *, scale, before, counts, rows, poison):
        was = _elements(before, tensor.dtype) if before else poisoned(tensor, poison)
        left, ends = _elements(actual, tensor.dtype), _elements(counts, DType.INT32) if counts else None
        if expected is None:
            found = compare_checked(tensor, left, np.ones(tensor.size, np.bool_), was, ends)
        else:
            chosen = _elements(rows, DType.INT64) if rows else None
            found = compare(tensor, left, _elements(expected, expected_dtype(tensor)), was, None, ends, chosen)
        if isinstance(found, Mismatch):
            return Discrepancy(found.count, found.index, 0.0)
        return Discrepancy(0, 0, found)

    def unwritten(self, tensor, first, second, counts):
        ends = _elements(counts, DType.INT32) if counts else None
        launches = ((first, POISONS[0]), (second, POISONS[1]))
        one, other = ((poisoned(tensor, poison), _elements(left, tensor.dtype)) for left, poison in launches)
        found = unwritten(tensor, one, other, ends)
        return Discrepancy(found.count, found.index, 0.0) if found else Discrepancy(0, 0, 0.0)

    def checksum(self, buffer, *, guards_only):
        content = ctypes.string_at(buffer.base, buffer.allocated)
        begin = buffer.pointer - buffer.base
        return zlib.crc32(content[:begin] + content[begin + buffer.size :] if guards_only else content)

    def queue_checksum(self, buffer, *, guards_only): ...

    def close(self): ...


def _ten_samples(sample, now, prune, slowed_down, hopeless):
    first = sample()
    if hopeless and hopeless([first]):
        return Timed((first,), True)
    samples = (first, *(sample() for _ in range(9)))
    return Timed(samples, prune(samples))


def _elements(buffer, dtype):
    return buffer.download(dtype.numpy, buffer.size // dtype.bytes)


def host_context(monkeypatch, spec, reference, checker=None):
    """The context of such a GPU with these kernels, of which the checker's program is named ``check``."""
    driver = SimpleNamespace(
        cuMemsetD8Async=lambda pointer, byte, size, stream: ctypes.memset(pointer, byte, size),
        cuMemcpyHtoDAsync=lambda to, source, size, stream: ctypes.memmove(to, source, size),
        cuMemcpyDtoHAsync=lambda to, source, size, stream: ctypes.memmove(to, source, size),
        cuMemcpyDtoDAsync=lambda to, source, size, stream: ctypes.memmove(to, source, size),
    )
    monkeypatch.setattr(memory, "driver", driver)
    monkeypatch.setattr(memory, "handle_return", lambda result: result)
    monkeypatch.setattr(memory, "GUARD_BYTES", 256)
    monkeypatch.setattr(cuda_session, "LoadedProgram", Loaded)
    monkeypatch.setattr(operands, "Verifier", HostVerifier)
    monkeypatch.setattr(
        operands, "compile_kernel", lambda program, arch: checker if program.name == "check" else reference
    )
    monkeypatch.setattr(cuda_session, "measure", _ten_samples)
    return CudaContext("0", Handle(), spec)  # type: ignore[arg-type]
