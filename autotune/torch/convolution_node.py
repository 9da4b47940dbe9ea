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

from .eager import apply, examined
from .operators import differentiable, direct

Options = Mapping[str, Any]

_IMAGES = 4  # axes of images without a depth
_FORMATS = {_IMAGES: torch.channels_last, _IMAGES + 1: torch.channels_last_3d}
_FACTORS = {"alpha": 1.0, "beta": 1.0}


def convolve(operator: str, options: Options, tensors: tuple[Any, ...], recorded: bool) -> Any:
    """The result of conv2d or conv3d, in the memory format channels_last.

    Args:
        operator: its name.
        options: all of the call.
        tensors: its inputs: `with_neighbours` and `packed` as the operator asks for.
        recorded: whether a gradient of one of them is recorded.
    """
    return apply(Convolution, operator, options, *tensors) if recorded else _forward[operator](*tensors, **options)


def with_neighbours(images: Any) -> Any:
    """Images whose channels are neighbours in memory."""
    return images if images.stride(1) == 1 else packed(images)


def packed(tensor: Any) -> Any:
    """A tensor in the memory format channels_last, without gaps."""
    return tensor.contiguous(memory_format=_FORMATS.get(tensor.ndim, torch.contiguous_format))


class Convolution(torch.autograd.Function):
    """The node of a call of `convolve`."""

    @staticmethod
    def forward(ctx: Any, operator: str, options: Options, *tensors: Any) -> Any:
        """Compute a call, and save what its gradients need."""
        ctx.operator, ctx.options = operator, options
        ctx.set_materialize_grads(False)
        x, weight, bias, _, *scale = tensors
        ctx.save_for_backward(x, weight, bias, *scale)
        return _forward[operator](*tensors, **options)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> tuple[Any, ...]:
        """The gradients of all arguments."""
        _, _, *needed = ctx.needs_input_grad
        if gradient is None:
            return (None,) * len(ctx.needs_input_grad)
        recorded = torch.is_grad_enabled() or not examined((gradient,))[0]
        if not recorded and _is_simple(ctx.operator, ctx.options):
            return None, None, *_simple(ctx.options, ctx.saved_tensors, gradient, needed)
        return None, None, *_composed(ctx.operator, ctx.options, ctx.saved_tensors, gradient, needed, recorded)


def _is_simple(operator: str, options: Options) -> bool:
    """Whether each gradient is one call of an operator."""
    plain = options["activation"] == Activation.IDENTITY and options["groups"] == 1
    return plain and operator == "conv2d" and not options["allow_winograd"]


def _simple(options: Options, saved: Sequence[Any], gradient: Any, needed: Sequence[bool]) -> tuple[Any, ...]:
    """The gradients of the inputs of conv2d, by one call each."""
    x, weight, bias, _ = saved
    gradient = packed(gradient)
    steps = {name: options[name] for name in ("stride", "padding", "dilation", "allow_tf32")}
    return (
        _of_images(gradient, packed(weight), x.shape[2:], **steps) if needed[0] else None,
        _of_filters(with_neighbours(x), gradient, weight.shape[2:], **steps) if needed[1] else None,
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
    named = {"x": _view(with_neighbours(x)), "weight": _view(packed(weight)), "bias": bias}
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


_forward = {
    name: dispatched(name, channels_first=("x", "weight", "residual", "out")).function for name in ("conv2d", "conv3d")
}
_of_images = dispatched("conv2d_input", channels_first=("grad", "weight", "out")).function
_of_filters = dispatched("conv2d_weight", channels_first=("x", "grad", "out")).function
