"""How users call transpose."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from autotune.codegen.layout.transpose.problem import ELEMENT_BYTES, TransposeProblem
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout


def transpose(a: Any, *, out: Any = None, stream: Any = None) -> Any:
    """B = Aᵀ, out of place, for elements of 1, 2, 4, 8 or 16 bytes.

    Args:
        a: of shape (m, n), or (batch…, m, n), row-major with any leading dimension and any stride between matrices.
        out: B, row-major too, of the dtype of `a`, which may overlap neither `a` nor itself. By default a new array
            of the library of `a`.

    Returns:
        B, of shape (n, m), or (batch…, n, m).
    """


def _types(a: Layout) -> Mapping[str, ArrayType]:
    if a.itemsize not in ELEMENT_BYTES:
        raise TypeError(f"a has elements of {a.itemsize} bytes: transpose takes {', '.join(map(str, ELEMENT_BYTES))}")
    if len(a.shape) < 2:
        raise ValueError(f"a has shape {a.shape}: expected a matrix, or a batch of them")
    return {"out": ArrayType((*a.shape[:-2], a.shape[-1], a.shape[-2]), a.dtype)}


def _bind(a: Layout) -> Binding:
    *batch, m, n = a.shape
    return Binding(TransposeProblem(m, n, a.itemsize, prod(batch)), {"out": "b"})


CALL = Call(declaration=transpose, inputs=("a",), outputs=("out",), types=_types, bind=_bind)
