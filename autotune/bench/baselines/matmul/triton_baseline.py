"""The baselines ``triton``: products by ``tl.dot`` under Triton's own autotuner, of sgemm in true FP32."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from autotune.bench.baselines.torch_call import torch_baseline
from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.epilogue.epilogue import Bias
from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.search_spaces.contract.baselines import NotTakenError, TorchCall
from autotune.search_spaces.matmul.sgemm.baselines import operands


def _sgemm(torch: Any, problem: SgemmProblem, tensors: Mapping[str, Any]) -> Callable[[], None]:
    a, b, c = operands(problem, tensors)
    return partial(multiply, a, b, c, problem.scalars["alpha"], problem.scalars["beta"])


def _gemm(torch: Any, problem: GemmProblem, tensors: Mapping[str, Any]) -> Callable[[], None]:
    plain = problem.activation is Activation.IDENTITY and problem.bias is Bias.NONE and problem.gate is Gate.NONE
    if problem.dtype.bits != 16 or problem.residual or problem.preactivation or not plain:
        raise NotTakenError(f"it multiplies 16-bit numbers and does nothing else: {problem.key}")
    a, b = (tensors[x].mT if getattr(problem, f"transpose_{x}") else tensors[x] for x in "ab")
    return partial(multiply_16_bits, a, b, tensors["d"], problem.scalars["alpha"])


def multiply(a: Any, b: Any, c: Any, alpha: float, beta: float) -> None:
    """C = alpha·A·B + beta·C on tensors of batch × rows × columns; rows of C have no gaps between their words."""
    import triton

    from .triton_sgemm import sgemm

    batch, m, k = a.shape
    n = c.shape[2]

    def grid(config: Mapping[str, int]) -> tuple[int, int]:
        return triton.cdiv(m, config["block_m"]) * triton.cdiv(n, config["block_n"]), batch

    sgemm[grid](a, b, c, alpha, beta, m, n, k, *a.stride(), *b.stride(), *c.stride()[:2], beta_nonzero=beta != 0)


def multiply_16_bits(a: Any, b: Any, d: Any, alpha: float) -> None:
    """D = alpha·A·B on tensors of batch × rows × columns, by a program for each SM at most."""
    import torch
    import triton

    from .triton_gemm import gemm

    batch, m, k = a.shape
    n = d.shape[2]
    programs = torch.cuda.get_device_properties(d.device).multi_processor_count

    def grid(config: Mapping[str, int]) -> tuple[int]:
        tiles = triton.cdiv(m, config["block_m"]) * triton.cdiv(n, config["block_n"]) * batch
        return (min(programs, tiles),)

    gemm[grid](a, b, d, alpha, m, n, k, batch, programs, *a.stride(), *b.stride(), *d.stride()[:2])


# The first launch of a shape tries every configuration.
SGEMM = torch_baseline(
    "triton", TorchCall('Triton, tl.dot(input_precision="ieee"), by its own autotuner', _sgemm, needs="triton")
)
GEMM = torch_baseline("triton", TorchCall("Triton, a persistent kernel, by its own autotuner", _gemm, needs="triton"))
