"""The checks of verify.cuh, ready to launch: outputs against their reference, and memory that must not change."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from cuda.core import Device, Stream

from ..codegen.program import Argument, Launch, Program
from ..codegen.tensor import Tensor
from ..compiler import compile_kernel
from ..search_spaces.device_spec import DeviceSpec
from .launcher import LoadedProgram
from .memory import GuardedBuffer

_TEXT = Path(__file__).with_name("verify.cuh")
_THREADS = 256
_BLOCKS_PER_SM = 8
_COMPARE = (
    Argument("actual", "const void*"),
    Argument("expected", "const void*"),
    Argument("report", "Report*"),
    Argument("size", "long long"),
    Argument("element_bytes", "long long"),
    Argument("bound", "double"),
)
_CHECKSUM = (
    Argument("words", "const u64*"),
    Argument("sum", "u64*"),
    Argument("size", "long long"),
    Argument("skip_begin", "long long"),
    Argument("skip_end", "long long"),
)
REPORT = np.dtype([("wrong", "u8"), ("first", "u8"), ("max_error", "f4"), ("padding", "u4")])
EMPTY_REPORT = np.array([(0, 2**64 - 1, 0.0, 0)], REPORT)


@dataclass(frozen=True)
class Comparison:
    """How an output differs from its reference.

    Attributes:
        wrong: elements that are wrong.
        first: index of the first of them; meaningless if there are none.
        max_error: largest finite absolute error; 0 where the comparison is bit for bit.
    """

    wrong: int
    first: int
    max_error: float


def verification_source(entry: str, sm_count: int) -> Program:
    """A kernel of verify.cuh: ``compare_<dtype>``, ``compare_exact`` or ``checksum``, for a device of so many SMs."""
    launch = Launch(entry, (sm_count * _BLOCKS_PER_SM, 1, 1), (_THREADS, 1, 1))
    return Program(_TEXT.read_text(), _CHECKSUM if entry == "checksum" else _COMPARE, (launch,))


class Verifier:
    """Compares and sums up device memory, on one stream of the current context."""

    def __init__(self, device: Device, stream: Stream, limits: DeviceSpec) -> None:
        self._limits = limits
        self._stream = int(stream.handle)
        self._report = GuardedBuffer(device, stream, REPORT.itemsize, 8)
        self._sum = GuardedBuffer(device, stream, 8, 8)
        self._kernels: dict[str, tuple[Program, LoadedProgram]] = {}

    def compare(self, tensor: Tensor, actual: GuardedBuffer, expected: GuardedBuffer, bound: float) -> Comparison:
        """Compare a whole flat buffer with its reference, gaps included.

        `expected` holds float64 for a `bound` above 0; for 0 it holds the tensor's own dtype, and bits are compared.
        """
        self._report.upload(EMPTY_REPORT)
        pointers = {"actual": actual.pointer, "expected": expected.pointer, "report": self._report.pointer}
        element_bytes = tensor.dtype.bytes
        entry = f"compare_{tensor.dtype}" if bound else "compare_exact"
        self._launch(entry, pointers, {"size": tensor.size, "element_bytes": element_bytes, "bound": bound})
        report = self._report.download("uint8", REPORT.itemsize).view(REPORT)[0]
        return Comparison(int(report["wrong"]), int(report["first"]), float(report["max_error"]))

    def checksum(self, buffer: GuardedBuffer, *, guards_only: bool) -> int:
        """64 bits that change, but for a chance of 1 in 2**64, when the buffer or its guard zones do."""
        self._sum.fill(0)
        self.queue_checksum(buffer, guards_only=guards_only)
        return int(self._sum.download("uint64", 1)[0])

    def queue_checksum(self, buffer: GuardedBuffer, *, guards_only: bool) -> None:
        """Queue a checksum that nobody may want: it reads the buffer through the L2 cache."""
        begin = buffer.pointer - buffer.base if guards_only else 0
        end = begin + buffer.size if guards_only else 0
        pointers = {"words": buffer.base, "sum": self._sum.pointer}
        self._launch("checksum", pointers, {"size": buffer.allocated // 8, "skip_begin": begin, "skip_end": end})

    def _launch(self, entry: str, pointers: dict[str, int], scalars: dict[str, float]) -> None:
        if entry not in self._kernels:
            program = verification_source(entry, self._limits.sm_count)
            self._kernels[entry] = program, LoadedProgram(compile_kernel(program, self._limits.arch), program)
        program, kernel = self._kernels[entry]
        kernel.launch(self._stream, program.pack(pointers, scalars))

    def close(self) -> None:
        """Free the memory."""
        self._report.close()
        self._sum.close()
