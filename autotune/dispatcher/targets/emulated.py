"""The target of arrays in the CPU's memory: the emulator."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from time import monotonic
from typing import Any

import numpy as np

from autotune.codegen.model.lists import member
from autotune.codegen.model.packing import tensor_maps
from autotune.codegen.model.problem import Array, Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor import Role, Tensor
from autotune.codegen.model.tensor_map import TensorMap
from autotune.emulator import EmulatorError, run
from autotune.emulator.build import command
from autotune.search_spaces.contract.baselines import Substitute
from autotune.search_spaces.machine.devices import named_device

from .base import Code, Kernel, LaunchError

_MODEL = "h200"  # whose limits and records serve: a device that has all that kernels may ask for


class Emulator:
    """Runs kernels as the offline device ``h200`` would have them; a launch returns when it is done."""

    libraries: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.spec = named_device(_MODEL)

    def load(self, problem: Problem, program: Program, code: Code) -> Kernel:
        """See `Target`."""
        command(program)
        return _EmulatedKernel(problem, program)

    def compiled(self, program: Program) -> bool:
        """Never: what the emulator builds is as slow for one shape as for any."""
        return False

    def substitute(self, problem: Problem, substitute: Substitute) -> Kernel:
        """None computes here."""
        raise LaunchError(f"{substitute.library} does not compute on the CPU")

    def encoder(self, tensor_map: TensorMap, memory: int) -> Callable[[int], None]:
        """What puts the address there: the emulator encodes maps for the memory of its own process."""
        words = ctypes.c_uint64.from_address(memory)

        def put(address: int) -> None:
            words.value = address - tensor_map.offset

        return put

    def seconds(self, launch: Callable[[], None], stream: int) -> float:
        """See `Target`."""
        begin = monotonic()
        launch()
        return monotonic() - begin

    def synchronize(self, stream: int) -> None:
        """A launch was done when it returned."""

    def capturing(self, stream: int) -> bool:
        """Never."""
        return False


class _EmulatedKernel:
    def __init__(self, problem: Problem, program: Program) -> None:
        self._problem = problem
        self._program = program

    def bound(self, packed: ctypes.Structure) -> Callable[[int], None]:
        return lambda stream: self._launch(packed)

    def _launch(self, packed: ctypes.Structure) -> None:
        program = self._program
        values: dict[str, Any] = {one.brought: getattr(packed, member(one.brought)) for one in program.brought}
        for one, address in tensor_maps(program.blocks, packed):
            values.setdefault(one.tensor, ctypes.c_uint64.from_address(address).value)
        tensors = self._problem.tensors_with(values)
        buffers = {tensor.name: _flat(tensor, values[tensor.name]) for tensor in tensors}
        outputs = [tensor for tensor in tensors if tensor.role is not Role.INPUT]
        # The gaps of an output belong to the caller: another thread may write there meanwhile.
        copies = {_place(buffers[tensor.name]): buffers[tensor.name].copy() for tensor in outputs}
        arrays = {name: copies.get(_place(buffer), buffer) for name, buffer in buffers.items()}
        try:
            run(program, tensors, arrays, values)
        except EmulatorError as error:
            # The caller's numbers come before the kernel, unless others have a result, too: they are read as
            # AUTOTUNE_CHECK=1 has them read.
            indexing = {one.name: one for one in tensors if one.indices}
            if not any(one.indices.tolerant for one in indexing.values() if one.indices):
                indices = {name: one.view(arrays[name]) for name, one in indexing.items()}
                if wrong := self._problem.why_misleading(indices):
                    raise ValueError(wrong) from None
            raise LaunchError(str(error)) from None
        for tensor in outputs:
            tensor.view(buffers[tensor.name])[...] = tensor.view(arrays[tensor.name])


def _flat(tensor: Tensor, pointer: int) -> Array:
    """A tensor's flat buffer, where the caller's array has it."""
    if not tensor.size:
        return np.empty(0, tensor.dtype.numpy)
    memory: Any = (ctypes.c_char * tensor.bytes).from_address(pointer)
    return np.frombuffer(memory, tensor.dtype.numpy)


def _place(buffer: Array) -> tuple[int, int]:
    """Where it is, the same for an output and the input whose array it is."""
    return buffer.ctypes.data, buffer.nbytes
