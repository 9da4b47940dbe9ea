"""How sgemm is differentiated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...derivative import Backward, Derivative


def _backward(given: Backward) -> Mapping[str, Any]:
    """dA = alpha·dC·Bᵀ and dB = alpha·Aᵀ·dC, summed over the batch for a matrix that all of it shares."""
    a, b, multiply = given.saved["a"], given.saved["b"], given.operators.sgemm
    alpha, gradient = given.arguments["alpha"], _readable(given.gradients["out"])
    found = {}
    if "a" in given.wanted:
        found["a"] = multiply(gradient, b.mT, alpha=alpha).sum_to_size(a.shape)
    if "b" in given.wanted:
        if b.ndim == 2:  # one product over all rows of the batch, instead of a sum of products
            a, gradient = a.expand(*gradient.shape[:-1], a.shape[-1]), gradient.reshape(-1, gradient.shape[-1])
            a = a.reshape(-1, a.shape[-1])
        found["b"] = multiply(a.mT, gradient, alpha=alpha).sum_to_size(b.shape)
    return found


def _readable(gradient: Any) -> Any:
    """Gradients come in any strides, such as those of an expanded scalar: those that no kernel reads are copied."""
    rows, columns = gradient.stride()[-2:]
    row_major = columns == 1 and rows >= gradient.shape[-1]
    column_major = rows == 1 and columns >= gradient.shape[-2]
    return gradient if row_major or column_major else gradient.contiguous()


DERIVATIVE = Derivative(_backward, saves=("a", "b"))
