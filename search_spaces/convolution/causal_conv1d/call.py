"""How users call causal_conv1d."""

from __future__ import annotations

from typing import Any

from autotune.codegen.convolution.causal_conv1d.problem import DTYPES, MOST_WIDTH, CausalConv1dProblem
from autotune.codegen.epilogue.activation import FUSED, Activation
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.contract.array_checks import check_dtype
from autotune.search_spaces.contract.call import Binding, Call
from autotune.search_spaces.contract.layouts import Layout


def causal_conv1d(
    x: Any,
    weight: Any,
    bias: Any = None,
    initial_states: Any = None,
    seq_idx: Any = None,
    *,
    activation: str | None = None,
    channels_last: bool = False,
    out: Any = None,
    final_states: Any = None,
    stream: Any = None,
) -> Any:
    """A filter for each channel over the steps of sequences: step t of the result depends on no later step of `x`.

    As `causal_conv1d_fn` of the package causal-conv1d computes it, of filters of up to 32 steps.

    Args:
        x: bfloat16, float16 or float32, of shape (batch, channels, length), or (batch, length, channels) with
            `channels_last`. The elements of the last axis are contiguous, other axes may have gaps.
        weight: of the dtype of `x`, contiguous, of shape (channels, width). The last column is the factor of the step
            itself.
        bias: of the dtype of `x`, contiguous, of shape (channels,).
        initial_states: the steps ahead of each sequence, of the dtype of `x`, contiguous, of shape
            (batch, channels, width - 1). By default, they are 0.
        seq_idx: the number of each step's sequence, of dtype int32, contiguous, of shape (batch, length), for sequences
            one behind the other: a step sees those of its own number. Steps of negative numbers give 0. It takes
            `channels_last`, and no `initial_states`.
        activation: applied to the sum: ``silu``, ``relu``, ``gelu``, ``gelu_tanh``, or None.
        channels_last: whether channels are the last axis of `x` and of the result.
        out: the result, which overlaps nothing. By default a new array of the library of `x`.
        final_states: is written, if it is given: the last steps of each sequence, those ahead of it included, of the
            shape and the dtype of `initial_states`. A next call goes on from there.

    Returns:
        The result, of the shape and the dtype of `x`.
    """


def _bind(
    x: Layout,
    weight: Layout,
    bias: Layout | None,
    initial_states: Layout | None,
    seq_idx: Layout | None,
    final_states: Layout | None,
    activation: str | None,
    channels_last: bool,
) -> Binding:
    check_dtype("causal_conv1d", "x", x, DTYPES)
    if (chosen := activation or Activation.IDENTITY) not in FUSED:
        raise ValueError(f"activation={activation!r}: expected one of {', '.join(FUSED)}")
    if len(x.shape) != 3:
        raise ValueError(f"x has shape {x.shape}: expected 3 axes, of sequences, channels and steps")
    if len(weight.shape) != 2 or not 1 <= weight.shape[1] <= MOST_WIDTH:
        raise ValueError(f"weight has shape {weight.shape}: expected (channels, width), of 1 to {MOST_WIDTH} columns")
    channels, length = (x.shape[2], x.shape[1]) if channels_last else x.shape[1:]
    problem = CausalConv1dProblem(
        channels=channels,
        length=length,
        batch=x.shape[0],
        width=weight.shape[1],
        dtype=DType(x.dtype),
        channels_last=channels_last,
        bias=bias is not None,
        activation=Activation(chosen),
        initial=initial_states is not None,
        final=final_states is not None,
        numbered=seq_idx is not None,
    )
    return Binding(problem, {"out": "y", "seq_idx": "numbers"})


CALL = Call(
    declaration=causal_conv1d,
    inputs=("x", "weight", "bias", "initial_states", "seq_idx"),
    outputs=("out", "final_states"),
    bind=_bind,
    optional=("bias", "initial_states", "seq_idx", "final_states"),
)
