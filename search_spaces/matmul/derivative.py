"""What the derivatives of matrix products have in common."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any


def operand_gradients(
    multiply: Callable[..., Any], a: Any, b: Any, gradient: Any, alpha: float, wanted: Collection[str]
) -> dict[str, Any]:
    """Of ``a`` and ``b`` as far as they are wanted, from that of alpha·A·B: alpha·G·Bᵀ and alpha·Aᵀ·G.

    They are summed over the batch for a matrix that all of it shares. Each lies as its operand does: PyTorch copies the
    gradient of a parameter, such as the weights of a linear layer, which are B transposed, unless it does.
    """
    gradient, found = readable(gradient), {}
    if "a" in wanted:
        transposed = _column_major(a)
        found["a"] = multiply(b, gradient.mT, alpha=alpha).mT if transposed else multiply(gradient, b.mT, alpha=alpha)
    if "b" in wanted:
        rows, of_rows = a, gradient
        if b.ndim == 2 and gradient.ndim > 2:  # one product over all rows of the batch, instead of a sum of products
            rows = a.expand(*gradient.shape[:-1], a.shape[-1]).reshape(-1, a.shape[-1])
            of_rows = gradient.reshape(-1, gradient.shape[-1])
        transposed = _column_major(b)
        pair = (of_rows.mT, rows) if transposed else (rows.mT, of_rows)
        of_b = multiply(*pair, alpha=alpha)
        found["b"] = of_b.mT if transposed else of_b
    shapes = {"a": a.shape, "b": b.shape}
    return {name: one if one.shape == shapes[name] else one.sum_to_size(shapes[name]) for name, one in found.items()}


def _column_major(matrix: Any) -> bool:
    rows, columns = matrix.stride()[-2:]
    return bool(rows == 1 and columns != 1)


def readable(gradient: Any) -> Any:
    """Gradients come in any strides, such as those of an expanded scalar: those that no kernel reads are copied."""
    rows, columns = gradient.stride()[-2:]
    row_major = columns == 1 and rows >= gradient.shape[-1]
    column_major = rows == 1 and columns >= gradient.shape[-2]
    return gradient if row_major or column_major else gradient.contiguous()
