"""Baselines that are a call of PyTorch, whose products are FP32 where it is asked for and add up in FP32."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from autotune.base.version import version_of
from autotune.bench.baseline import Baseline, BaselineRun
from autotune.bench.torch_tensors import session_tensors, torch_missing
from autotune.search_spaces.contract.baselines import TorchCall

if TYPE_CHECKING:
    from autotune.devices.cuda_session import CudaSession

_MODULES = {"quack-kernels": "quack"}  # distributions whose module has another name
_ROUNDED_EARLY = ("allow_tf32", "allow_fp16_reduced_precision_reduction", "allow_bf16_reduced_precision_reduction")


def torch_baseline(name: str, call: TorchCall) -> Baseline:
    """The baseline of a call that an operator states under this name."""
    return Baseline(
        summary=call.summary,
        verified=call.verified,
        replayed=call.replayed,
        missing=partial(_missing, name, call.needs),
        versions=partial(_versions, (*call.packages, *([call.needs] if call.needs else []))),
        prepare=partial(_prepare, call),
    )


def _missing(name: str, needs: str) -> str:
    if needs and find_spec(_MODULES.get(needs, needs.replace("-", "_"))) is None:
        return f"the baseline {name} needs {needs} and PyTorch with CUDA: pip install torch {needs}"
    return torch_missing(name)


@contextmanager
def _prepare(call: TorchCall, session: CudaSession) -> Iterator[BaselineRun]:
    import torch

    stream, tensors = torch.cuda.ExternalStream(session.stream), session_tensors(session)
    elsewhere: dict[str, Any] = {}  # what the last launch returned, which a replay of it writes to again
    with _exact(torch):
        compute = call.bind(torch, session.problem, tensors)

        def launch() -> None:
            elsewhere.clear()  # whose memory serves again
            with torch.cuda.stream(stream):
                made = compute()
                if isinstance(made, Mapping):
                    elsewhere.update(made)

        def deliver() -> None:
            with torch.cuda.stream(stream):
                for name, result in elsewhere.items():
                    tensors[name].copy_(result)

        yield BaselineRun(launch, deliver)


@contextmanager
def _exact(torch: Any) -> Iterator[None]:
    """FP32 is not cut to TF32, and parts of a sum along k are added up in FP32: without that, bounds are exceeded."""
    products = torch.backends.cuda.matmul
    before = {name: getattr(products, name) for name in _ROUNDED_EARLY}
    try:
        for name in before:
            setattr(products, name, False)
        yield
    finally:
        for name, value in before.items():
            setattr(products, name, value)


def _versions(packages: tuple[str, ...]) -> Mapping[str, str]:
    import torch

    # A PyTorch that was not built for the wheels of CUDA has none of them.
    known = {one.removeprefix("nvidia-"): found for one in packages if (found := version_of(one))}
    return {"torch": torch.__version__} | known
