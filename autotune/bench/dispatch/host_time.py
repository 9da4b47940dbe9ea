"""What a call costs on the host: from Python's arguments to the launch, against the barest launch and PyTorch's."""

from __future__ import annotations

from collections.abc import Mapping
from ctypes import c_void_p
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from autotune import dispatcher
from autotune.bench.baseline import Launcher
from autotune.bench.interleave import interleaved
from autotune.bench.torch_tensors import torch_tensor
from autotune.codegen.model.lists import is_element
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.program import Program
from autotune.devices.cuda import CudaDevice
from autotune.search_spaces.contract.baselines import TorchCall
from autotune.search_spaces.contract.operator import Operator

from .example_call import example_call, problem_of_sizes

_CALLS = 100  # calls of a sample; the driver holds about a thousand launches before it makes callers wait
_SIZE = 64  # elements of each size: a kernel that ends before the next call is through
BAREST = "cuda.core.launch"


def missing() -> str:
    """What this machine lacks for the measurement, in one line; empty if nothing."""
    try:
        import torch
    except ImportError:
        return "overheads are not measured without PyTorch with CUDA: pip install torch"
    return "" if torch.cuda.is_available() else "overheads are not measured: PyTorch finds no GPU"


def overheads(operator: Operator[Any, Any], rounds: int) -> Mapping[str, tuple[float, ...]]:
    """Seconds of a call, by contender: `rounds` samples each, taken in turns on an idle stream of GPU 0.

    The contenders are the dispatcher's function, its plan, the operator's first call of PyTorch, and `BAREST`, a launch
    by cuda.core of the very kernel that serves them, if one launch computes the problem.

    Raises:
        ValueError: no call is known to compute a small problem.
    """
    import torch

    def sample(launch: Launcher) -> float:
        torch.cuda.synchronize()
        begin = perf_counter()
        for _ in range(_CALLS):
            launch()
        return (perf_counter() - begin) / _CALLS

    problem = problem_of_sizes(operator.problem_type, lambda _, spec: min(_SIZE, spec.example or _SIZE))
    with torch.no_grad(), torch.cuda.stream(torch.cuda.Stream()):
        return interleaved(_contenders(operator, problem, torch), sample, rounds)


def _contenders(operator: Operator[Any, Any], problem: Problem, torch: Any) -> dict[str, Launcher]:
    """Calls that compute one problem on the same arrays."""
    example = example_call(operator, problem)
    tensors = {
        tensor.name: torch_tensor(torch, tensor, torch.zeros(tensor.bytes, dtype=torch.uint8, device="cuda"))
        for tensor in problem.tensors
    }
    arrays = {
        name: tensors[tensor.name].as_strided(example.shape(name), example.strides(name))
        for name, tensor in example.tensors.items()
    }
    arguments = example.bound(arrays)
    step = dispatcher.plan(operator.name, *arguments.args, **arguments.kwargs)
    assert step.choice
    spec = CudaDevice(0).spec
    program = operator.program(problem, step.choice.schedule, spec)
    contenders: dict[str, Launcher] = {}
    if launches_barely(program):
        contenders[BAREST] = _barest(torch, problem, program, spec.arch, tensors)
    contenders["dispatcher.plan"] = step
    function = getattr(dispatcher, operator.name)
    contenders[f"dispatcher.{operator.name}(out=)"] = partial(function, *arguments.args, **arguments.kwargs)
    for stated in operator.baselines.values():
        if isinstance(stated, TorchCall):
            contenders[stated.summary] = stated.bind(torch, problem, tensors)
            break
    return contenders


def _barest(torch: Any, problem: Problem, program: Program, arch: str, tensors: Mapping[str, Any]) -> Launcher:
    """cuda.core takes no struct by value: the kernel is compiled to take the struct's members one by one."""
    from cuda.core import Device, LaunchConfig, ProgramOptions, Stream, launch
    from cuda.core import Program as CudaProgram

    device = Device(0)
    device.set_current()
    options = ProgramOptions(arch=arch + program.arch_suffix, std="c++17")
    kernel = CudaProgram(_with_members(program), "c++", options).compile("cubin").get_kernel(program.name)
    workspace = torch.zeros(max(1, program.workspace_bytes), dtype=torch.int8, device="cuda")
    addresses = {name: tensor.data_ptr() for name, tensor in {**tensors, "workspace": workspace}.items()}
    packed = program.pack(addresses, problem.scalars)
    values = [getattr(packed, argument.name) for argument in program.arguments]
    # A Python number would be 8 bytes wide, and cuda.core is many times as slow with numbers of ctypes.
    arguments = [
        value if argument.ctype is c_void_p else np.dtype(argument.ctype).type(value)
        for value, argument in zip(values, program.arguments, strict=True)
    ]
    config = LaunchConfig(grid=program.launch.grid, block=program.launch.block, shmem_size=program.launch.shared_bytes)
    stream = Stream.from_handle(torch.cuda.current_stream().cuda_stream)
    launcher = partial(launch, stream, config, kernel, *arguments)
    launcher.workspace = workspace  # type: ignore[attr-defined] # which must live as long
    return launcher


def launches_barely(program: Program) -> bool:
    """Whether one launch by cuda.core runs a program: one kernel, whose arguments are no tensor maps and no lists."""
    single = program.plain and len(program.unrolled) == 1
    return single and not any(one.tensor_map or is_element(one.name) for one in program.arguments)


def _with_members(program: Program) -> str:
    """The source of a kernel whose entry takes the members of its argument struct."""
    members = ", ".join(f"{argument.cuda_type} {argument.name}_" for argument in program.arguments)
    struct = ", ".join(f"{argument.name}_" for argument in program.arguments)
    signature, entry = "(const Arguments arguments) {", f" {program.name}"
    assert program.source.count(entry + signature) == 1
    return program.source.replace(entry + signature, f"{entry}({members}) {{ const Arguments arguments = {{{struct}}};")
