"""A compiled kernel on a GPU: loaded once, launched with packed arguments on any stream."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from cuda.bindings import driver
from cuda.core import ObjectCode

from ..codegen.program import Program
from ..compiler import CompiledKernel
from ..cuda_core import handle_return


class LoadedKernel:
    """A kernel in the current CUDA context, bound to the launch dimensions of its source.

    A cluster of more than one block must be declared by the kernel itself (``__cluster_dims__``).

    Raises:
        CUDAError: the driver refuses the code, or the shared memory that the launch asks for.
    """

    def __init__(self, compiled: CompiledKernel, source: Program) -> None:
        launch = source.launch
        self._kernel = ObjectCode.from_cubin(compiled.cubin, name=source.entry).get_kernel(source.entry)
        if launch.shared_bytes:
            # Without this a block gets no more than 48 KiB, static shared memory included.
            attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            device = handle_return(driver.cuCtxGetDevice())
            handle_return(driver.cuKernelSetAttribute(attribute, launch.shared_bytes, self._kernel.handle, device))
        self._function = driver.CUfunction(int(self._kernel.handle))
        self._launch = launch

    def launch(self, stream: int, packed: ctypes.Structure) -> None:
        """Launch on a stream, given as the address of its ``CUstream``; an empty grid launches nothing.

        The driver has copied `packed`, made by `Program.pack`, when this returns. Threads may share a kernel.

        Raises:
            CUDAError: the driver refuses the launch, or an earlier kernel failed.
        """
        self.bound(packed)(stream)

    def bound(self, packed: ctypes.Structure) -> Callable[[int], None]:
        """What launches on a stream as `launch` does, with what `packed` holds then, in one thread at a time."""
        if self._launch.blocks == 0:
            return lambda stream: None
        # The kernel has one parameter, and the driver wants an array of pointers to the parameters.
        parameters = ctypes.pointer(packed)
        function, config, address = self._function, self._config(), ctypes.addressof(parameters)

        configured = 0

        def launch(stream: int, *, _kept: object = parameters) -> None:
            nonlocal configured
            if stream != configured:  # to set it takes three times as long
                config.hStream = configured = stream
            result = driver.cuLaunchKernelEx(config, function, address, 0)
            if result[0]:
                handle_return(result)

        return launch

    def _config(self) -> driver.CUlaunchConfig:
        """The launch dimensions as the driver takes them all at once, which is faster than one by one."""
        config = driver.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = self._launch.grid
        config.blockDimX, config.blockDimY, config.blockDimZ = self._launch.block
        config.sharedMemBytes = self._launch.shared_bytes
        return config

    def max_active_blocks(self, threads: int, dynamic_shared: int) -> int:
        """The driver's count of resident blocks per SM, for blocks of so many threads and dynamic bytes."""
        blocks: int = self._kernel.occupancy.max_active_blocks_per_multiprocessor(threads, dynamic_shared)
        return blocks
