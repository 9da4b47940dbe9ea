"""How users call cross_entropy and cross_entropy_backward."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from autotune.codegen.model.dtype import DType
from autotune.codegen.rows.cross_entropy.logits_problem import TARGETS
from autotune.codegen.rows.cross_entropy.problem import CrossEntropyBackwardProblem, CrossEntropyProblem
from autotune.codegen.rows.problem import DTYPES
from autotune.search_spaces.contract.array_checks import check_rows
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout, Shape


def cross_entropy(
    input: Any,
    target: Any,
    *,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    lse_square_scale: float = 0.0,
    softcap: float = 0.0,
    grad_loss: Any = None,
    lse: Any = None,
    grad_input: Any = None,
    batch_invariant: bool = False,
    out: Any = None,
    stream: Any = None,
) -> Any:
    """The loss of each row: log Σ exp(input) - input[target] along the last axis, accumulated in FP32.

    It is ``torch.nn.functional.cross_entropy`` with ``reduction="none"``, whose classes are along the last axis. With
    `grad_input`, the same launch computes the gradient of `input`, too, which may take its place.

    Args:
        input: logits: float32, bfloat16 or float16, of any number of axes. Elements along the last axis are contiguous,
            and rows are evenly spaced.
        target: int64 or int32 of the shape of `input` without its last axis, contiguous: the column of each row. The
            loss and the gradient of a row whose target is no column are NaN.
        ignore_index: the target of rows that do not count: they are not read, and all of their results are 0.
        label_smoothing: the part of each label that belongs to all columns alike, 0 to 1.
        lse_square_scale: the factor of (log Σ exp)² in the loss, known as z-loss.
        softcap: if it is not 0, softcap · tanh(input / softcap) takes the place of `input`.
        grad_loss: the gradient of the losses, float32 of the shape of `target`, or of one element for all rows, such as
            1 / n for a mean over n rows. It is needed with `grad_input`.
        lse: log Σ exp of each row, float32 of the shape of `target`; `cross_entropy_backward` takes it.
        grad_input: the gradient of `input`, of its shape and dtype. It may be `input`.
        batch_invariant: choose the kernel by the columns alone: the bits of a row's result do not depend on how many
            rows there are, nor on where it is among them, in arrays that are aligned alike.
        out: the losses, float32 of the shape of `target`. By default a new array of the library of `input`.

    Returns:
        The losses.
    """


def cross_entropy_backward(
    input: Any,
    target: Any,
    lse: Any,
    grad_loss: Any,
    *,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    lse_square_scale: float = 0.0,
    softcap: float = 0.0,
    out: Any = None,
    stream: Any = None,
) -> Any:
    """The gradient of cross_entropy's `input`, from those of the losses.

    Args:
        input: the logits, as `cross_entropy` takes them.
        target: the column of each row, likewise.
        lse: log Σ exp of each row, as `cross_entropy` leaves it.
        grad_loss: the gradient of the losses, float32 of the shape of `target`, or of one element for all rows.
        ignore_index: as of `cross_entropy`.
        label_smoothing: likewise.
        lse_square_scale: likewise.
        softcap: likewise.
        out: the gradient, of the shape and the dtype of `input`, which it may be. By default a new array of the library
            of `input`.

    Returns:
        The gradient.
    """


def _check(input: Layout, target: Layout, lse: Layout | None, grad_loss: Layout | None) -> Shape:
    """The shape of the losses; ``TypeError`` or ``ValueError`` for inputs that do not go together."""
    check_rows("cross_entropy", "input", input, DTYPES)
    shape = input.shape[:-1]
    if target.dtype not in TARGETS:
        raise TypeError(f"target has dtype {target.dtype}: expected {' or '.join(TARGETS)}")
    if target.shape != shape:
        raise ValueError(f"target has shape {target.shape}: expected {shape}, one for each row of input")
    for name, layout, shapes in (("lse", lse, (shape,)), ("grad_loss", grad_loss, (shape, (), (1,)))):
        if layout is not None and (layout.dtype != DType.FLOAT32 or layout.shape not in shapes):
            one = " or of one element" if len(shapes) > 1 else ""
            raise ValueError(
                f"{name} has dtype {layout.dtype} and shape {layout.shape}: expected float32 of shape {shape}{one}"
            )
    return shape


def _types(input: Layout, target: Layout, grad_loss: Layout | None, batch_invariant: bool) -> Mapping[str, ArrayType]:
    row = ArrayType(_check(input, target, None, grad_loss), DType.FLOAT32)
    return {"out": row, "lse": row, "grad_input": ArrayType(input.shape, input.dtype)}


def _backward_types(input: Layout, target: Layout, lse: Layout, grad_loss: Layout) -> Mapping[str, ArrayType]:
    _check(input, target, lse, grad_loss)
    return {"out": ArrayType(input.shape, input.dtype)}


def _fields(
    input: Layout,
    target: Layout,
    grad_loss: Layout | None,
    nonzero: Mapping[str, bool],
) -> dict[str, Any]:
    """The fields that both problems have."""
    return {
        "rows": prod(input.shape[:-1]),
        "columns": input.shape[-1],
        "dtype": DType(input.dtype),
        "target_dtype": DType(target.dtype),
        "smoothed": nonzero["label_smoothing_nonzero"],
        "z_loss": nonzero["lse_square_scale_nonzero"],
        "capped": nonzero["softcap_nonzero"],
        "shared_gradient": grad_loss is not None and grad_loss.shape != target.shape,
    }


def _bind(
    input: Layout,
    target: Layout,
    grad_loss: Layout | None,
    out: Layout,
    lse: Layout | None,
    grad_input: Layout | None,
    batch_invariant: bool,
    **nonzero: bool,
) -> Binding:
    if (grad_loss is None) != (grad_input is None):
        missing = "grad_loss" if grad_loss is None else "grad_input"
        raise ValueError(f"{missing} is missing: the gradients of the losses and of input come together")
    problem = CrossEntropyProblem(
        **_fields(input, target, grad_loss, nonzero),
        lse=lse is not None,
        gradient=grad_input is not None,
        batch_invariant=batch_invariant,
    )
    pointers = {"input": "x", "grad_loss": "dloss"}
    return Binding(problem, pointers | {"out": "loss", "grad_input": "d"})


def _bind_backward(
    input: Layout, target: Layout, lse: Layout, grad_loss: Layout, out: Layout, **nonzero: bool
) -> Binding:
    problem = CrossEntropyBackwardProblem(**_fields(input, target, grad_loss, nonzero))
    pointers = {"input": "x", "grad_loss": "dloss", "out": "d"}
    return Binding(problem, pointers)


_SWITCHES = ("label_smoothing", "lse_square_scale", "softcap")
CALL = Call(
    declaration=cross_entropy,
    inputs=("input", "target", "grad_loss"),
    outputs=("out", "lse", "grad_input"),
    types=_types,
    bind=_bind,
    scalars=("ignore_index", *_SWITCHES),
    optional=("grad_loss", "lse", "grad_input"),
    switches=_SWITCHES,
    in_place=(("grad_input", "input"),),
)
BACKWARD_CALL = Call(
    declaration=cross_entropy_backward,
    inputs=("input", "target", "lse", "grad_loss"),
    outputs=("out",),
    types=_backward_types,
    bind=_bind_backward,
    scalars=("ignore_index", *_SWITCHES),
    switches=_SWITCHES,
    in_place=(("out", "input"),),
)
