"""How causal_conv1d is differentiated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.epilogue.activation import Activation
from autotune.search_spaces.contract.derivative import Backward, Derivative


def _backward(given: Backward) -> Mapping[str, Any]:
    """By causal_conv1d itself on steps in reverse, and by conv2d_weight, whose images have one row.

    All sums have a fixed order: equal gradients give equal bits.
    """
    x, weight, states, numbers = (given.saved[name] for name in ("x", "weight", "initial_states", "seq_idx"))
    last, gradient = given.arguments["channels_last"], given.gradients["out"].contiguous()
    axis, ahead = 1 if last else 2, weight.shape[1] - 1
    if numbers is not None:
        gradient = gradient.masked_fill((numbers < 0).unsqueeze(2), 0)
    if (activation := given.arguments["activation"] or Activation.IDENTITY) != Activation.IDENTITY:
        before = given.operators.causal_conv1d(x, weight, given.saved["bias"], states, numbers, channels_last=last)
        gradient = given.operators.map(before, activation, grad=gradient)
    found = {}
    if numbers is not None and "x" in given.wanted:
        turned, own = gradient.flip(1), numbers.flip(1)
        found["x"] = given.operators.causal_conv1d(turned, weight, None, None, own, channels_last=last).flip(1)
    elif given.wanted & {"x", "initial_states"}:
        # Step t counts in the steps t … t + width - 1: those before it in reverse.
        turned = _with_steps_ahead(gradient, None, ahead, axis).flip(axis)
        steps = given.operators.causal_conv1d(turned, weight, channels_last=last).flip(axis)
        found["x"] = steps.narrow(axis, ahead, x.shape[axis]).contiguous()
        found["initial_states"] = steps.narrow(axis, 0, ahead).transpose(axis, 2).contiguous()
    if numbers is not None and "weight" in given.wanted:
        found["weight"] = _within_sequences(gradient, x, numbers, ahead).to(weight.dtype)
    elif "weight" in given.wanted:
        seen = _with_steps_ahead(x, states, ahead, axis)
        images, pixels = (one.transpose(axis, 1).contiguous().unsqueeze(1) for one in (seen, gradient))
        taps = given.operators.conv2d_weight(images, pixels, (1, ahead + 1), groups=weight.shape[0])
        found["weight"] = taps.reshape(weight.shape)
    if "bias" in given.wanted:
        found["bias"] = gradient.sum((0, axis))
    return {name: found[name] for name in given.wanted}


def _within_sequences(gradient: Any, x: Any, numbers: Any, ahead: int) -> Any:
    """The gradient by each tap: a sum over the steps that see, so many steps before, one of their sequence."""
    taps, length = gradient.new_zeros(x.shape[2], ahead + 1).float(), x.shape[1]
    for back in range(min(ahead + 1, length)):
        later, earlier = slice(back, None), slice(length - back)
        same = (numbers[:, later] == numbers[:, earlier]).unsqueeze(2)
        products = gradient[:, later].float() * x[:, earlier].float().masked_fill(~same, 0)
        taps[:, ahead - back] = products.sum((0, 1))
    return taps


def _with_steps_ahead(steps: Any, states: Any, count: int, axis: int) -> Any:
    """Steps along an axis behind `count` others: states of shape (batch, channels, count), or zeros."""
    shape = list(steps.shape)
    shape[axis] += count
    found = steps.new_zeros(shape)
    found.narrow(axis, count, steps.shape[axis]).copy_(steps)
    if states is not None:
        found.narrow(axis, 0, count).copy_(states.transpose(axis, 2))
    return found


DERIVATIVE = Derivative(_backward, saves=("x", "weight", "bias", "initial_states", "seq_idx"))
