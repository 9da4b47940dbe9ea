"""What the derivatives of matrix products have in common."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any


def operand_gradients(
    multiply: Callable[..., Any], a: Any, b: Any, gradient: Any, alpha: float, wanted: Collection[str]
) -> dict[str, Any]:
    """Of ``a`` and ``b`` as far as they are wanted, from that of alpha·A·B: alpha·G·Bᵀ and alpha·Aᵀ·G.

    They are summed over the batch for a matrix that all of it shares.
    """
    gradient, found = readable(gradient), {}
    if "a" in wanted:
        found["a"] = multiply(gradient, b.mT, alpha=alpha).sum_to_size(a.shape)
    if "b" in wanted:
        if b.ndim == 2:  # one product over all rows of the batch, instead of a sum of products
            a, gradient = a.expand(*gradient.shape[:-1], a.shape[-1]), gradient.reshape(-1, gradient.shape[-1])
            a = a.reshape(-1, a.shape[-1])
        found["b"] = multiply(a.mT, gradient, alpha=alpha).sum_to_size(b.shape)
    return found


def readable(gradient: Any) -> Any:
    """Gradients come in any strides, such as those of an expanded scalar: those that no kernel reads are copied."""
    rows, columns = gradient.stride()[-2:]
    row_major = columns == 1 and rows >= gradient.shape[-1]
    column_major = rows == 1 and columns >= gradient.shape[-2]
    return gradient if row_major or column_major else gradient.contiguous()
