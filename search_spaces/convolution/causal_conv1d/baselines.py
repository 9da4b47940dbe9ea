"""What users would call instead of causal_conv1d."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from autotune.codegen.convolution.causal_conv1d.problem import CausalConv1dProblem
from autotune.search_spaces.contract.baselines import TorchCall, compiled
from autotune.search_spaces.contract.torch_activations import activated


def _convolution(torch: Any, problem: CausalConv1dProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """A convolution of groups of one channel, whose padding is cut off.

    Raises:
        ValueError: there are states, or numbers of sequences.
    """
    if problem.initial or problem.final:
        raise ValueError("torch.nn.functional.conv1d has no states")
    if problem.numbered:
        raise ValueError("torch.nn.functional.conv1d knows one sequence in a row")
    x, y = ((one.mT if problem.channels_last else one) for one in (tensors["x"], tensors["y"]))
    weight, bias = tensors["weight"][:, None], tensors.get("bias")

    def compute() -> None:
        padding = problem.width - 1
        z = torch.nn.functional.conv1d(x, weight, bias, padding=padding, groups=problem.channels)
        y.copy_(activated(torch, problem.activation, z[..., : problem.length]))

    return compute


_TORCH = TorchCall("torch.nn.functional.conv1d of as many groups as channels", _convolution)
BASELINES: Mapping[str, TorchCall | str] = {"torch": _TORCH, "compile": compiled(_TORCH)}
