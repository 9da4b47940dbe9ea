"""How users call gemm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.epilogue.activation import FUSED, Activation
from autotune.codegen.epilogue.epilogue import Bias
from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.epilogue.out_dtype import OutDType
from autotune.codegen.matmul.gemm.numbers import DTYPES, FLOAT8
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.tensor import row_major
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout, check_apart, joint_batch, matrices

from .scales import check_scales, scales_of

_RESULTS = tuple(OutDType)[1:]
_USUAL_RESULTS: Mapping[str, str] = {**dict.fromkeys(FLOAT8, DType.BFLOAT16), DType.INT8: DType.INT32}


def gemm(
    a: Any,
    b: Any,
    bias: Any = None,
    residual: Any = None,
    scale_a: Any = None,
    scale_b: Any = None,
    *,
    activation: str = "identity",
    packed: str | None = None,
    dtype: DType | None = None,
    allow_tf32: bool = False,
    fast_accumulation: bool = False,
    bucket_rows: bool = False,
    preactivation: Any = None,
    out: Any = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    stream: Any = None,
) -> Any:
    """activation(alpha·A·B + bias) + beta·residual by tensor cores, accumulated in FP32 and rounded once.

    Of gated pairs, it is activation(gates)·factors + beta·residual, with half as many columns.

    Args:
        a: bfloat16, float16, float8_e4m3fn, float8_e5m2, int8 or, with `allow_tf32`, float32, of shape (m, k), or
            (batch…, m, k): row-major, column-major (a transposed view), any leading dimension, any stride between
            matrices.
        b: of the same dtype, or of the other float8, and of shape (k, n), or (batch…, k, n). A plain matrix, or a batch
            of 1, goes with any batch.
        bias: of the dtype of the result (float32 with results of 8 bits), contiguous: of shape (n,), added to each row;
            or of shape (m, 1), added to each column.
        residual: of the shape, the dtype and the strides of the result. It may be `out`.
        scale_a: with `scale_b`, float32 factors of the 8-bit elements of `a`: one, or one for each row, of shape (m,)
            or (m, 1), or one for each 128 elements of a row of float8, contiguous, of shape (m, ⌈k/128⌉).
        scale_b: as many of `b`: one, or one for each column, of shape (n,) or (1, n), or one for each block of 128×128,
            of shape (⌈k/128⌉, ⌈n/128⌉), whose transposed view is contiguous.
        activation: ``identity``, ``relu``, ``gelu``, ``gelu_tanh`` or ``silu``.
        packed: where the columns of alpha·A·B + bias hold gates and factors: ``halves`` for the factors behind the
            gates, ``interleaved`` for each one behind its gate.
        dtype: of the result: float32, bfloat16, float16, float8_e4m3fn, float8_e5m2, int8 or, of int8 without an
            epilogue, int32. By default that of `a`, of float8 bfloat16, of int8 int32. Results of 8 bits are the
            nearest number of their type, also for what is beyond its largest.
        allow_tf32: whether elements of float32 may keep 10 bits of their fraction (TF32); `sgemm` multiplies in FP32.
        fast_accumulation: whether sums of float8 may be those of tensor cores, which keep about 14 bits; otherwise,
            those of 128 terms are added up in FP32.
        bucket_rows: choose the kernel as for 16, 64 or the next power of two rows, so that few kernels serve a weight,
            however many rows `a` has. `a` is one row-major matrix.
        preactivation: is written, if it is given: alpha·A·B + bias, of shape (…, m, n) and the dtype of the result,
            contiguous, or each matrix of it transposed where `out` is. Of a plain result with
            ``activation="identity"``, which has none, it is of shape (0,).
        out: the result, which overlaps nothing but `residual`. By default a new array of the library of `a`.
        alpha: the factor of A·B; with 0 neither A nor B counts.
        beta: the factor of `residual`; with 0 that is not read.

    Returns:
        The result, of shape (m, n), or (batch…, m, n); of gated pairs (…, m, n/2).
    """


def _types(
    a: Layout,
    b: Layout,
    bias: Layout | None,
    residual: Layout | None,
    scale_a: Layout | None,
    scale_b: Layout | None,
    activation: str,
    packed: str | None,
    dtype: str | None,
    allow_tf32: bool,
    fast_accumulation: bool,
    bucket_rows: bool,
) -> Mapping[str, ArrayType]:
    if activation not in FUSED:
        raise ValueError(f"activation={activation!r}: expected one of {', '.join(FUSED)}")
    if a.dtype not in DTYPES or (a.dtype != b.dtype and not {a.dtype, b.dtype} <= {*FLOAT8}):
        raise TypeError(
            f"a has dtype {a.dtype} and b {b.dtype}: gemm takes two of the same of {', '.join(DTYPES)}, or of float8"
        )
    if a.dtype == DType.FLOAT32 and not allow_tf32:
        raise TypeError("a has dtype float32: expected allow_tf32=True, or a call of sgemm, which multiplies in FP32")
    if fast_accumulation and a.dtype not in FLOAT8:
        raise ValueError(f"fast_accumulation=True: expected a of {' or '.join(FLOAT8)}, not {a.dtype}")
    for name, layout in (("a", a), ("b", b)):
        if len(layout.shape) < 2:
            raise ValueError(f"{name} has shape {layout.shape}: expected a matrix, or a batch of them")
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(f"a has shape {a.shape} and b {b.shape}: expected (…, m, k) and (…, k, n)")
    result = _USUAL_RESULTS.get(a.dtype, a.dtype) if dtype is None else str(dtype)
    if result not in _RESULTS:
        raise TypeError(f"dtype={result}: expected one of {', '.join(_RESULTS)}")
    m, n = a.shape[-2], b.shape[-1]
    if packed not in (None, Gate.HALVES, Gate.INTERLEAVED):
        raise ValueError(f"packed={packed!r}: expected {Gate.HALVES} or {Gate.INTERLEAVED}")
    if packed and n % 2:
        raise ValueError(f"b has shape {b.shape}: expected an even number of columns for packed={packed!r}")
    batch = joint_batch(a.shape, b.shape)
    shape = (*batch, m, n // 2 if packed else n)
    bias_dtype = result if DType(result).bits > 8 else DType.FLOAT32
    if bias is not None and (bias.dtype != bias_dtype or bias.shape not in ((n,), (m, 1))):
        raise ValueError(
            f"bias has dtype {bias.dtype} and shape {bias.shape}: expected {bias_dtype} of shape {(n,)} or {(m, 1)}"
        )
    scales_of(a, b, scale_a, scale_b)
    if residual is not None and (residual.dtype, residual.shape) != (result, shape):
        raise ValueError(
            f"residual has dtype {residual.dtype} and shape {residual.shape}: expected {result} of shape {shape}"
        )
    kept = (*batch, m, n) if _has_preactivation(activation, packed) else (0,)
    return {"out": ArrayType(shape, result), "preactivation": ArrayType(kept, result)}


def _has_preactivation(activation: str, packed: str | None) -> bool:
    return packed is not None or activation != Activation.IDENTITY


def _bind(
    a: Layout,
    b: Layout,
    bias: Layout | None,
    residual: Layout | None,
    scale_a: Layout | None,
    scale_b: Layout | None,
    out: Layout,
    preactivation: Layout | None,
    activation: str,
    packed: str | None,
    dtype: str | None,
    allow_tf32: bool,
    fast_accumulation: bool,
    bucket_rows: bool,
) -> Binding:
    """A column-major D is computed as Dᵀ = Bᵀ·Aᵀ: then the kernel's first operand is `b`, and a row a column."""
    first, second, product = matrices("a", a), matrices("b", b), matrices("out", out)
    check_apart("out", out, product)
    added, swapped = _bias(bias), product.transposed
    scales = scales_of(a, b, scale_a, scale_b)
    check_scales(scales, scale_a, scale_b, out_transposed=swapped)
    pointers = {"residual": "c", "preactivation": "z", "out": "d"}
    if swapped:
        if packed or bucket_rows:
            asked = f"packed={packed!r}" if packed else "bucket_rows=True"
            raise ValueError(f"out has strides {out.strides}: expected contiguous rows for {asked}")
        first, second, product = second.mT, first.mT, product.mT
        pointers |= {"a": "b", "b": "a", "scale_a": "scale_b", "scale_b": "scale_a"}
        added = {Bias.ROW: Bias.COLUMN, Bias.COLUMN: Bias.ROW, Bias.NONE: Bias.NONE}[added]
    alignment = product.alignment
    if residual is not None:
        if residual.strides != out.strides and 0 not in out.shape:
            raise ValueError(f"residual has strides {residual.strides}: expected those of out, {out.strides}")
        alignment = min(alignment, residual.alignment)
    kept = preactivation is not None and _has_preactivation(activation, packed)
    if preactivation is not None and kept:
        _check_whole(preactivation, transposed=swapped)
        alignment = min(alignment, preactivation.alignment)
    problem = GemmProblem(
        m=product.rows,
        n=second.columns,
        k=first.columns,
        transpose_a=first.transposed,
        transpose_b=second.transposed,
        dtype=DType((b if swapped else a).dtype),
        mixed=a.dtype != b.dtype,
        fast_accumulation=fast_accumulation,
        scales=scales,
        out_dtype=OutDType(out.dtype),
        batch=1 if product.batch is None else product.batch,
        bias=added,
        activation=Activation(activation),
        gate=Gate(packed or Gate.NONE),
        residual=residual is not None,
        preactivation=kept,
        bucket_rows=bucket_rows,
        lda=first.leading,
        stride_a=first.stride,
        align_a=first.alignment,
        ldb=second.leading,
        stride_b=second.stride,
        align_b=second.alignment,
        ldd=product.leading,
        stride_d=product.stride,
        align_d=alignment,
    )
    return Binding(problem, pointers)


def _bias(bias: Layout | None) -> Bias:
    """Which of them it is."""
    if bias is None:
        return Bias.NONE
    return Bias.ROW if len(bias.shape) == 1 else Bias.COLUMN


def _check_whole(layout: Layout, *, transposed: bool) -> None:
    """``ValueError`` for a second output whose rows, or columns if `transposed`, are not one behind the other."""
    *batch, rows, columns = layout.shape
    leading = rows if transposed else columns
    strides = [*row_major((*batch, rows, columns))[:-2], *((1, leading) if transposed else (leading, 1))]
    pairs = zip(layout.shape, layout.strides, strides, strict=True)
    if 0 not in layout.shape and any(size > 1 and own != expected for size, own, expected in pairs):
        raise ValueError(f"preactivation has strides {layout.strides}: expected {tuple(strides)}")


CALL = Call(
    declaration=gemm,
    inputs=("a", "b", "bias", "residual", "scale_a", "scale_b"),
    outputs=("out", "preactivation"),
    types=_types,
    bind=_bind,
    scalars=("alpha", "beta"),
    optional=("bias", "residual", "scale_a", "scale_b", "preactivation"),
    in_place=(("out", "residual"),),
    reordered=("a", "b", "residual", "scale_a", "scale_b", "out", "preactivation"),
)
