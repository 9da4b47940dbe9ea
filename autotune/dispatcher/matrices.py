"""Batches of matrices: what a shape and strides mean in rows, columns and a leading dimension."""

from __future__ import annotations

from typing import NamedTuple

from .layout import Layout, Shape


class Matrices(NamedTuple):
    """A batch of matrices, each stored row by row, or column by column if `transposed`.

    Attributes:
        rows, columns: of each matrix as the caller sees it.
        transposed: whether neighbours in memory are neighbours in a column.
        leading: elements from one stored row (or column) to the next; 0 where there is no next one.
        batch: how many; None for a plain matrix, which goes with any batch.
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
    """Recognise one matrix (2 axes) or a batch of them (3 axes) of a layout that kernels can address.

    Raises:
        ValueError: another number of axes, matrices that are neither row-major nor column-major, or a negative stride.
    """
    shape, strides, alignment = layout
    if len(shape) not in (2, 3):
        raise ValueError(f"{name} has shape {shape}: expected a matrix, or one axis of batches and a matrix")
    rows, columns = shape[-2:]
    batch = shape[0] if len(shape) == 3 else None
    stride = strides[0] if batch is not None and batch > 1 else 0
    if 0 in shape:
        return Matrices(rows, columns, False, 0, batch, 0, alignment)
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


def joint_batch(a: Matrices, b: Matrices, shapes: tuple[Shape, Shape]) -> int | None:
    """The batch of a product, by the rules of broadcasting; None if both are plain matrices.

    Raises:
        ValueError: two batches that differ, neither of them 1.
    """
    batches = {batch for batch in (a.batch, b.batch) if batch is not None}
    if len(batches) == 2 and 1 not in batches:
        raise ValueError(f"a has shape {shapes[0]} and b {shapes[1]}: expected the same batch, or a batch of 1")
    return next(iter(batches - {1}), 1) if batches else None
