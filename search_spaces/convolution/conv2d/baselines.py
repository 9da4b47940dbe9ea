"""What users would call instead of conv2d."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.search_spaces.contract.baselines import TorchCall, compiled
from autotune.search_spaces.contract.torch_activations import activated


def _convolution(torch: Any, problem: Conv2dProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """One call on channels-last images, and one for each further step of the epilogue."""
    x, weight, d = (tensors[name].permute(0, 3, 1, 2) for name in ("x", "weight", "d"))
    bias, c = tensors.get("bias"), tensors.get("c")
    names = ("stride", "padding", "dilation")
    pairs = {name: tuple(getattr(problem, f"{name}_{side}") for side in "hw") for name in names}
    alpha, beta = problem.scalars["alpha"], problem.scalars["beta"]

    def compute() -> None:
        flags = torch.backends.cudnn
        before, flags.allow_tf32 = flags.allow_tf32, problem.tf32
        benchmark, flags.benchmark = flags.benchmark, True
        try:
            result = torch.nn.functional.conv2d(x, weight, None, **pairs, groups=problem.groups)
        finally:
            flags.allow_tf32, flags.benchmark = before, benchmark
        result = result * alpha
        if bias is not None:
            result = result + bias[:, None, None]
        result = activated(torch, problem.activation, result)
        if c is not None:
            result = torch.add(result, c.permute(0, 3, 1, 2), alpha=beta)
        d.copy_(result)

    return compute


_TORCH = TorchCall("torch.nn.functional.conv2d, channels last, by the fastest algorithm of cuDNN", _convolution)
BASELINES: Mapping[str, TorchCall | str] = {"cudnn": _TORCH, "compile": compiled(_TORCH)}
