"""The baselines ``triton``: products by ``tl.dot`` under Triton's own autotuner, of sgemm in true FP32."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ....codegen.matmul.gemm.fields import Bias, Gate
from ....codegen.matmul.gemm.problem import GemmProblem
from ....codegen.matmul.gemv.activation import Activation
from ....codegen.matmul.sgemm.problem import SgemmProblem
from ....devices.base import DeviceError
from ....search_spaces.matmul.sgemm.baselines import operands
from ...baseline import Baseline, Launcher
from ...torch_tensors import session_tensors, torch_missing

if TYPE_CHECKING:
    from ....devices.cuda_session import CudaSession


@contextmanager
def _prepare(call_of: Callable[[CudaSession], Callable[[], None]], session: CudaSession) -> Iterator[Launcher]:
    import torch

    call, stream = call_of(session), torch.cuda.ExternalStream(session.stream)

    def launch() -> None:
        with torch.cuda.stream(stream):
            call()

    launch()  # the first launch of a shape tries every configuration
    yield launch


def _sgemm(session: CudaSession) -> Callable[[], None]:
    problem = session.problem
    assert isinstance(problem, SgemmProblem)
    a, b, c = operands(problem, session_tensors(session))
    return partial(multiply, a, b, c, problem.scalars["alpha"], problem.scalars["beta"])


def _gemm(session: CudaSession) -> Callable[[], None]:
    problem = session.problem
    assert isinstance(problem, GemmProblem)
    plain = problem.activation is Activation.IDENTITY and problem.bias is Bias.NONE and problem.gate is Gate.NONE
    if problem.dtype.bits != 16 or problem.residual or problem.preactivation or not plain:
        raise DeviceError(f"it multiplies 16-bit numbers and does nothing else: {problem.key}")
    tensors = session_tensors(session)
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


def _missing() -> str:
    if find_spec("triton") is None:
        return "the baseline triton needs Triton and PyTorch with CUDA: pip install torch triton"
    return torch_missing("triton")


def _versions() -> Mapping[str, str]:
    import torch
    import triton

    return {"torch": torch.__version__, "triton": triton.__version__}


SGEMM = Baseline(
    summary='Triton, tl.dot(input_precision="ieee"), by its own autotuner',
    computes=True,
    missing=_missing,
    versions=_versions,
    prepare=partial(_prepare, _sgemm),
)
GEMM = replace(SGEMM, summary="Triton, a persistent kernel, by its own autotuner", prepare=partial(_prepare, _gemm))
