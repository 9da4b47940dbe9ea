"""How an array lies in memory, and what its shape and strides mean in rows, columns and a leading dimension."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from autotune.codegen.model.lists import element
from autotune.codegen.model.tensor import row_major

Shape = tuple[int, ...]
MAKE_CONTIGUOUS = "call contiguous() first (NumPy, CuPy: ascontiguousarray)"


class Layout(NamedTuple):
    """What of an array decides which kernel may serve it; all but its address.

    Attributes:
        shape: elements along each axis.
        strides: elements from one index to the next along each axis.
        dtype: the name that its library gives it, such as ``float32``.
        itemsize: bytes of an element.
        alignment: bytes, a power of two of at most 16, that the first element's address is a multiple of.
    """

    shape: Shape
    strides: Shape
    dtype: str
    itemsize: int
    alignment: int

    @property
    def extent(self) -> int:
        """Bytes from the first element to the last, gaps included; strides may not be negative."""
        if 0 in self.shape:
            return 0
        last = sum((size - 1) * stride for size, stride in zip(self.shape, self.strides, strict=True))
        return self.itemsize * (1 + last)

    @property
    def contiguous(self) -> bool:
        """Whether there are no gaps and the last axis varies fastest; strides of axes of one element do not count."""
        axes = zip(self.shape, self.strides, row_major(self.shape), strict=True)
        return 0 in self.shape or all(extent == 1 or stride == usual for extent, stride, usual in axes)


Layouts = Sequence[Layout]  # of a list's elements


def elements(**lists: Layouts) -> dict[str, Layout]:
    """The layouts of lists' elements by the names of these, such as ``x[0]``."""
    return {element(name, number): one for name, layouts in lists.items() for number, one in enumerate(layouts)}


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


class Rows(NamedTuple):
    """Rows of contiguous elements, evenly spaced: an array seen along its last axis.

    Attributes:
        rows: how many, along all axes before the last.
        columns: elements of a row.
        leading: elements from a row to the next; 0 where there is no next one.
        alignment: bytes that the first element's address is a multiple of.
    """

    rows: int
    columns: int
    leading: int
    alignment: int

    def fields(self, operand: str) -> dict[str, Any]:
        """The fields of a `MatrixProblem` that say where an operand is."""
        return {f"ld{operand}": self.leading, f"align_{operand}": self.alignment}


def viewed(layout: Layout, shape: Shape) -> Shape | None:
    """The strides of an array's elements in a shape of which each axis is one or several of the array's, side by side.

    Strides of axes of one element are 0. None if there is no such view.
    """
    if 0 in layout.shape or 0 in shape:
        return tuple(0 for _ in shape) if prod(layout.shape) == prod(shape) else None
    left = [(n, step) for n, step in zip(layout.shape, layout.strides, strict=True) if n > 1]
    strides: list[int] = []
    for extent in reversed(shape):
        count, stride = 1, 0
        while count < extent and left:
            n, step = left.pop()
            if count > 1 and step != count * stride:
                return None
            count, stride = count * n, stride if count > 1 else step
        if count != extent:
            return None
        strides.append(stride)
    return None if left else tuple(reversed(strides))


def rows(name: str, layout: Layout) -> Rows:
    """Recognise an array of one axis or more whose elements along the last axis are a row that kernels can address.

    Raises:
        ValueError: no axis, rows whose elements are not contiguous or that overlap, or rows that are not evenly spaced.
    """
    shape, strides = layout.shape, layout.strides
    if not shape:
        raise ValueError(f"{name} has shape (): expected rows along a last axis")
    count, columns = prod(shape[:-1]), shape[-1]
    if 0 in shape:
        return Rows(count, columns, 0, layout.alignment)
    leading = _stride(name, layout, 1, "rows") if count > 1 else 0
    if (columns > 1 and strides[-1] != 1) or (count > 1 and leading < columns):
        raise ValueError(
            f"{name} has shape {shape} and strides {strides}: expected contiguous rows that do not overlap; "
            f"{MAKE_CONTIGUOUS}"
        )
    return Rows(count, columns, leading, layout.alignment)


def joined_rows(name: str, layout: Layout, axes: int) -> Rows:
    """The rows of an array whose last axes are one row together.

    Raises:
        ValueError: its rows are not contiguous, or not evenly spaced.
    """
    kept = len(layout.shape) - axes
    inner = layout._replace(shape=layout.shape[kept:], strides=layout.strides[kept:])
    if 0 not in layout.shape and not inner.contiguous:
        raise ValueError(
            f"{name} has shape {layout.shape} and strides {layout.strides}: expected contiguous rows of {inner.shape}; "
            f"{MAKE_CONTIGUOUS}"
        )
    joined = layout._replace(shape=(*layout.shape[:kept], prod(inner.shape)), strides=(*layout.strides[:kept], 1))
    return rows(name, joined)


def matrices(name: str, layout: Layout) -> Matrices:
    """Recognise one matrix (2 axes) or a batch of them (more axes) of a layout that kernels can address.

    Raises:
        ValueError: fewer axes, matrices that are neither row-major nor column-major or not evenly spaced, or a negative
            stride.
    """
    shape, strides, alignment = layout.shape, layout.strides, layout.alignment
    if len(shape) < 2:
        raise ValueError(f"{name} has shape {shape}: expected a matrix, or a batch of them")
    rows, columns = shape[-2:]
    batch = prod(shape[:-2]) if len(shape) > 2 else None
    if 0 in shape:
        return Matrices(rows, columns, False, 0, batch, 0, alignment)
    stride = _stride(name, layout, 2, "matrices")
    for transposed, inner, outer in ((False, -1, -2), (True, -2, -1)):
        leading = strides[outer] if shape[outer] > 1 else 0
        adjacent = shape[inner] == 1 or strides[inner] == 1
        apart = shape[outer] == 1 or leading >= shape[inner]
        if adjacent and apart and stride >= 0:
            return Matrices(rows, columns, transposed, leading, batch, stride, alignment)
    raise ValueError(
        f"{name} has shape {shape} and strides {strides}: matrices that are neither row-major nor column-major; "
        f"{MAKE_CONTIGUOUS}"
    )


def _stride(name: str, layout: Layout, inner: int, items: str) -> int:
    """Elements from one item of `inner` axes to the next, whichever axes count them; 0 if there is only one.

    Raises:
        ValueError: they are not evenly spaced.
    """
    count, stride = 1, 0
    for size, step in zip(layout.shape[-inner - 1 :: -1], layout.strides[-inner - 1 :: -1], strict=True):
        if size == 1:
            continue
        if count > 1 and step != count * stride:
            raise ValueError(
                f"{name} has shape {layout.shape} and strides {layout.strides}: {items} that are not evenly spaced; "
                f"{MAKE_CONTIGUOUS}"
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
    if first == second:
        return first
    if prod(first) != 1 and prod(second) != 1:
        raise ValueError(f"a has shape {a} and b {b}: expected the same batch, or a batch of 1")
    axes = max(len(first), len(second))
    first, second = ((1,) * (axes - len(batch)) + batch for batch in (first, second))
    return tuple(y if x == 1 else x for x, y in zip(first, second, strict=True))


def check_apart(name: str, layout: Layout, seen: Matrices) -> None:
    """``ValueError`` if all matrices of a batch are one: where a kernel writes them, or knows no broadcasting."""
    if seen.batch is not None and seen.batch > 1 and seen.stride == 0 and 0 not in layout.shape:
        raise ValueError(f"{name} has shape {layout.shape} and strides {layout.strides}: its matrices are all one")
