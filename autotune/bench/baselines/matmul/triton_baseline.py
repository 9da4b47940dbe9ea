"""The baseline ``triton``: ``tl.dot(input_precision="ieee")`` under Triton's own autotuner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ....codegen.matmul.sgemm.problem import SgemmProblem
from ....search_spaces.matmul.sgemm.baselines import operands
from ...baseline import Baseline, Launcher
from ...torch_tensors import session_tensors, torch_missing

if TYPE_CHECKING:
    from ....devices.cuda_session import CudaSession


@contextmanager
def _prepare(session: CudaSession) -> Iterator[Launcher]:
    import torch

    problem = session.problem
    assert isinstance(problem, SgemmProblem)
    a, b, c = operands(problem, session_tensors(session))
    scalars = problem.scalars
    stream = torch.cuda.ExternalStream(session.stream)

    def launch() -> None:
        with torch.cuda.stream(stream):
            multiply(a, b, c, scalars["alpha"], scalars["beta"])

    launch()  # the first launch of a shape tries every configuration
    yield launch


def multiply(a: Any, b: Any, c: Any, alpha: float, beta: float) -> None:
    """C = alpha·A·B + beta·C on tensors of batch × rows × columns; rows of C have no gaps between their words."""
    import triton

    from .triton_sgemm import sgemm

    batch, m, k = a.shape
    n = c.shape[2]

    def grid(config: Mapping[str, int]) -> tuple[int, int]:
        return triton.cdiv(m, config["block_m"]) * triton.cdiv(n, config["block_n"]), batch

    sgemm[grid](a, b, c, alpha, beta, m, n, k, *a.stride(), *b.stride(), *c.stride()[:2], beta_nonzero=beta != 0)


def _missing() -> str:
    if find_spec("triton") is None:
        return "the baseline triton needs Triton and PyTorch with CUDA: pip install torch triton"
    return torch_missing("triton")


def _versions() -> Mapping[str, str]:
    import torch
    import triton

    return {"torch": torch.__version__, "triton": triton.__version__}


TRITON = Baseline(
    summary='Triton, tl.dot(input_precision="ieee"), by its own autotuner',
    computes=True,
    missing=_missing,
    versions=_versions,
    prepare=_prepare,
)
