"""The checks of verify.cuh, ready to launch: outputs against their reference, and memory that must not change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from cuda.core import Device, Stream

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor import Checked, Exact, Tensor, Within, row_major
from autotune.codegen.source.emission import inlined
from autotune.compiler import compile_kernel
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.verification import POISONS

from .launcher import LoadedProgram
from .memory import GuardedBuffer

_TEXT = Path(__file__).with_name("verify.cuh")
_THREADS = 256
_BLOCKS_PER_SM = 8
_MOST_AXES = 5  # as many as verify.cuh has
_AXIS = ("extent", "stride", "number", "position", "row")  # of verify.cuh
_COMPARE = (
    Argument("actual", "const Number*"),
    Argument("expected", "const void*"),
    Argument("scale", "const double*"),
    Argument("before", "const Number*"),
    Argument("counts", "const int*"),
    Argument("rows", "const long long*"),
    Argument("row_count", "long long"),
    Argument("report", "Report*"),
    Argument("size", "long long"),
    Argument("absolute", "double"),
    Argument("relative", "double"),
    Argument("largest", "double"),
    Argument("poison", "long long"),
    Argument("axes", "long long"),
    *(Argument(f"{part}_{axis}", "long long") for axis in range(_MOST_AXES) for part in _AXIS),
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
class Discrepancy:
    """How an output differs from its reference.

    Attributes:
        wrong: elements that are wrong.
        first: index of the first of them; meaningless if there are none.
        max_error: largest finite absolute error; 0 where the comparison is bit for bit.
    """

    wrong: int
    first: int
    max_error: float

    @classmethod
    def reported(cls, buffer: GuardedBuffer) -> Discrepancy:
        """What a kernel wrote to a `Report` that started as `EMPTY_REPORT`."""
        report = buffer.download("uint8", REPORT.itemsize).view(REPORT)[0]
        return cls(int(report["wrong"]), int(report["first"]), float(report["max_error"]))


def verification_source(entry: str, sm_count: int, dtype: DType = DType.UINT8) -> Program:
    """A kernel of verify.cuh, for a device of so many SMs.

    Args:
        entry: ``compare_within``, ``compare_exact``, ``compare_gaps``, ``compare_written`` or ``checksum``.
        sm_count: SMs of the device.
        dtype: of the output that is compared.
    """
    launch = Launch(entry, (sm_count * _BLOCKS_PER_SM, 1, 1), (_THREADS, 1, 1))
    headers, text = inlined("cuda/narrow.cuh", "cuda/report.cuh"), _TEXT.read_text(encoding="utf-8")
    source = f"{headers}\nusing Number = {dtype.cuda};\n\n{text}"
    return Program(source, _CHECKSUM if entry == "checksum" else _COMPARE, (launch,))


def comparison_entry(tensor: Tensor) -> str:
    """The kernel that judges an output."""
    if isinstance(tensor.judged, Checked):
        return "compare_gaps"
    return "compare_exact" if isinstance(tensor.judged, Exact) else "compare_within"


def comparison_scalars(tensor: Tensor, poison: int = POISONS[0], row_count: int = 0) -> dict[str, float]:
    """What the comparison of an output takes beside its buffers.

    Raises:
        ValueError: the gaps of the output lie in more ways than verify.cuh tells apart.
    """
    apart = tensor.extent or tensor.row_axes
    axes = list(_numbered_axes(tensor)) if apart else [(*axis, 0, 0, 0) for axis in tensor.axes]
    if len(axes) > _MOST_AXES:
        raise ValueError(f"{tensor.name} has {len(axes)} axes with gaps between: expected {_MOST_AXES} at most")
    judged = tensor.judged if isinstance(tensor.judged, Within) else Within()
    scalars = {
        "size": tensor.size,
        "absolute": judged.absolute,
        "relative": judged.relative,
        "largest": tensor.dtype.largest,
        "poison": poison,
        "axes": len(axes),
        "row_count": row_count,
    }
    for number, axis in enumerate([*axes, *[(1, 1, 0, 0, 0)] * (_MOST_AXES - len(axes))]):
        scalars |= {f"{part}_{number}": value for part, value in zip(_AXIS, axis, strict=True)}
    return scalars


def _numbered_axes(tensor: Tensor) -> Iterator[tuple[int, int, int, int, int]]:
    """Each axis of a tensor with an extent or rows, the largest stride first, as ``struct Axis`` has it."""
    counted = tensor.extent.axis if tensor.extent else 0
    numbers, rows = (dict(enumerate(row_major(tensor.shape[:axes]))) for axes in (counted, tensor.row_axes))
    for axis in tensor.moving_axes:
        position = int(tensor.extent is not None and axis == counted)
        yield tensor.shape[axis], tensor.strides[axis], numbers.get(axis, 0), position, rows.get(axis, 0)


class Verifier:
    """Compares and sums up device memory, on one stream of the current context."""

    def __init__(self, device: Device, stream: Stream, spec: DeviceSpec) -> None:
        self._spec = spec
        self._stream = int(stream.handle)
        self._report = GuardedBuffer(device, stream, REPORT.itemsize, 8)
        self._sum = GuardedBuffer(device, stream, 8, 8)
        self._kernels: dict[tuple[str, DType], tuple[Program, LoadedProgram]] = {}

    def compare(
        self,
        tensor: Tensor,
        actual: GuardedBuffer,
        expected: GuardedBuffer | None,
        *,
        scale: GuardedBuffer | None = None,
        before: GuardedBuffer | None = None,
        counts: GuardedBuffer | None = None,
        rows: GuardedBuffer | None = None,
        poison: int = POISONS[0],
    ) -> Discrepancy:
        """Judge a whole flat output as `verification.compare` does; the gaps alone of one that is `Checked`.

        `expected` holds elements of `expected_dtype`, `scale` float64, `counts` int32, `rows` int64; without `before`,
        gaps must be `poison`.
        """
        buffers = {"expected": expected, "scale": scale, "before": before, "counts": counts, "rows": rows}
        return self._compared(comparison_entry(tensor), tensor, actual, buffers, poison)

    def unwritten(
        self, tensor: Tensor, first: GuardedBuffer, second: GuardedBuffer, counts: GuardedBuffer | None
    ) -> Discrepancy:
        """Find the elements that hold the first poison after one launch, the second one after another."""
        buffers = {"expected": first, "scale": None, "before": None, "counts": counts, "rows": None}
        return self._compared("compare_written", tensor, second, buffers, POISONS[1])

    def _compared(
        self,
        entry: str,
        tensor: Tensor,
        actual: GuardedBuffer,
        buffers: Mapping[str, GuardedBuffer | None],
        poison: int,
    ) -> Discrepancy:
        self._report.upload(EMPTY_REPORT)
        pointers = {name: buffer.pointer if buffer else 0 for name, buffer in buffers.items()}
        pointers |= {"actual": actual.pointer, "report": self._report.pointer}
        rows = buffers["rows"]
        scalars = comparison_scalars(tensor, poison, rows.size // DType.INT64.bytes if rows else 0)
        self._launch(entry, pointers, scalars, tensor.dtype)
        return Discrepancy.reported(self._report)

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

    def _launch(
        self, entry: str, pointers: dict[str, int], scalars: dict[str, float], dtype: DType = DType.UINT8
    ) -> None:
        if (entry, dtype) not in self._kernels:
            program = verification_source(entry, self._spec.sm_count, dtype)
            self._kernels[entry, dtype] = program, LoadedProgram(compile_kernel(program, self._spec.arch), program)
        program, kernel = self._kernels[entry, dtype]
        kernel.launch(self._stream, program.pack(pointers, scalars))

    def close(self) -> None:
        """Free the memory."""
        self._report.close()
        self._sum.close()
