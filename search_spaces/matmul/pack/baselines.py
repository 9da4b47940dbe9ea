"""What users would call instead of pack."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from autotune.codegen.matmul.gemv.weights import SYMMETRIC_ZERO, Weights
from autotune.codegen.matmul.pack.problem import PackProblem
from autotune.codegen.matmul.pack.quantise import codes_between, steps_of
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.contract.baselines import NotTakenError, TorchCall, compiled

_LARGEST = DType.FLOAT32.largest


def _pack(torch: Any, problem: PackProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """By the rule of quantise.py: bit for bit what kernels compute.

    Raises:
        ValueError: rows of W are not whole groups.
    """
    if problem.n % problem.group_rows or (problem.group_size and problem.k % problem.group_size):
        raise NotTakenError(f"n={problem.n}, k={problem.k}: expected whole groups of {problem.group_size}")
    down, across = problem.groups_shape
    groups = tensors["w"].view(down, problem.group_rows, across, problem.group_columns)
    weights, steps = problem.weights, steps_of(problem.weights, zeros=problem.zeros)

    def compute() -> None:
        w = groups.float()
        if problem.zeros:
            low, high = w.amin((1, 3)).clamp(max=0), w.amax((1, 3)).clamp(min=0)
        else:
            low, high = 0.0, w.abs().amax((1, 3))
        scales = ((high - low) / steps).to(tensors["scales"].dtype)
        tensors["scales"].copy_(scales)
        inverse = torch.where(scales > 0, scales.float().reciprocal().clamp(max=_LARGEST), 0.0)
        product = w * inverse[:, None, :, None]
        if weights is Weights.FP8:
            tensors["q"].view_as(groups).copy_(product.clamp(-steps, steps))
            return
        least, most = codes_between(weights)
        zero: Any = SYMMETRIC_ZERO if weights is Weights.INT4 else 0
        if problem.zeros:
            zero = (-low * inverse).round()
            tensors["zeros"].copy_(zero)
            zero = zero[:, None, :, None]
        codes = (product.round() + zero).clamp(least, most)
        if weights is Weights.INT8:
            tensors["q"].view_as(groups).copy_(codes)
            return
        pairs = codes.to(torch.uint8).view(problem.n, -1, 2)
        torch.bitwise_or(pairs[..., 0], pairs[..., 1] << 4, out=tensors["q"])

    return compute


_EAGER = TorchCall("maxima, products and rounding in float32, and halves of bytes put together", _pack)
BASELINES: Mapping[str, TorchCall | str] = {"torch": _EAGER, "compile": compiled(_EAGER)}
