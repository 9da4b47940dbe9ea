"""How users call softmax."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....codegen.dtype import DType
from ....codegen.rows.softmax.problem import DTYPES, SoftmaxProblem
from ....codegen.tensor import row_major
from ...call import ArrayType, Binding, Call
from ...layouts import Layout, rows


def softmax(
    input: Any,
    dim: int = -1,
    *,
    temperature: float = 1.0,
    lengths: Any = None,
    batch_invariant: bool = False,
    out: Any = None,
    stream: Any = None,
) -> Any:
    """y = softmax(input / temperature) along the last axis, accumulated in FP32.

    NaN or infinity makes its row NaN, as does a row of nothing but -infinity.

    Args:
        input: float32, bfloat16 or float16, of any number of axes. Elements along the last axis are contiguous, and
            rows are evenly spaced.
        dim: the axis, which must be the last one.
        temperature: what `input` is divided by, more than 0.
        lengths: int32 of the shape of `input` without its last axis: from this column on, a row counts as -infinity.
        batch_invariant: choose the kernel by the columns alone: the bits of a row's result do not depend on how many
            rows there are, nor on where it is among them, in arrays that are aligned alike.
        out: y, of the shape and the dtype of `input`. It may be `input`. By default a new array of the library of
            `input`.

    Returns:
        y.
    """


def _types(input: Layout, lengths: Layout | None, dim: int, batch_invariant: bool) -> Mapping[str, ArrayType]:
    shape = input.shape
    if input.dtype not in DTYPES:
        raise TypeError(f"input has dtype {input.dtype}: softmax takes {', '.join(DTYPES)}")
    if not shape:
        raise ValueError("input has shape (): expected rows along a last axis")
    if dim not in (-1, len(shape) - 1):
        raise ValueError(f"dim={dim}: softmax takes the last axis, -1 or {len(shape) - 1}")
    if lengths is not None and (lengths.dtype, lengths.shape) != (DType.INT32, shape[:-1]):
        raise ValueError(
            f"lengths has dtype {lengths.dtype} and shape {lengths.shape}: expected int32 of shape {shape[:-1]}"
        )
    return {"out": ArrayType(shape, input.dtype)}


def _bind(input: Layout, lengths: Layout | None, out: Layout, dim: int, batch_invariant: bool = False) -> Binding:
    x, y = rows("input", input), rows("out", out)
    if lengths is not None and not _dense(lengths):
        raise ValueError(f"lengths has strides {lengths.strides}: expected {row_major(lengths.shape)}")
    problem = SoftmaxProblem(
        rows=x.rows,
        columns=x.columns,
        dtype=DType(input.dtype),
        lengths=lengths is not None,
        batch_invariant=batch_invariant,
        ldx=x.leading,
        align_x=x.alignment,
        ldy=y.leading,
        align_y=y.alignment,
    )
    return Binding(problem, {"input": "x", "lengths": "lengths", "out": "y"})


def _dense(layout: Layout) -> bool:
    dense = row_major(layout.shape)
    axes = zip(layout.shape, layout.strides, dense, strict=True)
    return 0 in layout.shape or all(extent == 1 or stride == usual for extent, stride, usual in axes)


CALL = Call(
    declaration=softmax,
    inputs=("input", "lengths"),
    outputs=("out",),
    types=_types,
    bind=_bind,
    scalars=("temperature",),
    optional=("lengths",),
    in_place=(("out", "input"),),
)
