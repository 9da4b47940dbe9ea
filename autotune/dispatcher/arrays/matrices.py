"""Batches of matrices: what a shape and strides mean in rows, columns and a leading dimension."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import numpy as np

from .layout import Layout, Shape


class Matrices(NamedTuple):
    """A batch of matrices, each stored row by row, or column by column if `transposed`.

    Attributes:
        rows, columns: of each matrix as the caller sees it.
        transposed: whether neighbours in memory are neighbours in a column.
        leading: elements from one stored row (or column) to the next; 0 where there is no next one.
        batch: how many, along all axes before the rows; None for a plain matrix, which goes with any batch.
        stride: elements from one matrix to the next; 0 if all are the same one.
        alignment: bytes that the first one's address is a multiple of.
    """

    rows: int
    columns: int
    transposed: bool
    leading: int
    batch: int | None
    stride: int
    alignment: int

    @property
    def mT(self) -> Matrices:  # noqa: N802 - as NumPy and PyTorch call it
        """The same memory with rows for columns."""
        return self._replace(rows=self.columns, columns=self.rows, transposed=not self.transposed)


def matrices(name: str, layout: Layout) -> Matrices:
    """Recognise one matrix (2 axes) or a batch of them (more axes) of a layout that kernels can address.

    Raises:
        ValueError: fewer axes, matrices that are neither row-major nor column-major or not evenly spaced, or a negative
            stride.
    """
    shape, strides, alignment = layout
    if len(shape) < 2:
        raise ValueError(f"{name} has shape {shape}: expected a matrix, or a batch of them")
    rows, columns = shape[-2:]
    batch = prod(shape[:-2]) if len(shape) > 2 else None
    if 0 in shape:
        return Matrices(rows, columns, False, 0, batch, 0, alignment)
    stride = _stride(name, layout)
    for transposed, inner, outer in ((False, -1, -2), (True, -2, -1)):
        leading = strides[outer] if shape[outer] > 1 else 0
        adjacent = shape[inner] == 1 or strides[inner] == 1
        apart = shape[outer] == 1 or leading >= shape[inner]
        if adjacent and apart and stride >= 0:
            return Matrices(rows, columns, transposed, leading, batch, stride, alignment)
    raise ValueError(
        f"{name} has shape {shape} and strides {strides}: matrices that are neither row-major nor column-major; "
        "call contiguous() first (NumPy, CuPy: ascontiguousarray)"
    )


def _stride(name: str, layout: Layout) -> int:
    """Elements from one matrix to the next, whichever axes count them; 0 if there is only one.

    Raises:
        ValueError: they are not evenly spaced.
    """
    count, stride = 1, 0
    for size, step in zip(layout.shape[-3::-1], layout.strides[-3::-1], strict=True):
        if size == 1:
            continue
        if count > 1 and step != count * stride:
            raise ValueError(
                f"{name} has shape {layout.shape} and strides {layout.strides}: matrices that are not evenly spaced; "
                "call contiguous() first (NumPy, CuPy: ascontiguousarray)"
            )
        stride = stride if count > 1 else step
        count *= size
    return stride


def joint_batch(a: Shape, b: Shape) -> Shape:
    """The axes of a product before its rows, by the rules of broadcasting.

    Raises:
        ValueError: two batches that differ, neither of them of one matrix.
    """
    first, second = a[:-2], b[:-2]
    same = len(first) == len(second) and first == second
    if not same and prod(first) != 1 and prod(second) != 1:
        raise ValueError(f"a has shape {a} and b {b}: expected the same batch, or a batch of 1")
    return np.broadcast_shapes(first, second)
