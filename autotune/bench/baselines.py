"""What users would call instead: libraries that compute the same problem on the same buffers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..codegen.sgemm.problem import SgemmProblem
from ..codegen.transpose.problem import TransposeProblem
from ..devices.base import DeviceError

if TYPE_CHECKING:
    from ..devices.cuda_session import CudaSession

Launch = Callable[[], None]


@dataclass(frozen=True)
class Baseline:
    """One way to do an operator's work.

    Attributes:
        summary: one line for people.
        computes: whether its output is the problem's, and is verified; a copy only moves as many bytes.
        prepare: what launches it on the session's buffers and stream, and the versions that it rests on.
            `DeviceError` names the remedy where a library is missing.
    """

    summary: str
    computes: bool
    prepare: Callable[[CudaSession], tuple[Launch, Mapping[str, str]]]


def _cublas(session: CudaSession) -> tuple[Launch, Mapping[str, str]]:
    """C = alpha·op(A)·op(B) + beta·C by PyTorch's call of cuBLAS, with TF32 off."""
    torch = _torch()
    torch.backends.cuda.matmul.allow_tf32 = False
    problem = session.problem
    assert isinstance(problem, SgemmProblem)
    flat = {tensor.name: torch.as_tensor(_Words(session.pointer(tensor.name), tensor.size), device="cuda")
            for tensor in problem.tensors}  # fmt: skip
    a, b, c = (_matrices(problem, operand, flat[operand]) for operand in "abc")
    a = a.mT if problem.transpose_a else a
    b = b.mT if problem.transpose_b else b
    stream = torch.cuda.ExternalStream(session.stream)
    alpha, beta = problem.scalars["alpha"], problem.scalars["beta"]

    def launch() -> None:
        with torch.cuda.stream(stream):
            if problem.batch == 1:
                c[0].addmm_(a[0], b[0], alpha=alpha, beta=beta)
            else:
                c.baddbmm_(a, b, alpha=alpha, beta=beta)

    return launch, {"torch": torch.__version__, "cublas": _library_version("nvidia-cublas")}


def _matrices(problem: SgemmProblem, operand: str, flat: Any) -> Any:
    """A batch × rows × columns view of a flat tensor."""
    rows, columns = problem.stored[operand]
    strides = (getattr(problem, f"stride_{operand}"), getattr(problem, f"ld{operand}"), 1)
    return flat.as_strided((problem.batch, rows, columns), strides)


def _copy(session: CudaSession) -> tuple[Launch, Mapping[str, str]]:
    """The driver's device-to-device copy of as many bytes as the problem reads."""
    from cuda.bindings import driver
    from cuda.core._utils.cuda_utils import handle_return

    problem = session.problem
    assert isinstance(problem, TransposeProblem)
    source, target = session.pointer("a"), session.pointer("b")
    size = min(tensor.bytes for tensor in problem.tensors)

    def launch() -> None:
        handle_return(driver.cuMemcpyDtoDAsync(target, source, size, session.stream))

    return launch, {}


BASELINES: Mapping[str, Mapping[str, Baseline]] = {
    "sgemm": {"cublas": Baseline("cuBLAS in true FP32, through PyTorch", True, _cublas)},
    "transpose": {"copy": Baseline("a copy of as many bytes", False, _copy)},
}


class _Words:
    """FP32 words in device memory, as the CUDA array interface describes them."""

    def __init__(self, pointer: int, size: int) -> None:
        self.__cuda_array_interface__ = {
            "shape": (size,),
            "typestr": "<f4",
            "data": (pointer, False),
            "version": 3,
        }


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise DeviceError("the baseline cublas needs PyTorch with CUDA: pip install torch") from None
    if not torch.cuda.is_available():
        raise DeviceError("the baseline cublas needs PyTorch with CUDA, and the one installed has none")
    return torch


def _library_version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
