"""Convolutions of plain tensors in eager mode, whose channels are the second axis and neighbours in memory.

Operators have channels as the last axis. A view of each tensor, and an autograd node for each view, take the host
longer than the launches. So here tensors are passed as they are, and one node records a call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Any

import torch

from autotune.codegen.epilogue.activation import Activation
from autotune.dispatcher.calls.function import dispatched
from autotune.search_spaces.contract.derivative import Backward
from autotune.search_spaces.contract.registry import operator as registered

from .eager import examined
from .operators import differentiable, direct

Options = Mapping[str, Any]

_IMAGES = 4  # axes of images without a depth
_FORMATS = {_IMAGES: torch.channels_last, _IMAGES + 1: torch.channels_last_3d}
_FACTORS = {"alpha": 1.0, "beta": 1.0}


def packed(tensor: Any) -> Any:
    """A tensor in the memory format channels_last, without gaps."""
    return tensor.contiguous(memory_format=_FORMATS.get(tensor.ndim, torch.contiguous_format))


class Convolution(torch.autograd.Function):
    """The node of a call of conv2d or conv3d, with a result in the memory format channels_last."""

    @staticmethod
    def forward(ctx: Any, operator: str, options: Options, *tensors: Any) -> Any:
        """Compute a call, and save what its gradients need.

        Args:
            ctx: PyTorch's context.
            operator: its name.
            options: all of the call.
            tensors: its inputs: `packed`, but for images whose channels are neighbours in memory, which may have gaps.
        """
        ctx.operator, ctx.options = operator, options
        ctx.set_materialize_grads(False)
        x, weight, bias, _, *scale = tensors
        ctx.save_for_backward(x, weight, bias, *scale)
        return computed[operator](*tensors, **options)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> tuple[Any, ...]:
        """The gradients of all arguments."""
        needed = ctx.needs_input_grad[2:]
        if gradient is None:
            return (None,) * len(ctx.needs_input_grad)
        operator, options = ctx.operator, ctx.options
        recorded = torch.is_grad_enabled() or not examined((gradient,))[0]
        if recorded or not _is_simple(operator, options):
            return None, None, *_composed(operator, options, ctx.saved_tensors, gradient, needed, recorded)
        return None, None, *_simple(options, ctx.saved_tensors, gradient, needed)


def _is_simple(operator: str, options: Options) -> bool:
    """Whether each gradient is one call of an operator."""
    plain = options["activation"] == Activation.IDENTITY and options["groups"] == 1
    return plain and operator == "conv2d" and not options["allow_winograd"]


def _simple(options: Options, saved: Sequence[Any], gradient: Any, needed: Sequence[bool]) -> tuple[Any, ...]:
    """The gradients of the inputs of conv2d, by one call each."""
    x, weight, bias, _ = saved
    gradient = gradient.contiguous(memory_format=torch.channels_last)
    weight = weight.contiguous(memory_format=torch.channels_last)  # as it was, but for what hooks made of it
    steps = {
        "stride": options["stride"],
        "padding": options["padding"],
        "dilation": options["dilation"],
        "allow_tf32": options["allow_tf32"],
    }
    return (
        _of_images(gradient, weight, x.shape[2:], **steps) if needed[0] else None,
        _of_filters(x if x.stride(1) == 1 else packed(x), gradient, weight.shape[2:], **steps) if needed[1] else None,
        _view(gradient).sum_to_size(bias.shape) if needed[2] else None,
        gradient if needed[3] else None,
        None,
    )


def _composed(
    operator: str, options: Options, saved: Sequence[Any], gradient: Any, needed: Sequence[bool], recorded: bool
) -> tuple[Any, ...]:
    """The gradients of the inputs of any call, by what its operator states, which may be recorded."""
    stated = registered(operator)
    assert stated.call and stated.derivative
    x, weight, bias, *scale = saved
    named = {"x": _view(x if x.stride(1) == 1 else packed(x)), "weight": _view(packed(weight)), "bias": bias}
    found = stated.derivative.backward(
        Backward(
            operators=differentiable if recorded else direct,
            saved={**named, "scale": scale[0] if scale else None},
            shapes={name: tensor.shape for name, tensor in named.items() if tensor is not None},
            arguments={**options, **_FACTORS},
            gradients={"out": _view(gradient)},
            wanted=frozenset(compress(stated.call.inputs, needed)),
        )
    )
    named = {name: one if name == "bias" else one.movedim(-1, 1) for name, one in found.items()}
    return tuple(map(named.get, stated.call.inputs))


def _view(tensor: Any) -> Any:
    """A tensor as operators see it."""
    return tensor.movedim(1, -1)


computed = {
    name: dispatched(name, channels_first=("x", "weight", "residual", "out")).function for name in ("conv2d", "conv3d")
}
_of_images = dispatched("conv2d_input", channels_first=("grad", "weight", "out")).function
_of_filters = dispatched("conv2d_weight", channels_first=("x", "grad", "out")).function
