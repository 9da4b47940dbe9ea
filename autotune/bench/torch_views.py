"""The operands of an sgemm as PyTorch tensors over a session's buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..codegen.matmul.sgemm.problem import SgemmProblem
from ..dispatcher.targets import true_fp32

if TYPE_CHECKING:
    from ..devices.cuda_session import CudaSession


def torch_missing(baseline: str) -> str:
    """What keeps PyTorch from using a GPU here, as `Baseline.missing` says it."""
    true_fp32.enforce()
    try:
        import torch
    except ImportError:
        return f"the baseline {baseline} needs PyTorch with CUDA: pip install torch"
    if torch.cuda.is_available():
        return ""
    return f"the baseline {baseline} needs PyTorch with CUDA, and PyTorch {torch.__version__} here finds no GPU"


def operands(session: CudaSession) -> tuple[Any, Any, Any]:
    """op(A), op(B) and C as batch × rows × columns; nothing is copied."""
    problem = session.problem
    assert isinstance(problem, SgemmProblem)
    a, b, c = (_stored(session, problem, operand) for operand in "abc")
    return a.mT if problem.transpose_a else a, b.mT if problem.transpose_b else b, c


def _stored(session: CudaSession, problem: SgemmProblem, operand: str) -> Any:
    """Matrices as they lie in memory."""
    import torch

    rows, columns = problem.stored[operand]
    strides = (getattr(problem, f"stride_{operand}"), getattr(problem, f"ld{operand}"), 1)
    size = next(tensor.size for tensor in problem.tensors if tensor.name == operand)
    flat = torch.as_tensor(_Words(session.pointer(operand), size), device="cuda")
    return flat.as_strided((problem.batch, rows, columns), strides)


class _Words:
    """FP32 words in device memory, as the CUDA array interface describes them."""

    def __init__(self, pointer: int, size: int) -> None:
        self.__cuda_array_interface__ = {
            "shape": (size,),
            "typestr": "<f4",
            "data": (pointer, False),
            "version": 3,
        }
