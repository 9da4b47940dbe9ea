"""What users would call instead of sgemm, and what was published about its ladder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.search_spaces.contract.baselines import Published, TorchCall


def operands(problem: SgemmProblem, tensors: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """op(A), op(B) and C as PyTorch tensors of batch × rows × columns; nothing is copied."""
    a, b, c = (tensors[name] for name in "abc")
    return a.mT if problem.transpose_a else a, b.mT if problem.transpose_b else b, c


def _addmm(torch: Any, problem: SgemmProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    a, b, c = operands(problem, tensors)
    # The batched call takes other kernels, so a batch of one is not given to it.
    multiply = partial(c[0].addmm_, a[0], b[0]) if problem.batch == 1 else partial(c.baddbmm_, a, b)
    return partial(multiply, alpha=problem.scalars["alpha"], beta=problem.scalars["beta"])


BASELINES: Mapping[str, TorchCall | str] = {
    "cublas": TorchCall("cuBLAS in true FP32, through torch.addmm and torch.baddbmm", _addmm, ("nvidia-cublas",)),
    "cublaslt": "bench.baselines.matmul.cublaslt:SGEMM",
    "triton": "bench.baselines.matmul.triton_baseline:SGEMM",
}

PUBLISHED = Published(
    source="Boehm, How to Optimize a CUDA Matmul Kernel for cuBLAS-like Performance, 2022, 4096³, share of cuBLAS",
    device="RTX A6000",
    shares={
        "naive": 0.013,
        "coalesced": 0.085,
        "shared": 0.128,
        "tile_1d": 0.365,
        "tile_2d": 0.687,
        "vectorised": 0.784,
        "warp_tile": 0.937,
        "double_buffered": 0.743,
    },
)
