"""How users call softmax_backward."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.model.dtype import DType
from autotune.codegen.rows.problem import DTYPES
from autotune.codegen.rows.softmax_backward.problem import SoftmaxBackwardProblem
from autotune.search_spaces.contract.array_checks import check_alike, check_rows
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout, rows


def softmax_backward(
    grad_output: Any,
    output: Any,
    dim: int = -1,
    *,
    scale: float = 1.0,
    log: bool = False,
    out: Any = None,
    stream: Any = None,
) -> Any:
    """The gradient of softmax from that of its result: scale · y · (dy - Σ y·dy) along the last axis.

    Of a log-softmax it is scale · (dy - e^y · Σ dy), and 0 where y is -infinity: what is masked is a constant.

    Args:
        grad_output: dy, the gradient of y: float32, bfloat16 or float16, of any number of axes. Elements along the last
            axis are contiguous, and rows are evenly spaced.
        output: y, the result of softmax, of the shape and the dtype of `grad_output`, its rows as far apart.
        dim: the axis, which must be the last one.
        scale: by which the input of softmax was multiplied, 1 / temperature.
        log: whether y is the logarithm of the softmax.
        out: dx, of the shape and the dtype of `grad_output`, which it may be. By default a new array of the library of
            `grad_output`.

    Returns:
        dx.
    """


def _types(grad_output: Layout, output: Layout, dim: int, log: bool) -> Mapping[str, ArrayType]:
    check_rows("softmax_backward", "grad_output", grad_output, DTYPES, dim)
    check_alike("output", output, "grad_output", grad_output)
    return {"out": ArrayType(grad_output.shape, grad_output.dtype)}


def _bind(grad_output: Layout, output: Layout, out: Layout, dim: int, log: bool) -> Binding:
    dy, y, dx = rows("grad_output", grad_output), rows("output", output), rows("out", out)
    if dy.leading != y.leading:
        raise ValueError(
            f"rows of grad_output are {dy.leading} elements apart, those of output {y.leading}: expected the same"
        )
    problem = SoftmaxBackwardProblem(
        rows=y.rows,
        columns=y.columns,
        dtype=DType(output.dtype),
        log=log,
        ldx=y.leading,
        align_x=min(y.alignment, dy.alignment),
        **dx.fields("d"),
    )
    return Binding(problem, {"grad_output": "dy", "output": "y", "out": "dx"})


CALL = Call(
    declaration=softmax_backward,
    inputs=("grad_output", "output"),
    outputs=("out",),
    types=_types,
    bind=_bind,
    scalars=("scale",),
    in_place=(("out", "grad_output"),),
)
