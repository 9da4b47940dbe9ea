"""How gemm is differentiated."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from typing import Any

from autotune.codegen.epilogue.activation import Activation
from autotune.search_spaces.contract.derivative import Backward, Derivative
from autotune.search_spaces.matmul.derivative import operand_gradients


def _backward(given: Backward) -> Mapping[str, Any]:
    """By gemm itself, and by map for an activation or gated pairs, from the numbers before.

    Gradients of operands are products of the gradient rounded to their type. Operands of 8 bits have none.
    """
    a, b, arguments = given.saved["a"], given.saved["b"], given.arguments
    gradient, alpha = given.gradients["out"], arguments["alpha"]
    multiply = partial(given.operators.gemm, allow_tf32=arguments["allow_tf32"])
    found = {"residual": arguments["beta"] * gradient} if "residual" in given.wanted else {}
    if not given.wanted & {"a", "b", "bias"}:
        return found
    if not _unneeded(arguments):
        z, activation, packed = given.saved["preactivation"], arguments["activation"], arguments["packed"]
        gradient = given.operators.map(z, activation, packed=packed, grad=gradient.contiguous())
    if "bias" in given.wanted:
        found["bias"] = gradient.sum_to_size(given.shapes["bias"])
    if gradient.dtype != a.dtype:  # else PyTorch takes a microsecond to return what it got
        gradient = gradient.to(a.dtype)
    return found | operand_gradients(multiply, a, b, gradient, alpha, given.wanted)


def _unneeded(arguments: Mapping[str, Any]) -> Collection[str]:
    """What was before the activation, where that is none."""
    plain = not arguments["packed"] and arguments["activation"] == Activation.IDENTITY
    return ("preactivation",) if plain else ()


DERIVATIVE = Derivative(_backward, saves=("a", "b", "preactivation"), unneeded=_unneeded)
