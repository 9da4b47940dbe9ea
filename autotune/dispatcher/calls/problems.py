"""From the layouts of arrays to a problem; what is wrong with them is said here."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from ...codegen.layout.transpose.problem import ELEMENT_BYTES, TransposeProblem
from ...codegen.matmul.sgemm.problem import SgemmProblem
from ..arrays.layout import LAYOUTS_KEPT, Layout, Shape, View, overlap
from ..arrays.matrices import Matrices, joint_batch, matrices


class SgemmCall(NamedTuple):
    """The problem of a call; `swapped` if it computes Cᵀ = Bᵀ·Aᵀ, because C is column-major."""

    problem: SgemmProblem
    swapped: bool


@lru_cache(LAYOUTS_KEPT)
def product_shape(a: Layout, b: Layout) -> Shape:
    """The shape of A·B.

    Raises:
        ValueError: there is no such product.
    """
    first, second = matrices("a", a), matrices("b", b)
    if first.columns != second.rows:
        raise ValueError(f"a has shape {a.shape} and b {b.shape}: expected (…, m, k) and (…, k, n)")
    return (*joint_batch(a.shape, b.shape), first.rows, second.columns)


def sgemm_call(a: View, b: View, c: View, beta_nonzero: bool) -> SgemmCall:
    """The problem of C = A·B, or of C = A·B + C.

    Raises:
        TypeError, ValueError: one line that says what is wrong.
    """
    for name, view in (("a", a), ("b", b), ("out", c)):
        if view.dtype != "float32":
            raise TypeError(f"{name} has dtype {view.dtype}: sgemm takes float32")
    _check_shape(c.layout, product_shape(a.layout, b.layout))
    first, second, product = (_aligned(name, view) for name, view in (("a", a), ("b", b), ("out", c)))
    _check_batch("out", c.layout, product)
    swapped = product.transposed
    if swapped:
        first, second, product = second.mT, first.mT, product.mT
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
    return SgemmCall(problem, swapped)


@lru_cache(LAYOUTS_KEPT)
def transposed_shape(a: Layout) -> Shape:
    """The shape of Aᵀ; ``ValueError`` if there is none."""
    matrices("a", a)
    return (*a.shape[:-2], a.shape[-1], a.shape[-2])


def transpose_problem(a: View, b: View) -> TransposeProblem:
    """The problem of B = Aᵀ.

    Raises:
        TypeError, ValueError: one line that says what is wrong.
    """
    if a.itemsize not in ELEMENT_BYTES:
        raise TypeError(f"a has elements of {a.itemsize} bytes: transpose takes {', '.join(map(str, ELEMENT_BYTES))}")
    if b.dtype != a.dtype:
        raise TypeError(f"out has dtype {b.dtype}: expected {a.dtype}, as a has")
    _check_shape(b.layout, transposed_shape(a.layout))
    source, result = _aligned("a", a), _aligned("out", b)
    for name, view, seen in (("a", a, source), ("out", b, result)):
        if seen.transposed:
            raise ValueError(f"{name} has strides {view.layout.strides}: transpose takes row-major matrices")
        _check_batch(name, view.layout, seen)
    return TransposeProblem(
        m=source.rows,
        n=source.columns,
        element_bytes=a.itemsize,
        batch=1 if source.batch is None else source.batch,
        lda=source.leading,
        ldb=result.leading,
        stride_a=source.stride,
        stride_b=result.stride,
        align_a=source.alignment,
        align_b=result.alignment,
    )


def check_output(out: View, **inputs: View) -> None:
    """``ValueError`` unless a kernel may write `out` while it reads the inputs."""
    if out.readonly:
        raise ValueError("out is read-only")
    for name, view in inputs.items():
        if view.device != out.device:
            raise ValueError(f"{name} is on {view.place} and out on {out.place}: expected one device")
        if overlap(out, view):
            raise ValueError(f"out overlaps {name}: pass memory of its own")


def _aligned(name: str, view: View) -> Matrices:
    alignment = view.layout.alignment
    if alignment < view.itemsize:
        raise ValueError(f"{name} is aligned to {alignment} B: expected at least {view.itemsize} B; pass a copy")
    return matrices(name, view.layout)


def _check_shape(out: Layout, expected: Shape) -> None:
    if out.shape != expected:
        raise ValueError(f"out has shape {out.shape}: expected {expected}")


def _check_batch(name: str, layout: Layout, seen: Matrices) -> None:
    """Matrices must be apart where kernels write them, or do not know of broadcasting."""
    if seen.batch is not None and seen.batch > 1 and seen.stride == 0 and 0 not in layout.shape:
        raise ValueError(f"{name} has shape {layout.shape} and strides {layout.strides}: its matrices are all one")
