"""A problem's tensors as PyTorch tensors over memory that is there already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.tensor import Tensor
from autotune.dispatcher.targets import true_fp32

if TYPE_CHECKING:
    from autotune.devices.cuda_session import CudaSession


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


def session_tensors(session: CudaSession) -> dict[str, Any]:
    """The tensors of a session's problem by name, in its buffers; nothing is copied."""
    import torch

    return {
        tensor.name: torch_tensor(
            torch, tensor, torch.as_tensor(_Bytes(session.pointer(tensor.name), tensor.bytes), device="cuda")
        )
        for tensor in session.problem.tensors
    }


def torch_tensor(torch: Any, tensor: Tensor, flat: Any) -> Any:
    """A view of a tensor's bytes, a PyTorch tensor of uint8, with the tensor's dtype, shape and strides.

    Raises:
        TypeError: PyTorch has no such dtype.
    """
    if tensor.dtype is DType.INT4:
        raise TypeError(f"{tensor.name} has dtype {tensor.dtype}, which PyTorch lacks")
    return flat.view(getattr(torch, tensor.dtype)).as_strided(tensor.shape, tensor.strides)


class _Bytes:
    """Device memory, as the CUDA array interface describes it."""

    def __init__(self, pointer: int, size: int) -> None:
        self.__cuda_array_interface__ = {
            "shape": (size,),
            "typestr": "|u1",
            "data": (pointer, False),
            "version": 3,
        }
