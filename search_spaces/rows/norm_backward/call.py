"""How users call norm_backward."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.model.dtype import DType
from autotune.codegen.rows.norm_backward.problem import NormBackwardProblem
from autotune.codegen.rows.problem import DTYPES
from autotune.search_spaces.contract.array_checks import check_alike, check_dtype
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout, joined_rows
from autotune.search_spaces.rows.norm.call import normalized


def norm_backward(
    input: Any,
    grad_output: Any,
    normalized_shape: tuple[int, ...] | int,
    weight: Any = None,
    eps: float = 1e-5,
    *,
    mean: Any = None,
    rstd: Any = None,
    weight_offset: float = 0.0,
    centered: bool = True,
    bias: bool = True,
    out: Any = None,
    stream: Any = None,
) -> Any:
    """The gradients of layer_norm, or of rms_norm, from that of their result.

    Args:
        input: what was normalised: float32, bfloat16 or float16, of any number of axes. Elements along the normalised
            axes are contiguous, and such rows are evenly spaced.
        grad_output: the gradient of the result, of the shape, the dtype and the strides of `input`.
        normalized_shape: the extents of the last axes, which were normalised.
        weight: of `normalized_shape`, contiguous, and of the dtype of `input` or float32.
        eps: what was added to the variance, or to the mean square.
        mean: of each row, as layer_norm wrote it: float32 of the shape of `input` without the normalised axes. It is
            given with `rstd` where the mean was subtracted.
        rstd: likewise, as either norm wrote it. Without it, statistics are computed again, which takes longer.
        weight_offset: what was added to `weight`.
        centered: whether the mean was subtracted (layer_norm) or not (rms_norm).
        bias: whether the gradient of a bias is wanted, too.
        out: the gradients of `input`, like it, of `weight`, and of a bias, which is like `weight` or else like a row of
            `input`. Those that are not computed have no elements. By default new arrays of the library of `input`.

    Returns:
        The three gradients.
    """


def _types(
    input: Layout,
    grad_output: Layout,
    weight: Layout | None,
    mean: Layout | None,
    rstd: Layout | None,
    normalized_shape: tuple[int, ...] | int,
    centered: bool,
    bias: bool,
) -> Mapping[str, ArrayType]:
    check_dtype("norm_backward", "input", input, DTYPES)
    shape = normalized(normalized_shape)
    kept = len(input.shape) - len(shape)
    if not shape or kept < 0 or input.shape[kept:] != shape:
        raise ValueError(f"normalized_shape={shape}: expected the last extents of input, whose shape is {input.shape}")
    check_alike("grad_output", grad_output, "input", input)
    if weight is not None and (weight.shape != shape or weight.dtype not in (input.dtype, DType.FLOAT32)):
        raise ValueError(
            f"weight has dtype {weight.dtype} and shape {weight.shape}: expected {input.dtype} or float32, and shape "
            f"{shape}"
        )
    if (mean is not None) != (rstd is not None and centered):
        raise ValueError("mean, rstd: expected both of layer_norm, rstd alone of rms_norm, or neither")
    for name, one in (("mean", mean), ("rstd", rstd)):
        if one is not None and (one.shape, one.dtype) != (input.shape[:kept], DType.FLOAT32):
            raise ValueError(
                f"{name} has dtype {one.dtype} and shape {one.shape}: expected float32 and {input.shape[:kept]}"
            )
    dtype = input.dtype if weight is None else weight.dtype
    return {
        "grad_input": ArrayType(input.shape, input.dtype),
        "grad_weight": ArrayType((0,) if weight is None else shape, dtype),
        "grad_bias": ArrayType(shape if bias else (0,), dtype),
    }


def _bind(
    input: Layout,
    grad_output: Layout,
    weight: Layout | None,
    rstd: Layout | None,
    grad_input: Layout,
    normalized_shape: tuple[int, ...] | int,
    centered: bool,
    bias: bool,
) -> Binding:
    axes = len(normalized(normalized_shape))
    x, dy = joined_rows("input", input, axes), joined_rows("grad_output", grad_output, axes)
    dx = joined_rows("grad_input", grad_input, axes)
    if x.leading != dy.leading:
        raise ValueError(
            f"rows of input are {x.leading} elements apart, those of grad_output {dy.leading}: expected the same"
        )
    problem = NormBackwardProblem(
        rows=x.rows,
        columns=x.columns,
        dtype=DType(input.dtype),
        centered=centered,
        weight=weight is not None,
        bias=bias,
        saved=rstd is not None,
        float32_weight=weight is not None and weight.dtype == DType.FLOAT32,
        ldx=x.leading,
        align_x=min(x.alignment, dy.alignment),
        **dx.fields("d"),
        align_w=16 if weight is None else weight.alignment,
    )
    pointers = {"input": "x", "grad_output": "dy"}
    return Binding(problem, pointers | {"grad_input": "dx", "grad_weight": "dw", "grad_bias": "db"})


CALL = Call(
    declaration=norm_backward,
    inputs=("input", "grad_output", "weight", "mean", "rstd"),
    outputs=("grad_input", "grad_weight", "grad_bias"),
    types=_types,
    bind=_bind,
    scalars=("eps", "weight_offset"),
    optional=("weight", "mean", "rstd"),
)
