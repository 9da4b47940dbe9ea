"""What users would call instead of gemm."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.epilogue.epilogue import Bias
from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.epilogue.out_dtype import OutDType
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.search_spaces.contract.baselines import NotTakenError, TorchCall, compiled
from autotune.search_spaces.contract.torch_activations import activated

from .low_precision_baselines import low_precision_product


def _product(torch: Any, problem: GemmProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """One call for the product; where that cannot do it, one more for each further step.

    Raises:
        ValueError: D has another type than A and B, or PyTorch has no such product of 8 bits.
    """
    if problem.dtype.bits == 8:
        return low_precision_product(torch, problem, tensors)
    if problem.out_dtype is not OutDType.SAME:
        raise NotTakenError(f"PyTorch multiplies {problem.dtype} to {problem.dtype}, not to {problem.result}")
    a, b, d = (tensors[name] for name in "abd")
    left, right = a.mT if problem.transpose_a else a, b.mT if problem.transpose_b else b
    alpha, beta = problem.scalars["alpha"], problem.scalars["beta"]
    single = problem.batch == 1  # the batched call takes other kernels
    multiply = torch.addmm if single else torch.baddbmm
    if problem.allow_tf32:
        multiply = _with_tf32(torch, multiply)
    arrays = [x[0] if single else x for x in (left, right, d)]
    bias, c = tensors.get("bias"), tensors.get("c")
    if bias is not None:
        bias = bias.clone()  # a new tensor is as aligned as cuBLAS asks for it; that of kernels need not be
        bias = bias[:, None] if problem.bias is Bias.COLUMN else bias
    if c is not None and single:
        c = c[0]
    kept = tensors.get("z")
    if kept is not None and single:
        kept = kept[0]
    plain = problem.activation is Activation.IDENTITY and problem.gate is Gate.NONE
    if bias is None and kept is None and plain:
        return lambda: multiply(arrays[2] if c is None else c, *arrays[:2], alpha=alpha, beta=beta, out=arrays[2])

    def compute() -> None:
        added = arrays[2][..., :1] if bias is None else bias
        z = multiply(added, *arrays[:2], alpha=alpha, beta=0 if bias is None else 1)
        if kept is not None:
            kept.copy_(z)
        if problem.gate is Gate.NONE:
            z = activated(torch, problem.activation, z)
        else:
            half = problem.n // 2
            halves = problem.gate is Gate.HALVES
            gates, factors = (z[..., :half], z[..., half:]) if halves else (z[..., 0::2], z[..., 1::2])
            z = activated(torch, problem.activation, gates) * factors
        if c is None:
            arrays[2].copy_(z)
        else:
            torch.add(z, c, alpha=beta, out=arrays[2])

    return compute


def _with_tf32(torch: Any, multiply: Callable[..., Any]) -> Callable[..., Any]:
    def rounded(*arguments: Any, **options: Any) -> Any:
        flags = torch.backends.cuda.matmul
        before, flags.allow_tf32 = flags.allow_tf32, True
        try:
            return multiply(*arguments, **options)
        finally:
            flags.allow_tf32 = before

    return rounded


_TORCH = TorchCall(
    "cuBLAS, through torch.addmm, torch.baddbmm, torch._scaled_mm or torch._int_mm, and calls for further steps",
    _product,
)
BASELINES: Mapping[str, TorchCall | str] = {
    "cublas": _TORCH,
    "cublaslt": "bench.baselines.matmul.cublaslt:GEMM",
    "triton": "bench.baselines.matmul.triton_baseline:GEMM",
    "compile": compiled(_TORCH),
}
