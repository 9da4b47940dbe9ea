"""What users would call instead of conv2d."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.convolution.problem import ConvolutionProblem
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.contract.baselines import NotTakenError, TorchCall, compiled
from autotune.search_spaces.contract.torch_activations import activated


@contextmanager
def by_cudnn(torch: Any, problem: ConvolutionProblem) -> Iterator[None]:
    """Calls take the fastest algorithm, and TF32 only if the problem does."""
    flags = torch.backends.cudnn
    before, flags.allow_tf32 = flags.allow_tf32, problem.tf32
    benchmark, flags.benchmark = flags.benchmark, True
    try:
        yield
    finally:
        flags.allow_tf32, flags.benchmark = before, benchmark


def _convolution(torch: Any, problem: Conv2dProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """One call on channels-last images, and one for each further step of the epilogue."""
    images = {name: one.permute(0, 3, 1, 2) if one.ndim > 1 else one for name, one in tensors.items()}
    return called(torch, problem, images)


def called(torch: Any, problem: Conv2dProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """The same of tensors with channels as the second axis.

    Raises:
        ValueError: there is no such call for the problem.
    """
    if problem.dtype is DType.INT8:
        raise NotTakenError("PyTorch convolves no int8 on GPUs")
    x, weight, d = (tensors[name] for name in ("x", "weight", "d"))
    bias, c = tensors.get("bias"), tensors.get("c")
    geometry = problem.stride, problem.padding, problem.dilation, problem.groups
    alpha, beta = problem.scalars["alpha"], problem.scalars["beta"]
    convolution = torch.nn.functional.conv3d if problem.volumes else torch.nn.functional.conv2d

    def compute() -> None:
        with by_cudnn(torch, problem):
            result = convolution(x, weight, None, *geometry)
        result = result * alpha
        if bias is not None:
            result = result + bias.reshape(-1, *(1 for _ in x.shape[2:]))
        result = activated(torch, problem.activation, result)
        if c is not None:
            result = torch.add(result, c, alpha=beta)
        d.copy_(result)

    return compute


_TORCH = TorchCall("torch.nn.functional.conv2d, channels last, by the fastest algorithm of cuDNN", _convolution)
BASELINES: Mapping[str, TorchCall | str] = {"cudnn": _TORCH, "compile": compiled(_TORCH)}
