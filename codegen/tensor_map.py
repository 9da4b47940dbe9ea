"""Tensor maps: what the hardware that copies boxes of a tensor knows of it (CUtensorMap, sm_90 and newer)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

TENSOR_MAP_BYTES = 128


class Swizzle(StrEnum):
    """The bytes of shared memory in which 16-byte units of a box are permuted by XOR; none permutes nothing."""

    NONE = "none"
    B32 = "32B"
    B64 = "64B"
    B128 = "128B"


@dataclass(frozen=True)
class TensorMap:
    """A tensor of two dimensions as boxes of it are copied to shared memory; what lies outside is read as zeros.

    Attributes:
        tensor: the name of the tensor, whose address it is encoded with.
        dtype: the name of a `DType`.
        rows, columns: of the tensor; columns are adjacent.
        leading: elements from a row to the next; their bytes are a multiple of 16.
        box_rows, box_columns: of a copy, 256 at most; the bytes of a row of the box are a multiple of 16.
        swizzle: how the box lies in shared memory.
    """

    tensor: str
    dtype: str
    rows: int
    columns: int
    leading: int
    box_rows: int
    box_columns: int
    swizzle: Swizzle = Swizzle.NONE
