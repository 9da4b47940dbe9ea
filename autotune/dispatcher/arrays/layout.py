"""An array as a kernel sees it, and whether two of them overlap."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

HOST = -1  # the ordinal that stands for NumPy arrays and the emulator
LAYOUTS_KEPT = 4096  # of which what follows from them is remembered

Shape = tuple[int, ...]


class Layout(NamedTuple):
    """What of an array decides which kernel may serve it.

    Attributes:
        shape: elements along each axis.
        strides: elements from one index to the next along each axis.
        alignment: bytes, a power of two of at most 16, that the first element's address is a multiple of.
    """

    shape: Shape
    strides: Shape
    alignment: int


class View(NamedTuple):
    """An array as a kernel sees it.

    Attributes:
        pointer: the address of the first element.
        layout: shape, strides and alignment.
        dtype: the name that its library gives it, such as ``float32``.
        itemsize: bytes of an element.
        device: the ordinal of its GPU, or `HOST`.
        readonly: whether its library forbids to write to it.
    """

    pointer: int
    layout: Layout
    dtype: str
    itemsize: int
    device: int
    readonly: bool

    @property
    def extent(self) -> int:
        """Bytes from the first element to the last, gaps included; strides may not be negative."""
        return self.itemsize * _extent(self.layout)

    @property
    def place(self) -> str:
        """Where the array is, for people."""
        return "the host" if self.device == HOST else f"CUDA device {self.device}"


def overlap(first: View, second: View) -> bool:
    """Whether two arrays of one device have an element's byte in common; their strides may not be negative."""
    low, high = (first, second) if first.pointer <= second.pointer else (second, first)
    if high.pointer >= low.pointer + low.extent:
        return False
    # Interleaved arrays, such as two slices of the columns of one matrix, need the exact answer. NumPy finds it from
    # addresses and strides alone, so those may be a GPU's.
    return np.shares_memory(np.asarray(_Interface(low)), np.asarray(_Interface(high)))


@lru_cache(LAYOUTS_KEPT)
def _extent(layout: Layout) -> int:
    """Elements from the first to the last, gaps included."""
    if 0 in layout.shape:
        return 0
    return 1 + sum((size - 1) * stride for size, stride in zip(layout.shape, layout.strides, strict=True))


class _Interface:
    """What NumPy asks about memory that it need not touch."""

    def __init__(self, view: View) -> None:
        self.__array_interface__ = {
            "data": (view.pointer, True),
            "shape": view.layout.shape,
            "strides": tuple(stride * view.itemsize for stride in view.layout.strides),
            "typestr": f"|V{view.itemsize}",
            "version": 3,
        }
