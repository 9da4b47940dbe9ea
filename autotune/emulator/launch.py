"""One launch of a kernel in a process of its own."""

from __future__ import annotations

import ctypes
import signal
import subprocess
from collections.abc import Iterable, Mapping
from enum import IntEnum

import numpy as np

from ..codegen.problem import Array
from ..codegen.program import Launch, Program
from ..codegen.tensor import Role, Tensor
from ..errors import AutotuneError
from .build import executable

_WORKSPACE_ALIGNMENT = 256  # of cudaMalloc


class EmulatorError(AutotuneError, RuntimeError):
    """What a kernel did wrong, in one line."""


class _Use(IntEnum):
    READ_ONLY = 0
    WRITE_FIRST = 1
    READ_WRITE = 2
    WORKSPACE = 3


_USES = {Role.INPUT: _Use.READ_ONLY, Role.OUTPUT: _Use.WRITE_FIRST, Role.IN_OUT: _Use.READ_WRITE}


class _Request(ctypes.Structure):
    """The twin of main.cpp's Request."""

    _fields_ = (
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("shared_bytes", ctypes.c_int64),
        ("seed", ctypes.c_uint32),
        ("launches", ctypes.c_uint32),
        ("cpu_seconds", ctypes.c_uint32),
        ("buffers", ctypes.c_uint32),
        ("argument_bytes", ctypes.c_uint32),
        ("ranks", ctypes.c_uint32),
    )


class _Buffer(ctypes.Structure):
    """The twin of main.cpp's Buffer."""

    _fields_ = (
        ("name", ctypes.c_char * 64),
        ("bytes", ctypes.c_int64),
        ("alignment", ctypes.c_int64),
        ("argument_offset", ctypes.c_int32),
        ("use", ctypes.c_int32),
    )


def run(
    program: Program,
    tensors: Iterable[Tensor],
    arrays: Mapping[str, Array],
    scalars: Mapping[str, float],
    *,
    seed: int = 0,
    launches: int = 1,
    cpu_seconds: int = 60,
) -> None:
    """Run a kernel on flat arrays; outputs are changed in place.

    Args:
        program: the kernel; a grid with a zero runs nothing.
        tensors: what the kernel's pointers refer to, such as `Problem.tensors`.
        arrays: for each tensor, an array of its dtype and of `Tensor.size` elements, one after another in memory.
        scalars: the arguments that the problem does not fix.
        seed: the order of blocks and of threads between barriers: 0 goes up, 1 goes down, others are random.
        launches: how often to launch, each time on the arrays as they were given but on one workspace; the arrays
            get the outcome of the last launch.
        cpu_seconds: after how long to give up.

    Raises:
        EmulatorError: the kernel did something that a GPU does not allow or that has no defined result.
        CompileError: g++ refused the kernel.
        HostCompilerMissingError: there is no g++.
        ValueError: an array does not fit its tensor.
    """
    tensors = [tensor for tensor in tensors if any(tensor.name == a.name for a in program.arguments)]
    for tensor in tensors:
        _check_array(tensor, arrays[tensor.name])
    _check_launch(program.launch)
    if program.launch.blocks == 0:
        return
    request = _request(program, tensors, arrays, scalars, (seed, launches, cpu_seconds))
    completed = subprocess.run([executable(program)], input=request, capture_output=True, check=False)
    _check_outcome(completed, cpu_seconds)
    _copy_outputs(completed.stdout, [(t, arrays[t.name]) for t in tensors if t.role is not Role.INPUT])


def _check_array(tensor: Tensor, array: Array) -> None:
    if array.dtype != tensor.dtype.numpy or array.shape != (tensor.size,) or not array.flags.c_contiguous:
        raise ValueError(
            f"{tensor.name} is a {array.dtype} array of shape {array.shape}; "
            f"expected {tensor.dtype} of shape ({tensor.size},) without gaps"
        )


def _check_launch(launch: Launch) -> None:
    """The limits that all CUDA devices share."""
    named = [
        *(("grid", *pair) for pair in zip(launch.grid, (2**31 - 1, 65535, 65535), strict=True)),
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


def _request(
    program: Program,
    tensors: list[Tensor],
    arrays: Mapping[str, Array],
    scalars: Mapping[str, float],
    settings: tuple[int, int, int],
) -> bytes:
    """What main.cpp reads: the request, the buffers, the packed arguments, the contents of the tensors."""
    launch = program.launch
    # The process puts its own addresses in the place of these zeros.
    arguments = program.pack({a.name: 0 for a in program.arguments}, scalars)
    buffers = [
        _Buffer(t.name.encode(), t.bytes, t.alignment, _offset(arguments, t.name), _USES[t.role]) for t in tensors
    ]
    if program.workspace_bytes:
        offset = _offset(arguments, "workspace")
        buffers.append(_Buffer(b"workspace", program.workspace_bytes, _WORKSPACE_ALIGNMENT, offset, _Use.WORKSPACE))
    header = _Request(
        launch.grid,
        launch.block,
        launch.shared_bytes,
        *settings,
        len(buffers),
        ctypes.sizeof(arguments),
        launch.cluster[0],
    )
    return b"".join([header, *buffers, arguments, *(arrays[t.name].tobytes() for t in tensors)])


def _offset(arguments: ctypes.Structure, name: str) -> int:
    offset: int = getattr(type(arguments), name).offset
    return offset


def _check_outcome(completed: subprocess.CompletedProcess[bytes], cpu_seconds: int) -> None:
    if completed.returncode == 0:
        return
    if completed.returncode == -signal.SIGXCPU:
        raise EmulatorError(f"the kernel did not end within {cpu_seconds} s")
    if completed.returncode < 0:
        raise EmulatorError(f"the kernel crashed with {signal.Signals(-completed.returncode).name}")
    raise EmulatorError(completed.stderr.decode().strip())


def _copy_outputs(data: bytes, outputs: list[tuple[Tensor, Array]]) -> None:
    position = 0
    for tensor, array in outputs:
        array[:] = np.frombuffer(data, array.dtype, tensor.size, position)
        position += tensor.bytes
