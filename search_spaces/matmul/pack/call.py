"""How users call pack."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from autotune.codegen.matmul.gemv.problem import DTYPES
from autotune.codegen.matmul.gemv.weights import SCALE_DTYPES, Weights
from autotune.codegen.matmul.pack.problem import FORMATS, PackProblem
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.contract.array_checks import check_dtype
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout


def pack(
    weight: Any,
    format: str = "int4",
    group_size: int = 128,
    *,
    scale_dtype: DType | None = None,
    codes: Any = None,
    scales: Any = None,
    zeros: Any = None,
    stream: Any = None,
) -> Any:
    """Weights as codes of 8 or 4 bits and their scales, as ``gemv`` takes them: weight ≈ scale · (code - zero point).

    A scale is the largest ``|weight|`` of its group divided by 448 (``fp8``), 127 (``int8``) or 7 (``int4``), or the
    group's range, 0 included, divided by 15 where it gets a zero point. Codes are rounded to nearest, by the scale as
    it is stored.

    Args:
        weight: float32, bfloat16 or float16 of shape (…, n, k), with contiguous, evenly spaced rows.
        format: ``int4`` (uint8 of shape (…, n, ⌈k/2⌉), two codes in each, that of the lower k in the lower half),
            ``int8`` or ``fp8`` (float8_e4m3fn).
        group_size: weights along k that share a scale: 32, 64 or 128 of ``int4`` or ``int8``; 0, for whole rows, of
            ``int8`` or ``fp8``; 128 of ``fp8``, of which blocks of 128×128 share one.
        scale_dtype: float32, bfloat16 or float16; by default that of `weight`.
        codes: the codes, with contiguous, evenly spaced rows. By default a new array of the library of `weight`.
        scales: of shape (…, n, ⌈k/group_size⌉), (…, n, 1) for whole rows, or (⌈n/128⌉, ⌈k/128⌉) for blocks, contiguous.
            Likewise.
        zeros: the zero points of ``int4``, 0 to 15, which are written if they are given: uint8 of the shape of
            `scales`, contiguous. Without them all are 8.

    Returns:
        The codes and the scales. A group with NaN or an infinity in it has the scale NaN.
    """


def _types(weight: Layout, format: str, group_size: int, scale_dtype: DType | None) -> Mapping[str, ArrayType]:
    check_dtype("pack", "weight", weight, DTYPES)
    if format not in FORMATS:
        raise ValueError(f"format={format!r}: expected one of {', '.join(FORMATS)}")
    weights = Weights(format)
    if wrong := weights.why_not_grouped(group_size):
        raise ValueError(f"group_size={group_size}: {wrong.replace(f'weights={weights}', f'format={format}')}")
    if scale_dtype not in (None, *SCALE_DTYPES):
        raise TypeError(f"scale_dtype={scale_dtype}: expected {', '.join(SCALE_DTYPES)}, or None for that of weight")
    if len(weight.shape) < 2:
        raise ValueError(f"weight has shape {weight.shape}: expected (…, n, k)")
    *batch, n, k = weight.shape
    shape = (*batch, *weights.scales_shape(n, k, group_size))
    return {
        "codes": ArrayType((*batch, n, -(-k // weights.packed)), weights.stored(DType(weight.dtype))),
        "scales": ArrayType(shape, scale_dtype or weight.dtype),
        "zeros": ArrayType(shape, DType.UINT8),
    }


def _bind(
    weight: Layout,
    zeros: Layout | None,
    scales: Layout,
    format: str,
    group_size: int,
) -> Binding:
    weights, n = Weights(format), weight.shape[-2]
    if zeros is not None and weights is not Weights.INT4:
        raise ValueError(f"format={format}: expected no zeros, which codes of 4 bits have")
    together = weights.scale_rows(group_size)
    if prod(weight.shape[:-2]) > 1 and n % together:
        raise ValueError(f"weight has shape {weight.shape}: expected rows of a matrix in blocks of {together}")
    problem = PackProblem(
        n=prod(weight.shape[:-1]),
        k=weight.shape[-1],
        dtype=DType(weight.dtype),
        weights=weights,
        group_size=group_size,
        scale_dtype=DType(scales.dtype),
        zeros=zeros is not None,
    )
    return Binding(problem, {"weight": "w", "codes": "q"})


CALL = Call(
    declaration=pack,
    inputs=("weight",),
    outputs=("codes", "scales", "zeros"),
    types=_types,
    bind=_bind,
    optional=("zeros",),
)
