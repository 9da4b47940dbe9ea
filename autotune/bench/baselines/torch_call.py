"""Baselines that are a call of PyTorch, with TF32 off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from ...search_spaces.baselines import TorchCall
from ..baseline import Baseline, Launcher
from ..torch_tensors import session_tensors, torch_missing

if TYPE_CHECKING:
    from ...devices.cuda_session import CudaSession


def torch_baseline(name: str, call: TorchCall) -> Baseline:
    """The baseline of a call that an operator states under this name."""
    return Baseline(
        summary=call.summary,
        computes=not call.random,
        missing=partial(torch_missing, name),
        versions=partial(_versions, call.packages),
        prepare=partial(_prepare, call),
    )


@contextmanager
def _prepare(call: TorchCall, session: CudaSession) -> Iterator[Launcher]:
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    compute = call.bind(torch, session.problem, session_tensors(session))
    stream = torch.cuda.ExternalStream(session.stream)

    def launch() -> None:
        with torch.cuda.stream(stream):
            compute()

    yield launch


def _versions(packages: tuple[str, ...]) -> Mapping[str, str]:
    import torch

    found = {"torch": torch.__version__}
    for package in packages:
        with suppress(PackageNotFoundError):  # a PyTorch that was not built for the wheels of CUDA
            found[package.removeprefix("nvidia-")] = version(package)
    return found
