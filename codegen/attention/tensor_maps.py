"""How tensor copies take heads: boxes of rows of 128 bytes, which are swizzled, side by side along a head."""

from __future__ import annotations

from dataclasses import replace

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.tensor_map import Swizzle, TensorMap

from .problem import HeadProblem

ALIGNED = 8  # elements that strides of tensor copies are multiples of
ROW_BYTES = 128  # of a box in shared memory


def boxes(dim: int) -> int:
    """Boxes of a head of 16-bit elements."""
    return ceil_div(dim, ROW_BYTES // 2)


def head_map(problem: HeadProblem, operand: str, rows: int, name: str = "", heads: int = 1) -> Argument:
    """The argument ``map_<name>``, by default of the operand's name: boxes of so many rows of a head, or of some heads.

    Those of one place are neighbours in shared memory.

    A stride along an axis of one element is any that may be.
    """
    stated = problem.layouts[operand]
    steps = zip(stated.shape, stated.strides, strict=False)
    strides = tuple(step if extent > 1 else ALIGNED for extent, step in steps)
    box = (1, rows // heads, heads, ROW_BYTES // problem.dtype.bytes)
    described = TensorMap(operand, problem.dtype, stated.shape, (*strides, 1), box, Swizzle.B128)
    if problem.segmented:
        described = _of_packed(described)
    return Argument(f"map_{name or operand}", "TensorMap", tensor_map=described)


def _of_packed(described: TensorMap) -> TensorMap:
    """Row c + t - all at the coordinates (t, c), so that those behind a sequence's last row, c = all - 1, are zeros.

    Source: the ragged tensors of Dao-AILab's quack, which need no bounds of sequences in the map either.
    """
    _, rows, heads, elements = described.shape
    _, row, head, _ = described.strides
    return replace(
        described,
        shape=(rows + 1, rows, heads, elements),
        strides=(row, row, head, 1),
        offset=-rows * row * DType(described.dtype).bytes,
    )
