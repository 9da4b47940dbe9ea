"""The baselines ``triton`` of softmax and layer_norm: what Triton's tutorials launch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from autotune.bench.baselines.torch_call import torch_baseline
from autotune.codegen.rows.norm.problem import NormProblem
from autotune.codegen.rows.softmax.problem import SoftmaxProblem
from autotune.search_spaces.contract.baselines import NotTakenError, TorchCall

_Call = Callable[[], Any]
_WIDEST_BLOCK = 1 << 16  # elements of which Triton still makes a kernel
_NORM_BYTES = 1 << 16  # bytes of a block of layer_norm


def _softmax(torch: Any, problem: SoftmaxProblem, tensors: Mapping[str, Any]) -> _Call:
    block = _power(problem.columns)
    if problem.log or problem.lse or problem.masked or problem.has_mask or problem.zero_rows or block > _WIDEST_BLOCK:
        raise NotTakenError(f"the tutorial's softmax is of whole rows of {_WIDEST_BLOCK} elements at most")
    from .triton_rows import softmax

    x, y = tensors["x"], tensors["y"]
    warps = 4 if block < 2048 else 8 if block < 4096 else 16
    return lambda: softmax[(problem.rows,)](x, y, x.stride(0), y.stride(0), problem.columns, block, num_warps=warps)


def _layer_norm(torch: Any, problem: NormProblem, tensors: Mapping[str, Any]) -> _Call:
    names = ("x", "y", "weight", "bias")
    if problem.residual or problem.out_dtype or problem.statistics or not all(name in tensors for name in names):
        raise NotTakenError("the tutorial's layer_norm has a weight and a bias and nothing else")
    from .triton_rows import layer_norm

    x, y, weight, bias = (tensors[name] for name in names)
    block = min(_power(problem.columns), _NORM_BYTES // problem.dtype.bytes)
    warps, eps = min(max(block // 256, 1), 8), problem.scalars["eps"]
    return lambda: layer_norm[(problem.rows,)](
        x, y, weight, bias, x.stride(0), y.stride(0), problem.columns, eps, block, num_warps=warps
    )


def _power(columns: int) -> int:
    """The next power of two."""
    return 1 << max(0, columns - 1).bit_length()


SOFTMAX = torch_baseline("triton", TorchCall("the softmax of Triton's tutorials", _softmax, needs="triton"))
LAYER_NORM = torch_baseline("triton", TorchCall("the layer_norm of Triton's tutorials", _layer_norm, needs="triton"))
