"""How users call rms_norm and layer_norm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.model.dtype import DType
from autotune.codegen.rows.norm.problem import LayerNormProblem, NormProblem, RmsNormProblem
from autotune.codegen.rows.problem import DTYPES
from autotune.search_spaces.contract.array_checks import check_alike, check_dtype
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout, joined_rows

QUANTIZED = (DType.INT8, DType.FLOAT8_E4M3)


def rms_norm(
    input: Any,
    normalized_shape: tuple[int, ...] | int,
    weight: Any = None,
    eps: float = 1e-6,
    *,
    weight_offset: float = 0.0,
    residual: Any = None,
    residual_out: Any = None,
    rstd: Any = None,
    batch_invariant: bool = False,
    out_dtype: DType | None = None,
    scale: Any = None,
    out: Any = None,
    stream: Any = None,
) -> Any:
    """x · rstd · (weight + weight_offset) with rstd = 1 / √(mean of x² + eps), accumulated in FP32.

    x is `input`, or the sum of `input` and `residual`, rounded to their dtype.

    Args:
        input: float32, bfloat16 or float16, of any number of axes. Elements along the normalised axes are contiguous,
            and such rows are evenly spaced.
        normalized_shape: the extents of the last axes, over which the mean is taken.
        weight: of `normalized_shape`, contiguous, and of the dtype of `input` or float32.
        eps: added to the mean square.
        weight_offset: added to `weight`: 1 for models that store its difference from 1, such as Gemma.
        residual: of the shape, the strides and the dtype of `input`.
        residual_out: the sum, like `residual`, which it may be. It is needed with a residual.
        rstd: the factor of each row, float32 of the shape of `input` without the normalised axes.
        batch_invariant: choose the kernel by the columns alone: the bits of a row's result do not depend on how many
            rows there are, nor on where it is among them, in arrays that are aligned alike.
        out_dtype: int8 or float8_e4m3fn, for results in units of a scale for each row. By default that of `input`.
        scale: the scales, max `|y|` / 127 or 448, float32 of the shape of `input` without the normalised axes. It is
            needed with `out_dtype`.
        out: the result, of the shape of `input`, which it may be if it has its dtype. By default a new array of the
            library of `input`.

    Returns:
        The result.
    """


def layer_norm(
    input: Any,
    normalized_shape: tuple[int, ...] | int,
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
    *,
    weight_offset: float = 0.0,
    residual: Any = None,
    residual_out: Any = None,
    mean: Any = None,
    rstd: Any = None,
    batch_invariant: bool = False,
    out_dtype: DType | None = None,
    scale: Any = None,
    out: Any = None,
    stream: Any = None,
) -> Any:
    """(x - mean) · rstd · (weight + weight_offset) + bias with rstd = 1 / √(variance of x + eps), accumulated in FP32.

    x is `input`, or the sum of `input` and `residual`, rounded to their dtype.

    Args:
        input: float32, bfloat16 or float16, of any number of axes. Elements along the normalised axes are contiguous,
            and such rows are evenly spaced.
        normalized_shape: the extents of the last axes, over which mean and variance are taken.
        weight: of `normalized_shape`, contiguous, and of the dtype of `input` or float32.
        bias: likewise, of the dtype of `weight` if there is one.
        eps: added to the variance.
        weight_offset: added to `weight`: 1 for models that store its difference from 1.
        residual: of the shape, the strides and the dtype of `input`.
        residual_out: the sum, like `residual`, which it may be. It is needed with a residual.
        mean: of each row, float32 of the shape of `input` without the normalised axes.
        rstd: likewise; both are given or neither.
        batch_invariant: choose the kernel by the columns alone: the bits of a row's result do not depend on how many
            rows there are, nor on where it is among them, in arrays that are aligned alike.
        out_dtype: int8 or float8_e4m3fn, for results in units of a scale for each row. By default that of `input`.
        scale: the scales, max `|y|` / 127 or 448, float32 of the shape of `input` without the normalised axes. It is
            needed with `out_dtype`.
        out: the result, of the shape of `input`, which it may be if it has its dtype. By default a new array of the
            library of `input`.

    Returns:
        The result.
    """


def _types(
    input: Layout,
    normalized_shape: tuple[int, ...] | int,
    weight: Layout | None,
    residual: Layout | None,
    batch_invariant: bool,
    out_dtype: DType | None,
    bias: Layout | None = None,
) -> Mapping[str, ArrayType]:
    check_dtype("a norm", "input", input, DTYPES)
    shape = normalized(normalized_shape)
    kept = len(input.shape) - len(shape)
    if not shape or kept < 0 or input.shape[kept:] != shape:
        raise ValueError(f"normalized_shape={shape}: expected the last extents of input, whose shape is {input.shape}")
    for name, factors in (("weight", weight), ("bias", bias)):
        if factors is not None and (factors.shape != shape or factors.dtype not in (input.dtype, DType.FLOAT32)):
            raise ValueError(
                f"{name} has dtype {factors.dtype} and shape {factors.shape}: expected {input.dtype} or float32, and "
                f"shape {shape}"
            )
    if weight is not None and bias is not None and weight.dtype != bias.dtype:
        raise TypeError(f"bias has dtype {bias.dtype}: expected that of weight, {weight.dtype}")
    check_alike("residual", residual, "input", input)
    if out_dtype not in (None, *QUANTIZED):
        raise TypeError(f"out_dtype={out_dtype}: expected {' or '.join(QUANTIZED)}, or None for that of input")
    row = ArrayType(input.shape[:kept], DType.FLOAT32)
    whole = ArrayType(input.shape, input.dtype)
    out = ArrayType(input.shape, out_dtype or input.dtype)
    return {"out": out, "residual_out": whole, "mean": row, "rstd": row, "scale": row}


def _rms_types(**arguments: Any) -> Mapping[str, ArrayType]:
    types = _types(**arguments)
    return {name: types[name] for name in ("out", "residual_out", "rstd", "scale")}


def normalized(shape: tuple[int, ...] | int) -> tuple[int, ...]:
    """The extents that are normalised, of which there may be one."""
    return (shape,) if isinstance(shape, int) else tuple(shape)


def _fields(
    input: Layout,
    normalized_shape: tuple[int, ...] | int,
    weight: Layout | None,
    residual: Layout | None,
    residual_out: Layout | None,
    out: Layout,
    rstd: Layout | None,
    bias: Layout | None = None,
    mean: Layout | None = None,
    batch_invariant: bool = False,
    out_dtype: DType | None = None,
    scale: Layout | None = None,
) -> dict[str, Any]:
    """The fields of the problem."""
    axes = len(normalized(normalized_shape))
    x, y = joined_rows("input", input, axes), joined_rows("out", out, axes)
    if (residual is None) != (residual_out is None):
        missing = "residual_out" if residual_out is None else "residual"
        raise ValueError(f"{missing} is missing: a residual and its sum come together")
    if (out_dtype is None) != (scale is None):
        missing = "scale" if scale is None else "out_dtype"
        raise ValueError(f"{missing} is missing: quantised results and their scales come together")
    given = {"residual": residual, "residual_out": residual_out}
    together = [x, *(joined_rows(name, one, axes) for name, one in given.items() if one is not None)]
    if any(one.leading != x.leading for one in together):
        strides = ", ".join(str(one.leading) for one in together)
        raise ValueError(f"rows of input, residual and residual_out are {strides} elements apart: expected the same")
    factors = [one for one in (weight, bias) if one is not None]
    return {
        "rows": x.rows,
        "columns": x.columns,
        "dtype": DType(input.dtype),
        "weight": weight is not None,
        "float32_weight": any(one.dtype == DType.FLOAT32 for one in factors),
        "residual": residual is not None,
        "statistics": rstd is not None,
        "batch_invariant": batch_invariant,
        "int8": out_dtype is DType.INT8,
        "float8": out_dtype is DType.FLOAT8_E4M3,
        "ldx": x.leading,
        "align_x": min(one.alignment for one in together),
        **y.fields("y"),
        "align_w": min((one.alignment for one in factors), default=16),
    }


_POINTERS = {"input": "x", "out": "y", "residual_out": "sum"}


def _bind_rms(**arguments: Any) -> Binding:
    return _binding(RmsNormProblem(**_fields(**arguments)))


def _bind_layer(**arguments: Any) -> Binding:
    bias, mean, rstd = (arguments[name] for name in ("bias", "mean", "rstd"))
    if (mean is None) != (rstd is None):
        raise ValueError(f"{'mean' if mean is None else 'rstd'} is missing: expected both statistics or neither")
    return _binding(LayerNormProblem(**_fields(**arguments), bias=bias is not None))


def _binding(problem: NormProblem) -> Binding:
    return Binding(problem, _POINTERS)


_IN_PLACE = (("out", "input"), ("residual_out", "residual"))

RMS_CALL = Call(
    declaration=rms_norm,
    inputs=("input", "weight", "residual"),
    outputs=("out", "residual_out", "rstd", "scale"),
    types=_rms_types,
    bind=_bind_rms,
    scalars=("eps", "weight_offset"),
    optional=("weight", "residual", "residual_out", "rstd", "scale"),
    in_place=_IN_PLACE,
)
LAYER_CALL = Call(
    declaration=layer_norm,
    inputs=("input", "weight", "bias", "residual"),
    outputs=("out", "residual_out", "mean", "rstd", "scale"),
    types=_types,
    bind=_bind_layer,
    scalars=("eps", "weight_offset"),
    optional=("weight", "bias", "residual", "residual_out", "mean", "rstd", "scale"),
    in_place=_IN_PLACE,
)
