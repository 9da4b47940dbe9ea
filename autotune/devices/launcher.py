"""A compiled program on a GPU: loaded once, launched with packed arguments on any stream."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from typing import Any

from cuda.bindings import driver
from cuda.core import Kernel, ObjectCode

from autotune.base.cuda_core import handle_return
from autotune.codegen.model.launch import Launch, Memset
from autotune.codegen.model.packing import refresher, structs_of
from autotune.codegen.model.program import Program
from autotune.compiler import CompiledKernel

_Attribute = driver.CUfunction_attribute
_PORTABLE_CLUSTER = 8  # blocks: what every device with clusters runs without being asked


class LoadedProgram:
    """A program in the current CUDA context.

    A cluster of more than one block must be declared by the entry itself (``__cluster_dims__``).

    Raises:
        CUDAError: the driver refuses the code, or the shared memory or cluster that a launch asks for.
    """

    def __init__(self, compiled: CompiledKernel, program: Program) -> None:
        codes = [ObjectCode.from_cubin(cubin, name=program.name) for cubin in compiled.cubins]
        entries = dict.fromkeys((launch.module, launch.entry) for launch in program.launches)
        self._kernels = {(module, entry): codes[module].get_kernel(entry) for module, entry in entries}
        self._program = program
        for own, kernel in self._kernels.items():
            launches = [launch for launch in program.launches if (launch.module, launch.entry) == own]
            shared_bytes = max(launch.shared_bytes for launch in launches)
            if shared_bytes:
                # Without this a block gets no more than 48 KiB, static shared memory included.
                _set(kernel, _Attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared_bytes)
            if max(math.prod(launch.cluster) for launch in launches) > _PORTABLE_CLUSTER:
                _set(kernel, _Attribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)

    def launch(self, stream: int, packed: ctypes.Structure) -> None:
        """Queue all steps on a stream, given as the address of its ``CUstream``; an empty grid launches nothing.

        The driver has copied `packed`, made by `Program.pack`, when this returns. Threads may share a program.

        Raises:
            CUDAError: the driver refuses a step, or an earlier kernel failed.
        """
        self.bound(packed)(stream)

    def bound(self, packed: ctypes.Structure) -> Callable[[int], None]:
        """What queues the steps on a stream with what `packed` holds then; for one thread at a time."""
        program, structs = self._program, structs_of(packed)
        steps = [
            _memset(step, packed) if isinstance(step, Memset) else self._launch(step, structs[number])
            for step, number in program.numbered
        ]
        if not program.plain:
            return _all([_refreshing(refresher(program.brought, program.blocks, packed)), *steps])
        return steps[0] if len(steps) == 1 else _all(steps)

    def _launch(self, launch: Launch, packed: ctypes.Structure) -> Callable[[int], None]:
        # An entry has one parameter, and the driver wants an array of pointers to the parameters.
        parameters = ctypes.pointer(packed)
        function = driver.CUfunction(int(self._kernels[launch.module, launch.entry].handle))
        config, address = _config(launch), ctypes.addressof(parameters)

        configured = 0

        def run(stream: int, *, _kept: object = parameters) -> None:
            nonlocal configured
            if stream != configured:  # to set it takes three times as long
                config.hStream = configured = stream
            result = driver.cuLaunchKernelEx(config, function, address, 0)
            if result[0]:
                handle_return(result)

        return run

    def max_active_blocks(self, threads: int, dynamic_shared: int) -> int:
        """The driver's count of resident blocks per SM of the first entry, for blocks of so many threads and bytes."""
        kernel = next(iter(self._kernels.values()))
        blocks: int = kernel.occupancy.max_active_blocks_per_multiprocessor(threads, dynamic_shared)
        return blocks


def _config(launch: Launch) -> driver.CUlaunchConfig:
    """The launch dimensions as the driver takes them all at once, which is faster than one by one."""
    config = driver.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = launch.grid
    config.blockDimX, config.blockDimY, config.blockDimZ = launch.block
    config.sharedMemBytes = launch.shared_bytes
    return config


def _memset(step: Memset, packed: Any) -> Callable[[int], None]:
    def run(stream: int) -> None:
        handle_return(driver.cuMemsetD8Async(packed.workspace + step.offset, step.value, step.bytes, stream))

    return run


def _refreshing(refresh: Callable[[], None]) -> Callable[[int], None]:
    return lambda stream: refresh()


def _all(steps: Sequence[Callable[[int], None]]) -> Callable[[int], None]:
    def run(stream: int) -> None:
        for step in steps:
            step(stream)

    return run


def _set(kernel: Kernel, attribute: driver.CUfunction_attribute, value: int) -> None:
    device = handle_return(driver.cuCtxGetDevice())
    handle_return(driver.cuKernelSetAttribute(attribute, value, kernel.handle, device))
