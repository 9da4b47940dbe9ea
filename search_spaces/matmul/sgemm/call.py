"""How users call sgemm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout, check_apart, joint_batch, matrices


def sgemm(a: Any, b: Any, *, out: Any = None, alpha: float = 1.0, beta: float = 0.0, stream: Any = None) -> Any:
    """C = alpha·A·B + beta·C in true FP32.

    Args:
        a: float32 of shape (m, k), or (batch…, m, k): row-major, column-major (a transposed view), any leading
            dimension, any stride between matrices.
        b: float32 of shape (k, n), or (batch…, k, n). A plain matrix, or a batch of 1, goes with any batch.
        out: C, which may not overlap `a`, `b` or itself. By default a new array of the library of `a`.
        alpha: the factor of A·B; with 0 neither A nor B is read.
        beta: the factor of C; with 0 C is not read, otherwise `out` is needed.

    Returns:
        C, of shape (m, n), or (batch…, m, n).
    """


def _types(a: Layout, b: Layout) -> Mapping[str, ArrayType]:
    for name, layout in (("a", a), ("b", b)):
        if layout.dtype != "float32":
            raise TypeError(f"{name} has dtype {layout.dtype}: sgemm takes float32")
        if len(layout.shape) < 2:
            raise ValueError(f"{name} has shape {layout.shape}: expected a matrix, or a batch of them")
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(f"a has shape {a.shape} and b {b.shape}: expected (…, m, k) and (…, k, n)")
    return {"out": ArrayType((*joint_batch(a.shape, b.shape), a.shape[-2], b.shape[-1]), "float32")}


def _bind(a: Layout, b: Layout, out: Layout, beta_nonzero: bool) -> Binding:
    """A column-major C is computed as Cᵀ = Bᵀ·Aᵀ: then the kernel's first operand is `b`."""
    first, second, product = matrices("a", a), matrices("b", b), matrices("out", out)
    check_apart("out", out, product)
    pointers = {"out": "c"}
    if product.transposed:
        first, second, product = second.mT, first.mT, product.mT
        pointers = {"a": "b", "b": "a", "out": "c"}
    problem = SgemmProblem(
        m=product.rows,
        n=product.columns,
        k=first.columns,
        transpose_a=first.transposed,
        transpose_b=second.transposed,
        lda=first.leading,
        ldb=second.leading,
        ldc=product.leading,
        batch=1 if product.batch is None else product.batch,
        stride_a=first.stride,
        stride_b=second.stride,
        stride_c=product.stride,
        beta_nonzero=beta_nonzero,
        align_a=first.alignment,
        align_b=second.alignment,
        align_c=product.alignment,
    )
    return Binding(problem, pointers)


CALL = Call(
    declaration=sgemm,
    inputs=("a", "b"),
    outputs=("out",),
    types=_types,
    bind=_bind,
    scalars=("alpha", "beta"),
    accumulates="beta",
    reordered=("a", "b", "out"),
)
