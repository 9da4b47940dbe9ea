"""A run of a program in a process of its own."""

from __future__ import annotations

import ctypes
import re
import signal
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from autotune.base.errors import AutotuneError
from autotune.codegen.model.hardware import MOST_ARGUMENT_BYTES
from autotune.codegen.model.launch import Launch, Memset, Region
from autotune.codegen.model.packing import laid_out
from autotune.codegen.model.problem import Array
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor import Role, Tensor

from .build import NEWEST, command
from .request import request
from .sparse import elements

_TRAPS = (signal.SIGILL, signal.SIGTRAP)  # of an overflow, by processor


class EmulatorError(AutotuneError, RuntimeError):
    """What a kernel did wrong, in one line."""


class EmulatorKilledError(EmulatorError):
    """The process was killed twice, as the system does when memory runs out: the kernel may not be to blame."""


def run(
    program: Program,
    tensors: Iterable[Tensor],
    arrays: Mapping[str, Array],
    scalars: Mapping[str, float],
    *,
    seed: int = 0,
    runs: int = 1,
    cpu_seconds: int = 60,
    ends: int = 0,
    checks_block_numbers: bool = False,
    compute_capability: tuple[int, int] = NEWEST,
) -> None:
    """Run the steps of a program on flat arrays; outputs are changed in place.

    Args:
        program: a launch of a grid with a zero is left out.
        tensors: what the program's pointers refer to, such as `Problem.tensors`.
        arrays: for each tensor, an array of its dtype and of `Tensor.size` elements, one after another in memory.
            An output may share the array of another tensor: then the kernel gets the same address for both.
        scalars: the arguments that the problem does not fix.
        seed: the order of blocks and of threads between barriers: 0 goes up, 1 goes down, others are random.
        runs: how often to run all steps, each time on the arrays as they were given but on one workspace; the
            arrays get the outcome of the last run.
        cpu_seconds: after how long to give up.
        ends: the first and the last so many clusters of each launch run, and no others; 0: all of them.
        checks_block_numbers: whether sums and products of blockIdx and gridDim in 32 bits are errors if they wrap.
        compute_capability: of the device whose branches of the source are taken, such as what multiplies where tensor
            cores lack a type.

    Raises:
        EmulatorError: the kernel did something that a GPU does not allow or that has no defined result.
        CompileError: g++ refused the kernel.
        HostCompilerMissingError: there is no g++.
        ValueError: an array does not fit its tensor.
    """
    tensors = [tensor for tensor in tensors if tensor.name in program.tensor_names]
    for tensor in tensors:
        _check_array(tensor, arrays[tensor.name])
    _check_arguments(program)
    for step in program.unrolled:
        if isinstance(step, Memset):
            _check_memset(step, program.workspace_bytes)
        else:
            _check_launch(step)
            _check_declared(step, program.modules[step.module].source)
            _check_regions(step, program.workspace_bytes)
    if program.empty:
        return
    buffers, buffer_of = _buffers(tensors, arrays)
    limits = {"runs": runs, "cpu_seconds": cpu_seconds, "ends": ends}
    asked = request(program, buffers, buffer_of, arrays, scalars, seed=seed, **limits)
    built = partial(command, program, compute_capability=compute_capability, checks_block_numbers=checks_block_numbers)
    completed = subprocess.run(built(), input=asked, capture_output=True, check=False)
    if completed.returncode == -signal.SIGKILL:
        completed = subprocess.run(built(), input=asked, capture_output=True, check=False)
    if -completed.returncode in _TRAPS:
        completed = subprocess.run(built(explains=True), input=asked, capture_output=True, check=False)
    _check_outcome(completed, program, cpu_seconds)
    _copy_outputs(completed.stdout, [(t, arrays[t.name]) for t in buffers if t.role is not Role.INPUT])


def _check_array(tensor: Tensor, array: Array) -> None:
    if array.dtype != tensor.dtype.numpy or array.shape != (tensor.size,) or not array.flags.c_contiguous:
        raise ValueError(
            f"{tensor.name} is a {array.dtype} array of shape {array.shape}; "
            f"expected {tensor.dtype} of shape ({tensor.size},) without gaps"
        )


def _buffers(tensors: list[Tensor], arrays: Mapping[str, Array]) -> tuple[list[Tensor], dict[str, str]]:
    """The tensors that get a buffer, and for each tensor the name of the one whose buffer it has.

    An output whose array begins where another tensor's does has the buffer of that one, which is read and written then.
    """
    buffers: list[Tensor] = []
    buffer_of: dict[str, str] = {}
    for tensor in tensors:
        name = tensor.name
        index = next((i for i, other in enumerate(buffers) if _shared(tensor, other, arrays)), None)
        if index is None:
            buffers.append(tensor)
        else:
            alignment = max(tensor.alignment, buffers[index].alignment)
            tensor = buffers[index] = replace(buffers[index], role=Role.IN_OUT, alignment=alignment)
        buffer_of[name] = tensor.name
    return buffers, buffer_of


def _shared(tensor: Tensor, other: Tensor, arrays: Mapping[str, Array]) -> bool:
    first, second = arrays[tensor.name], arrays[other.name]
    if first.ctypes.data != second.ctypes.data or not (tensor.size and other.size):
        return False
    if tensor.role is other.role is Role.INPUT:
        return False
    if first.nbytes != second.nbytes:
        raise ValueError(
            f"{tensor.name} of {first.nbytes} bytes begins where {other.name} of {second.nbytes} bytes does: "
            "expected the same array, or memory of its own"
        )
    return True


def _check_arguments(program: Program) -> None:
    """That a launch can take them; those with lists of arrays may be too many."""
    size = max((ctypes.sizeof(kind) for kind in laid_out(program.blocks)[0]), default=0)
    if size > MOST_ARGUMENT_BYTES:
        raise EmulatorError(
            f"{program.name} takes arguments of {size} bytes: a launch has {MOST_ARGUMENT_BYTES} at most"
        )


def _check_launch(launch: Launch) -> None:
    """The limits that all CUDA devices share."""
    named = [
        *(("block", *pair) for pair in zip(launch.block, (1024, 1024, 64), strict=True)),
        ("threads in a block", launch.threads, 1024),
    ]
    for name, value, limit in named:
        if value > limit:
            raise EmulatorError(f"launch of grid {launch.grid} block {launch.block}: {name} {value} over {limit}")
    ranks, *others = launch.cluster
    if others != [1, 1] or ranks > 16 or launch.grid[0] % ranks:
        raise EmulatorError(
            f"launch of grid {launch.grid} in clusters of {launch.cluster}: expected 16 blocks or fewer, all along x, "
            "that divide the grid"
        )


def _check_declared(launch: Launch, source: str) -> None:
    """That the entry is declared for the launch: CUDA refuses more threads than its bounds, and other clusters."""
    declared = re.search(rf"__global__ void([^{{}};]*?)\b{launch.entry}\(", source)
    attributes = declared[1] if declared else ""
    bounds = re.search(r"__launch_bounds__\((\d+)", attributes)
    if bounds and launch.threads > int(bounds[1]):
        raise EmulatorError(f"{launch.entry} has __launch_bounds__({bounds[1]}) and is launched with {launch.threads}")
    dims = re.search(r"__cluster_dims__\((\d+), (\d+), (\d+)\)", attributes)
    cluster = tuple(map(int, dims.groups())) if dims else (1, 1, 1)
    if launch.cluster != cluster:
        raise EmulatorError(
            f"{launch.entry} has __cluster_dims__{cluster} and is launched in clusters {launch.cluster}"
        )


def _check_memset(step: Memset, workspace_bytes: int) -> None:
    if step.offset < 0 or step.bytes < 0 or step.offset + step.bytes > workspace_bytes:
        raise EmulatorError(
            f"a memset sets bytes {step.offset} to {step.offset + step.bytes - 1} of the workspace, "
            f"which has {workspace_bytes} bytes"
        )


def _check_regions(launch: Launch, workspace_bytes: int) -> None:
    """That the parts of the workspace which a launch takes lie in it, and are apart unless they are the same."""
    regions = dict.fromkeys(value for _, value in launch.arguments if isinstance(value, Region))
    end = 0
    for one in sorted(regions, key=lambda region: region.offset):
        taken = f"{launch.entry} takes bytes {one.offset} to {one.offset + one.bytes - 1} of the workspace"
        if one.offset + one.bytes > workspace_bytes:
            raise EmulatorError(f"{taken}, which has {workspace_bytes} bytes")
        if one.offset < end:
            raise EmulatorError(f"{taken}, and others up to byte {end - 1}: expected parts that do not overlap")
        end = one.offset + one.bytes


def _check_outcome(completed: subprocess.CompletedProcess[bytes], program: Program, cpu_seconds: int) -> None:
    if completed.returncode == 0:
        return
    if completed.returncode == -signal.SIGXCPU:
        raise EmulatorError(f"the kernel did not end within {cpu_seconds} s of CPU time")
    if completed.returncode == -signal.SIGKILL:
        raise EmulatorKilledError("the emulator was killed, twice: did memory run out?")
    if completed.returncode < 0:
        raise EmulatorError(f"the kernel crashed with {signal.Signals(-completed.returncode).name}")
    message, _, number = completed.stderr.decode().strip().rpartition("\n")
    raise EmulatorError(message + _place(program, int(number)))


def _place(program: Program, number: int) -> str:
    """Which launch of several a message is about: `` (in count 2 of 8)``."""
    steps = [step for step, _ in program.numbered]
    if number < 0 or len(steps) == 1 or not isinstance(launch := steps[number], Launch):
        return ""
    same = [index for index, step in enumerate(steps) if isinstance(step, Launch) and step.entry == launch.entry]
    turn = f" {same.index(number) + 1} of {len(same)}" if len(same) > 1 else ""
    return f" (in {launch.entry}{turn})"


def _copy_outputs(data: bytes, outputs: list[tuple[Tensor, Array]]) -> None:
    position = 0
    for tensor, array in outputs:
        written = elements(tensor, array)
        written[...] = np.frombuffer(data, array.dtype, written.size, position).reshape(written.shape)
        position += written.nbytes
