"""An array as a kernel sees it, and whether two of them overlap."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from autotune.search_spaces.contract.layouts import Layout

HOST = -1  # the ordinal that stands for the CPU's memory and the emulator


class View(NamedTuple):
    """An array as a kernel sees it.

    Attributes:
        pointer: the address of the first element.
        layout: shape, strides, dtype and alignment.
        device: the ordinal of its GPU, or `HOST`.
        readonly: whether its library forbids to write to it.
    """

    pointer: int
    layout: Layout
    device: int
    readonly: bool

    @property
    def location(self) -> str:
        """Where the array is, for people."""
        return "the host" if self.device == HOST else f"CUDA device {self.device}"


def overlap(first: View, second: View) -> bool:
    """Whether two arrays of one device have an element's byte in common; their strides may not be negative."""
    low, high = (first, second) if first.pointer <= second.pointer else (second, first)
    if high.pointer >= low.pointer + low.layout.extent:
        return False
    # Interleaved arrays, such as two slices of the columns of one matrix, need the exact answer. NumPy finds it from
    # addresses and strides alone, so those may be a GPU's.
    return np.shares_memory(np.asarray(_Interface(low)), np.asarray(_Interface(high)))


class _Interface:
    """What NumPy asks about memory that it need not touch."""

    def __init__(self, view: View) -> None:
        layout = view.layout
        self.__array_interface__ = {
            "data": (view.pointer, True),
            "shape": layout.shape,
            "strides": tuple(stride * layout.itemsize for stride in layout.strides),
            "typestr": f"|V{layout.itemsize}",
            "version": 3,
        }
