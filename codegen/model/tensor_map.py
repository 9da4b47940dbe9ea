"""Tensor maps: what the hardware that copies boxes of a tensor knows of it (CUtensorMap, sm_90 and newer)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from .dtype import DType
from .im2col import MOST_PIXELS, Im2col

TENSOR_MAP_BYTES = 128
_MOST_DIMENSIONS, _MOST_ELEMENTS, MOST_STRIDE_BYTES, MOST_OF_BOX = 5, 2**32, 2**40, 256
_UNIT_BYTES = 16


class Swizzle(StrEnum):
    """The bytes of shared memory in which 16-byte units of a box are permuted by XOR; none permutes nothing."""

    NONE = "none"
    B32 = "32B"
    B64 = "64B"
    B128 = "128B"

    @property
    def bytes(self) -> int:
        """Bytes; 0 of none."""
        return 0 if self is Swizzle.NONE else int(self.value[:-1])


@dataclass(frozen=True)
class TensorMap:
    """A tensor of one to five dimensions as boxes of it are copied: to shared memory and from there.

    What lies outside of the tensor is read as zeros. A box that is stored may reach beyond it, which is not written,
    but not begin before it. The dimensions are in the order of `Tensor.shape`.

    Attributes:
        tensor: the name of the tensor, whose address it is encoded with, a multiple of 16; or ``workspace``.
        dtype: the name of a `DType`.
        shape: elements along each dimension.
        strides: elements from one to the next along each dimension; the last is 1, the bytes of the others are
            multiples of 16.
        box: elements of a copy along each dimension, 256 at most; the bytes of its rows are a multiple of 16, and those
            of the swizzle if it has one.
        swizzle: how the box lies in shared memory.
        offset: bytes from that address to where the map's tensor begins, a multiple of 16; less than 0 where copies
            read nothing of what lies ahead of the address.
        tf32: whether elements of float32 are rounded to TF32, 10 bits of fraction, ties to even, as they are read.
        im2col: the base pixels of a map in im2col mode, by which `im2col_copy` reads. Its dimensions are images, their
            one to three dimensions, and channels; its box is a number of pixels, 1024 at most, and of channels.

    Raises:
        ValueError: hardware has no such map.
    """

    tensor: str
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: Swizzle = Swizzle.NONE
    offset: int = 0
    tf32: bool = False
    im2col: Im2col | None = None

    def __post_init__(self) -> None:
        for wrong in self._violations():
            raise ValueError(f"a tensor map of {self.tensor} with {wrong}")

    def _violations(self) -> list[str]:
        rank, element, row = len(self.shape), DType(self.dtype).bytes, self.box[-1] * DType(self.dtype).bytes
        apart = [stride * element for stride in self.strides[:-1]]
        return [
            text
            for wrong, text in (
                (not 1 <= rank <= _MOST_DIMENSIONS, f"{rank} dimensions: expected 1 to {_MOST_DIMENSIONS}"),
                (
                    rank != len(self.strides) or len(self.box) != (2 if self.im2col else rank),
                    f"shape {self.shape}, strides {self.strides} and box {self.box}: expected as many of each",
                ),
                (
                    not all(1 <= size <= _MOST_ELEMENTS for size in self.shape),
                    f"shape {self.shape}: expected 1 to 2^32 elements along each dimension",
                ),
                (self.strides[-1] != 1, f"the last stride {self.strides[-1]}: expected 1"),
                (
                    any(stride % _UNIT_BYTES or not 0 <= stride < MOST_STRIDE_BYTES for stride in apart),
                    f"strides of {apart} bytes: expected multiples of {_UNIT_BYTES} below 2^40",
                ),
                (
                    not all(1 <= size <= most for size, most in zip(self.box, self._most_of_box, strict=False)),
                    f"box {self.box}: expected 1 to {self._most_of_box[0]} elements along each dimension",
                ),
                (row % _UNIT_BYTES != 0, f"rows of the box of {row} bytes: expected a multiple of {_UNIT_BYTES}"),
                (
                    self.swizzle.bytes not in (0, row),
                    f"rows of the box of {row} bytes and a swizzle of {self.swizzle}: expected as many bytes",
                ),
                (
                    self.offset % _UNIT_BYTES != 0,
                    f"an offset of {self.offset} bytes: expected a multiple of {_UNIT_BYTES}",
                ),
                (
                    self.tf32 and DType(self.dtype) is not DType.FLOAT32,
                    f"elements of {self.dtype} rounded to TF32: expected {DType.FLOAT32}",
                ),
            )
            if wrong
        ] + (self.im2col.violations(self.shape[1:-1]) if self.im2col else [])

    @property
    def _most_of_box(self) -> tuple[int, ...]:
        return (MOST_PIXELS, MOST_OF_BOX) if self.im2col else (MOST_OF_BOX,) * _MOST_DIMENSIONS
