"""How users call gemv."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, NamedTuple

from ....codegen.dtype import DType
from ....codegen.matmul.gemv.activation import Activation
from ....codegen.matmul.gemv.problem import DTYPES, MOST_VECTORS, GemvProblem, WeightOrder
from ...call import ArrayType, Binding, Call
from ...layouts import Layout, check_apart, matrices, rows


def gemv(
    input: Any,
    weight: Any,
    bias: Any = None,
    *,
    activation: str = "identity",
    out: Any = None,
    alpha: float = 1.0,
    beta: float = 0.0,
    stream: Any = None,
) -> Any:
    """activation(alpha·input·weightᵀ + bias) + beta·out, as ``torch.nn.functional.linear`` of 1 to 16 vectors.

    Sums are accumulated in FP32 and rounded once.

    Args:
        input: float32, bfloat16 or float16 of shape (…, k): 1 to 16 vectors, each contiguous, evenly spaced. With a
            batch of weights it has shape (batch…, vectors, k).
        weight: of the same dtype, and of shape (n, k), or (batch…, n, k): row-major, or column-major (a transposed
            view), with any leading dimension and any stride between matrices.
        bias: of the same dtype and of shape (n,), contiguous.
        activation: ``identity``, ``relu``, ``gelu``, ``gelu_tanh`` or ``silu``.
        out: the outputs, which may not overlap `input`, `weight` or `bias`. By default a new array of the library of
            `input`.
        alpha: the factor of the product; with 0 neither `input` nor `weight` counts.
        beta: the factor of what `out` holds before, such as a residual; with 0 that is not read, otherwise `out` is
            needed.

    Returns:
        The outputs, of the shape of `input` with n in place of k.
    """


class _Vectors(NamedTuple):
    """So many vectors in each of `batch` groups, by the elements from one to the next."""

    batch: int
    vectors: int
    leading: int
    stride: int
    alignment: int


def _types(input: Layout, weight: Layout, bias: Layout | None, activation: str) -> Mapping[str, ArrayType]:
    if activation not in list(Activation):
        raise ValueError(f"activation={activation!r}: expected one of {', '.join(Activation)}")
    if input.dtype not in DTYPES:
        raise TypeError(f"input has dtype {input.dtype}: gemv takes {', '.join(DTYPES)}")
    if weight.dtype != input.dtype:
        raise TypeError(f"weight has dtype {weight.dtype}: expected that of input, {input.dtype}")
    if len(weight.shape) < 2 or not input.shape or input.shape[-1] != weight.shape[-1]:
        raise ValueError(f"input has shape {input.shape} and weight {weight.shape}: expected (…, k) and (…, n, k)")
    *batch, n, _ = weight.shape
    if batch and (len(input.shape) < 2 or input.shape[:-2] != tuple(batch)):
        shape = f"({', '.join(map(str, batch))}, vectors, {input.shape[-1]})"
        raise ValueError(f"input has shape {input.shape} and weight {weight.shape}: expected input of shape {shape}")
    if bias is not None and (bias.dtype, bias.shape) != (input.dtype, (n,)):
        raise ValueError(f"bias has dtype {bias.dtype} and shape {bias.shape}: expected {input.dtype} of shape {(n,)}")
    return {"out": ArrayType((*input.shape[:-1], n), input.dtype)}


def _bind(input: Layout, weight: Layout, bias: Layout | None, out: Layout, activation: str, reads_out: bool) -> Binding:
    matrix = matrices("weight", weight)
    batched = matrix.batch is not None
    x, y = _vectors("input", input, batched), _vectors("out", out, batched)
    if bias is not None and bias.shape[0] > 1 and bias.strides != (1,):
        raise ValueError(f"bias has strides {bias.strides}: expected a contiguous vector")
    problem = GemvProblem(
        n=matrix.rows,
        k=matrix.columns,
        m=x.vectors,
        order=WeightOrder.KN if matrix.transposed else WeightOrder.NK,
        dtype=DType(input.dtype),
        batch=x.batch,
        bias=bias is not None,
        activation=Activation(activation),
        beta_nonzero=reads_out,
        ldx=x.leading,
        stride_x=x.stride,
        align_x=x.alignment,
        ldw=matrix.leading,
        stride_w=matrix.stride,
        align_w=matrix.alignment,
        ldy=y.leading,
        stride_y=y.stride,
        align_y=y.alignment,
    )
    return Binding(problem, {"input": "x", "weight": "w", "bias": "bias", "out": "y"})


def _vectors(name: str, layout: Layout, batched: bool) -> _Vectors:
    """The vectors of an array.

    Raises:
        ValueError: they are too many, or not contiguous, or not evenly spaced.
    """
    count = layout.shape[-2] if batched else prod(layout.shape[:-1])
    if count > MOST_VECTORS:
        raise ValueError(f"{name} has shape {layout.shape}, {count} vectors: gemv takes {MOST_VECTORS} at most")
    if not batched:
        found = rows(name, layout)
        return _Vectors(1, found.rows, found.leading, 0, found.alignment)
    matrix = matrices(name, layout)
    if matrix.transposed:
        raise ValueError(
            f"{name} has shape {layout.shape} and strides {layout.strides}: expected contiguous vectors along the last "
            "axis; call contiguous() first (NumPy, CuPy: ascontiguousarray)"
        )
    if name == "out":
        check_apart(name, layout, matrix)
    return _Vectors(matrix.batch or 0, matrix.rows, matrix.leading, matrix.stride, matrix.alignment)


CALL = Call(
    declaration=gemv,
    inputs=("input", "weight", "bias"),
    outputs=("out",),
    types=_types,
    bind=_bind,
    scalars=("alpha", "beta"),
    optional=("bias",),
    accumulates="beta",
)
