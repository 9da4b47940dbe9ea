"""PyTorch's products of 8 bits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.epilogue.epilogue import Bias
from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.matmul.gemm.fields import Scales
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.contract.baselines import NotTakenError


def low_precision_product(torch: Any, problem: GemmProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """``torch._scaled_mm`` of float8, which multiplies by scales, too; ``torch._int_mm`` of int8.

    alpha is a part of A's scales, which are laid out as PyTorch takes them, ahead of time.

    Raises:
        ValueError: there is no such call for the problem.
    """
    plain = problem.activation is Activation.IDENTITY and problem.gate is Gate.NONE and not problem.preactivation
    plain = plain and problem.bias is Bias.NONE and not problem.residual
    if problem.batch != 1 or not plain:
        raise NotTakenError(f"PyTorch multiplies single matrices of {problem.dtype} without an epilogue")
    a, b, d = (tensors[name][0] for name in "abd")
    left, right = a.mT if problem.transpose_a else a, b.mT if problem.transpose_b else b
    if problem.dtype is DType.INT8:
        if problem.result is not DType.INT32:
            raise NotTakenError(f"PyTorch multiplies int8 to int32, not to {problem.result}")
        return lambda: torch._int_mm(left, right, out=d)
    if problem.transpose_a or not problem.transpose_b:
        raise NotTakenError(f"PyTorch multiplies {problem.dtype} of layout nt, not of {problem.layout}")
    scale_a, scale_b = _scales(torch, problem, tensors)
    options = {"out_dtype": d.dtype, "use_fast_accum": problem.fast_accumulation}
    return lambda: torch._scaled_mm(left, right, scale_a, scale_b, **options, out=d)


def _scales(torch: Any, problem: GemmProblem, tensors: Mapping[str, Any]) -> tuple[Any, Any]:
    alpha = problem.scalars["alpha"]
    if problem.scales is Scales.NONE:
        one = torch.ones(1, device=tensors["d"].device)
        return alpha * one, one
    # New tensors are aligned as cuBLAS asks for it; those of kernels need not be.
    scale_a, scale_b = alpha * tensors["scale_a"], tensors["scale_b"].clone()
    if problem.scales is Scales.ROW:
        return scale_a[:, None], scale_b[None, :]
    if problem.scales is Scales.BLOCK:  # neighbours along m are neighbours in memory
        return scale_a.mT.contiguous().mT, scale_b.mT
    return scale_a, scale_b
