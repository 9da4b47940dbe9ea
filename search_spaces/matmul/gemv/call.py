"""How users call gemv."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, NamedTuple

from autotune.codegen.epilogue.activation import FUSED, Activation
from autotune.codegen.matmul.gemv.problem import DTYPES, MOST_VECTORS, GemvProblem, WeightOrder
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.contract.array_checks import check_dtype
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import MAKE_CONTIGUOUS, Layout, check_apart, matrices, rows

from .quantised import check_groups, check_groups_contiguous, weights_of


def gemv(
    input: Any,
    weight: Any,
    bias: Any = None,
    scales: Any = None,
    zeros: Any = None,
    *,
    activation: str = "identity",
    group_size: int = 0,
    out: Any = None,
    alpha: float = 1.0,
    beta: float = 0.0,
    stream: Any = None,
) -> Any:
    """activation(alpha·input·weightᵀ + bias) + beta·out, as ``torch.nn.functional.linear`` of 1 to 16 vectors.

    Sums are accumulated in FP32 and rounded once. Quantised weights are codes: a weight is its code, less a zero
    point, times a scale.

    Args:
        input: float32, bfloat16 or float16 of shape (…, k): 1 to 16 vectors, each contiguous, evenly spaced. With a
            batch of weights it has shape (batch…, vectors, k).
        weight: of the same dtype, and of shape (n, k), or (batch…, n, k): row-major, or column-major (a transposed
            view), with any leading dimension and any stride between matrices. Or quantised, and row-major:
            float8_e4m3fn or int8; or uint8 of shape (…, n, ⌈k/2⌉), with two codes of 4 bits in each, that of the
            lower k in the lower half.
        bias: of the dtype of `input` and of shape (n,), contiguous.
        scales: of quantised weights: float32, bfloat16 or float16 of shape (…, n, ⌈k/group_size⌉), or (…, n, 1) for a
            scale for each row, contiguous. Those of float8_e4m3fn in groups have shape (…, ⌈n/128⌉, ⌈k/128⌉).
        zeros: zero points of codes of 4 bits, 0 to 15, as uint8 of the shape of `scales`; by default they are 8.
        group_size: weights along k that share a scale: 32, 64 or 128 of int8 or uint8, 128 of float8_e4m3fn; 0 stands
            for whole rows, of int8 or float8_e4m3fn.
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


def _types(
    input: Layout,
    weight: Layout,
    bias: Layout | None,
    scales: Layout | None,
    zeros: Layout | None,
    activation: str,
    group_size: int,
) -> Mapping[str, ArrayType]:
    if activation not in FUSED:
        raise ValueError(f"activation={activation!r}: expected one of {', '.join(FUSED)}")
    check_dtype("gemv", "input", input, DTYPES)
    weights = weights_of(input, weight)
    columns = -(-input.shape[-1] // weights.packed) if input.shape else 0
    if len(weight.shape) < 2 or not input.shape or columns != weight.shape[-1]:
        expected = "(…, n, ⌈k/2⌉)" if weights.packed > 1 else "(…, n, k)"
        raise ValueError(f"input has shape {input.shape} and weight {weight.shape}: expected (…, k) and {expected}")
    check_groups(weights, input.shape[-1], weight, scales, zeros, group_size)
    *batch, n, _ = weight.shape
    if batch and (len(input.shape) < 2 or input.shape[:-2] != tuple(batch)):
        shape = f"({', '.join(map(str, batch))}, vectors, {input.shape[-1]})"
        raise ValueError(f"input has shape {input.shape} and weight {weight.shape}: expected input of shape {shape}")
    if bias is not None and (bias.dtype, bias.shape) != (input.dtype, (n,)):
        raise ValueError(f"bias has dtype {bias.dtype} and shape {bias.shape}: expected {input.dtype} of shape {(n,)}")
    return {"out": ArrayType((*input.shape[:-1], n), input.dtype)}


def _bind(
    input: Layout,
    weight: Layout,
    bias: Layout | None,
    scales: Layout | None,
    zeros: Layout | None,
    out: Layout,
    activation: str,
    group_size: int,
    beta_nonzero: bool,
) -> Binding:
    matrix = matrices("weight", weight)
    batched = matrix.batch is not None
    x, y = _vectors("input", input, batched), _vectors("out", out, batched)
    for name, groups in (("scales", scales), ("zeros", zeros)):
        if groups is not None:
            check_groups_contiguous(name, groups, shared=not matrix.stride)
    problem = GemvProblem(
        n=matrix.rows,
        k=input.shape[-1],
        m=x.vectors,
        order=WeightOrder.KN if matrix.transposed else WeightOrder.NK,
        dtype=DType(input.dtype),
        batch=x.batch,
        bias=bias is not None,
        activation=Activation(activation),
        beta_nonzero=beta_nonzero,
        weights=weights_of(input, weight),
        group_size=group_size,
        scale_dtype=DType(scales.dtype) if scales else DType.FLOAT32,
        zeros=zeros is not None,
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
    own = {name: name for name in ("bias", "scales", "zeros")}
    return Binding(problem, {"input": "x", "weight": "w", "out": "y"} | own)


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
            f"axis; {MAKE_CONTIGUOUS}"
        )
    if name == "out":
        check_apart(name, layout, matrix)
    return _Vectors(matrix.batch or 0, matrix.rows, matrix.leading, matrix.stride, matrix.alignment)


CALL = Call(
    declaration=gemv,
    inputs=("input", "weight", "bias", "scales", "zeros"),
    outputs=("out",),
    types=_types,
    bind=_bind,
    scalars=("alpha", "beta"),
    optional=("bias", "scales", "zeros"),
    accumulates="beta",
    reordered=("weight", "scales", "zeros"),
)
