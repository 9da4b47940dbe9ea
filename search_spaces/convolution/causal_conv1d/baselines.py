"""What users would call instead of causal_conv1d."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from autotune.codegen.convolution.causal_conv1d.problem import CausalConv1dProblem
from autotune.codegen.epilogue.activation import Activation
from autotune.search_spaces.contract.baselines import NotTakenError, TorchCall, compiled
from autotune.search_spaces.contract.torch_activations import activated

_WIDTHS = (2, 3, 4)


def _convolution(torch: Any, problem: CausalConv1dProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """A convolution of groups of one channel, whose padding is cut off.

    Raises:
        ValueError: there are states, or numbers of sequences.
    """
    if problem.initial or problem.final:
        raise NotTakenError("torch.nn.functional.conv1d has no states")
    if problem.numbered:
        raise NotTakenError("torch.nn.functional.conv1d knows one sequence in a row")
    x, y = ((one.mT if problem.channels_last else one) for one in (tensors["x"], tensors["y"]))
    weight, bias = tensors["weight"][:, None], tensors.get("bias")

    def compute() -> None:
        padding = problem.width - 1
        z = torch.nn.functional.conv1d(x, weight, bias, padding=padding, groups=problem.channels)
        y.copy_(activated(torch, problem.activation, z[..., : problem.length]))

    return compute


def _package(torch: Any, problem: CausalConv1dProblem, tensors: Mapping[str, Any]) -> Callable[[], Mapping[str, Any]]:
    """The package writes to new arrays, whose channels are neighbours where those of X are.

    Raises:
        ValueError: it has no such filters, activation, or states.
    """
    known = problem.activation in (Activation.IDENTITY, Activation.SILU) and problem.width in _WIDTHS
    if not known or problem.initial or problem.final:
        raise NotTakenError(
            "causal-conv1d is called with filters of 2 to 4 steps, with or without silu, without states"
        )
    from causal_conv1d import causal_conv1d_fn

    x = tensors["x"].mT if problem.channels_last else tensors["x"]
    activation = None if problem.activation is Activation.IDENTITY else "silu"

    def compute() -> Mapping[str, Any]:
        y = causal_conv1d_fn(
            x, tensors["weight"], tensors.get("bias"), seq_idx=tensors.get("numbers"), activation=activation
        )
        return {"y": y.mT if problem.channels_last else y}

    return compute


_TORCH = TorchCall("torch.nn.functional.conv1d of as many groups as channels", _convolution)
BASELINES: Mapping[str, TorchCall | str] = {
    "causal_conv1d": TorchCall("causal_conv1d_fn", _package, needs="causal-conv1d"),
    "torch": _TORCH,
    "compile": compiled(_TORCH),
}
