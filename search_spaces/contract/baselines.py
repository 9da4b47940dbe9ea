"""What users would call instead of an operator, and what was published about its presets, as an operator states it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from autotune.base.errors import AutotuneError


class NotTakenError(AutotuneError, ValueError):
    """A baseline has no such problem; the message says which ones it takes."""


@dataclass(frozen=True)
class TorchCall:
    """A call of PyTorch that does an operator's work.

    Attributes:
        summary: one line for people, such as ``torch.softmax``.
        bind: ``bind(torch, problem, tensors)`` returns a function without arguments that computes the outputs in place,
            or returns them by name in a mapping where PyTorch's function makes new tensors. `tensors` are PyTorch
            tensors by name, with the dtypes, shapes and strides of `Problem.tensors`. It raises `NotTakenError` for a
            problem that the call cannot compute.
        packages: distributions beside torch whose versions matter.
        verified: whether its outputs are compared with the problem's. Those are not that follow from other random
            numbers, or that lose more digits on the way than the tolerance allows.
        replayed: whether it can be replayed as a CUDA graph; PyTorch's random numbers cannot.
        needs: a distribution beside torch that the call imports; empty if there is none.
    """

    summary: str
    bind: Callable[[Any, Any, Mapping[str, Any]], Callable[[], Any]]
    packages: tuple[str, ...] = ()
    verified: bool = True
    replayed: bool = True
    needs: str = ""


def compiled(call: TorchCall) -> TorchCall:
    """The same by ``torch.compile`` for one shape.

    Its compiler works in this process, unless the environment says otherwise: on an H200 the first softmax took 14.9 s
    so and 15.7 s with processes of its own, rms_norm 3.4 and 5.3 s, and such processes stay beside what is measured.
    """

    def bind(torch: Any, problem: Any, tensors: Mapping[str, Any]) -> Callable[[], Any]:
        os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")  # read when the compiler is imported
        torch.compiler.reset()  # what was compiled for other problems counts towards a limit
        function = call.bind(torch, problem, tensors)
        made: Callable[[], Any] = torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)
        return made

    return replace(call, summary=f"torch.compile of {call.summary}", bind=bind)


@dataclass(frozen=True)
class Substitute:
    """A library that can compute a problem in place of a kernel, on the same addresses.

    Attributes:
        library: its name; the dispatcher knows ``cublas``.
        compute: ``compute(call, problem, packed)`` computes with the packed arguments of the operator's kernels.
            ``call(function, *arguments)`` calls a function of the library with its handle and these arguments.
    """

    library: str
    compute: Callable[[Callable[..., None], Any, Any], None]


@dataclass(frozen=True)
class Published:
    """Published rates of kernels like an operator's presets, as shares of a baseline's.

    Attributes:
        source: author, title, year.
        device: the GPU of the publication.
        shares: by preset.
    """

    source: str
    device: str
    shares: Mapping[str, float]
