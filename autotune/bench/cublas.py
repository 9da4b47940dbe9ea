"""The baseline ``cublas``: what ``torch.addmm`` and ``torch.baddbmm`` call, with TF32 off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from .baseline import Baseline, Launcher
from .torch_views import operands, torch_missing

if TYPE_CHECKING:
    from ..devices.cuda_session import CudaSession


@contextmanager
def _prepare(session: CudaSession) -> Iterator[Launcher]:
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    a, b, c = operands(session)
    scalars = session.problem.scalars
    stream = torch.cuda.ExternalStream(session.stream)
    # The batched call takes other kernels, so a batch of one is not given to it.
    multiply = partial(c[0].addmm_, a[0], b[0]) if c.shape[0] == 1 else partial(c.baddbmm_, a, b)

    def launch() -> None:
        with torch.cuda.stream(stream):
            multiply(alpha=scalars["alpha"], beta=scalars["beta"])

    yield launch


def _versions() -> Mapping[str, str]:
    import torch

    try:
        return {"torch": torch.__version__, "cublas": version("nvidia-cublas")}
    except PackageNotFoundError:  # a PyTorch that was not built for the wheels of CUDA
        return {"torch": torch.__version__}


CUBLAS = Baseline(
    summary="cuBLAS in true FP32, through PyTorch",
    computes=True,
    missing=partial(torch_missing, "cublas"),
    versions=_versions,
    prepare=_prepare,
)
