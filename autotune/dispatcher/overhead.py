"""What a call costs on the host: from Python's arguments to the launch, against the barest launch and PyTorch's."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from time import perf_counter
from typing import Any

from ..bench.baseline import Launch
from ..bench.turns import interleaved
from .bound import plan
from .operators import sgemm

_CALLS = 100  # of a sample; the driver holds about a thousand launches before it makes callers wait
_SIDE = 64  # of the matrices: a kernel that ends before the next call is through
_EMPTY = 'extern "C" __global__ void empty(const float*, const float*, float*, double, double) {}'
BAREST = "cuda.core.launch"


def missing() -> str:
    """What this machine lacks for the measurement, in one line; empty if nothing."""
    try:
        import torch
    except ImportError:
        return "overheads are not measured without PyTorch with CUDA: pip install torch"
    return "" if torch.cuda.is_available() else "overheads are not measured: PyTorch finds no GPU"


def overheads(rounds: int) -> Mapping[str, tuple[float, ...]]:
    """Seconds of a call, by contender: `rounds` samples each, taken in turns on an idle stream of GPU 0."""
    import torch

    def sample(launch: Launch) -> float:
        torch.cuda.synchronize()
        begin = perf_counter()
        for _ in range(_CALLS):
            launch()
        return (perf_counter() - begin) / _CALLS

    with torch.no_grad(), torch.cuda.stream(torch.cuda.Stream()):
        return interleaved(_contenders(torch), sample, rounds)


def _contenders(torch: Any) -> dict[str, Launch]:
    """Calls with the same arguments: the barest one launches an empty kernel, all others multiply."""
    a, b, c = (torch.rand(_SIDE, _SIDE, device="cuda") for _ in range(3))
    return {
        BAREST: _barest(torch, a, b, c),
        "dispatcher.plan": plan("sgemm", a, b, out=c),
        "dispatcher.sgemm(out=)": partial(sgemm, a, b, out=c),
        "torch.mm(out=)": partial(torch.mm, a, b, out=c),
    }


def _barest(torch: Any, a: Any, b: Any, c: Any) -> Launch:
    """cuda.core takes no struct by value, so this kernel has the arguments of a call one by one."""
    from cuda.core import Device, LaunchConfig, Program, ProgramOptions, Stream, launch

    device = Device(0)
    device.set_current()
    options = ProgramOptions(arch=f"sm_{device.arch}")
    kernel = Program(_EMPTY, "c++", options).compile("cubin").get_kernel("empty")
    stream = Stream.from_handle(torch.cuda.current_stream().cuda_stream)
    pointers = (a.data_ptr(), b.data_ptr(), c.data_ptr())
    return partial(launch, stream, LaunchConfig(grid=1, block=32), kernel, *pointers, 1.0, 0.0)
