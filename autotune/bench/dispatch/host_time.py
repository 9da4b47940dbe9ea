"""What a call costs on the host: from Python's arguments to the launch, against the barest launch and PyTorch's."""

from __future__ import annotations

from collections.abc import Mapping
from ctypes import c_void_p
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from ...codegen.matmul.sgemm.problem import SgemmProblem
from ...codegen.program import Program
from ...codegen.schedule import Schedule
from ...devices.cuda import CudaDevice
from ...dispatcher import plan, sgemm
from ...search_spaces.registry import operator
from ..baseline import Launcher
from ..interleave import interleaved

_CALLS = 100  # of a sample; the driver holds about a thousand launches before it makes callers wait
_SIDE = 64  # of the matrices: a kernel that ends before the next call is through
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

    def sample(launch: Launcher) -> float:
        torch.cuda.synchronize()
        begin = perf_counter()
        for _ in range(_CALLS):
            launch()
        return (perf_counter() - begin) / _CALLS

    with torch.no_grad(), torch.cuda.stream(torch.cuda.Stream()):
        return interleaved(_contenders(torch), sample, rounds)


def _contenders(torch: Any) -> dict[str, Launcher]:
    """Calls with the same arguments; the barest one launches the kernel that serves them all."""
    a, b, c = (torch.rand(_SIDE, _SIDE, device="cuda") for _ in range(3))
    step = plan("sgemm", a, b, out=c)
    assert step.choice
    return {
        BAREST: _barest(torch, step.choice.schedule, a, b, c),
        "dispatcher.plan": step,
        "dispatcher.sgemm(out=)": partial(sgemm, a, b, out=c),
        "torch.mm(out=)": partial(torch.mm, a, b, out=c),
    }


def _barest(torch: Any, schedule: Schedule, a: Any, b: Any, c: Any) -> Launcher:
    """cuda.core takes no struct by value: the kernel is compiled to take the struct's members one by one."""
    from cuda.core import Device, LaunchConfig, ProgramOptions, Stream, launch
    from cuda.core import Program as CudaProgram

    device = Device(0)
    device.set_current()
    sgemm, problem, limits = operator("sgemm"), SgemmProblem(_SIDE, _SIDE, _SIDE), CudaDevice(0).limits
    program = sgemm.program(problem, schedule, limits)
    options = ProgramOptions(arch=limits.arch, std="c++17")
    kernel = CudaProgram(_with_members(program), "c++", options).compile("cubin").get_kernel(program.name)
    workspace = torch.zeros(max(1, program.workspace_bytes), dtype=torch.int8, device="cuda")
    pointers = {"a": a, "b": b, "c": c, "workspace": workspace}
    packed = program.pack({name: tensor.data_ptr() for name, tensor in pointers.items()}, {"alpha": 1.0, "beta": 0.0})
    values = [getattr(packed, argument.name) for argument in program.arguments]
    # A Python number would be 8 bytes wide, and cuda.core is many times as slow with numbers of ctypes.
    arguments = [
        value if argument.ctype is c_void_p else np.dtype(argument.ctype).type(value)
        for value, argument in zip(values, program.arguments, strict=True)
    ]
    config = LaunchConfig(grid=program.launch.grid, block=program.launch.block, shmem_size=program.launch.shared_bytes)
    stream = Stream.from_handle(torch.cuda.current_stream().cuda_stream)
    keeping = partial(launch, stream, config, kernel, *arguments)
    keeping.workspace = workspace  # type: ignore[attr-defined]
    return keeping


def _with_members(program: Program) -> str:
    """The source of a kernel whose entry takes the members of its argument struct."""
    members = ", ".join(f"{argument.cuda_type} {argument.name}_" for argument in program.arguments)
    struct = ", ".join(f"{argument.name}_" for argument in program.arguments)
    signature, entry = "(const Arguments arguments) {", f" {program.name}"
    assert program.source.count(entry + signature) == 1
    return program.source.replace(entry + signature, f"{entry}({members}) {{ const Arguments arguments = {{{struct}}};")
