"""How users call causal_conv1d_update."""

from __future__ import annotations

from typing import Any

from autotune.codegen.convolution.causal_conv1d.problem import DTYPES, MOST_WIDTH
from autotune.codegen.convolution.causal_conv1d_update.problem import CausalConv1dUpdateProblem
from autotune.codegen.epilogue.activation import FUSED, Activation
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.contract.array_checks import check_dtype
from autotune.search_spaces.contract.call import Binding, Call
from autotune.search_spaces.contract.layouts import Layout


def causal_conv1d_update(
    x: Any,
    conv_state: Any,
    weight: Any,
    bias: Any = None,
    conv_state_indices: Any = None,
    *,
    activation: str | None = None,
    out: Any = None,
    stream: Any = None,
) -> Any:
    """The next steps of `causal_conv1d` of each request, whose last steps `conv_state` has.

    As the function of this name of the package causal-conv1d computes it, of filters of up to 32 steps.

    Args:
        x: bfloat16, float16 or float32, of shape (requests, channels), or (requests, channels, steps) with several new
            steps. The elements of the last axis are contiguous, other axes may have any strides.
        conv_state: of the dtype of `x`, of shape (slots, channels, width - 1), likewise. Is updated: it becomes its
            last steps and the new ones.
        weight: of the dtype of `x`, contiguous, of shape (channels, width).
        bias: of the dtype of `x`, contiguous, of shape (channels,).
        conv_state_indices: int32, of shape (requests,): the slot of each request, no two of them the same. A request
            whose slot is negative, or behind the last one, changes none, and its results are 0. By default, request i
            has slot i.
        activation: applied to the sum: ``silu``, ``relu``, ``gelu``, ``gelu_tanh``, or None.
        out: the result, which overlaps nothing. By default a new array of the library of `x`.

    Returns:
        The result, of the shape and the dtype of `x`.
    """


def _bind(
    x: Layout,
    conv_state: Layout,
    weight: Layout,
    bias: Layout | None,
    conv_state_indices: Layout | None,
    activation: str | None,
) -> Binding:
    check_dtype("causal_conv1d_update", "x", x, DTYPES)
    if (chosen := activation or Activation.IDENTITY) not in FUSED:
        raise ValueError(f"activation={activation!r}: expected one of {', '.join(FUSED)}")
    if len(x.shape) not in (2, 3):
        raise ValueError(f"x has shape {x.shape}: expected (requests, channels) or (requests, channels, steps)")
    if len(weight.shape) != 2 or not 2 <= weight.shape[1] <= MOST_WIDTH:
        raise ValueError(f"weight has shape {weight.shape}: expected (channels, width), of 2 to {MOST_WIDTH} columns")
    if len(conv_state.shape) != 3:
        raise ValueError(f"conv_state has shape {conv_state.shape}: expected (slots, channels, width - 1)")
    problem = CausalConv1dUpdateProblem(
        requests=x.shape[0],
        channels=x.shape[1],
        slots=conv_state.shape[0],
        steps=x.shape[2] if len(x.shape) == 3 else 1,
        width=weight.shape[1],
        dtype=DType(x.dtype),
        indexed=conv_state_indices is not None,
        bias=bias is not None,
        activation=Activation(chosen),
    )
    return Binding(
        problem,
        {"conv_state": "states", "conv_state_indices": "slot_indices", "out": "y"},
        shapes={"x": x.shape, "out": x.shape},
    )


CALL = Call(
    declaration=causal_conv1d_update,
    inputs=("x", "conv_state", "weight", "bias", "conv_state_indices"),
    outputs=("out",),
    bind=_bind,
    optional=("bias", "conv_state_indices"),
    updates=("conv_state",),
)
