"""The target of arrays on a GPU, in the primary context, which all libraries of the process share."""

from __future__ import annotations

from typing import Any

from cuda.bindings import driver
from cuda.core._utils.cuda_utils import CUDAError, handle_return

from ..codegen.problem import Problem
from ..codegen.source import KernelSource
from ..compiler import compile_kernel
from ..devices.cuda import CudaDevice
from ..devices.driver import check_device, reason
from ..devices.launcher import LoadedKernel
from .targets import Kernel, LaunchError


class Gpu:
    """One GPU by its ordinal. What is current in the caller's thread stays so."""

    def __init__(self, ordinal: int) -> None:
        check_device(ordinal)
        self._context = _Context(ordinal)
        with self._context:
            self.limits = CudaDevice(ordinal).limits

    def load(self, problem: Problem, source: KernelSource) -> Kernel:
        """See `Target`."""
        compiled = compile_kernel(source, self.limits.arch)
        try:
            with self._context:
                return _GpuKernel(LoadedKernel(compiled, source), self._context, source.workspace_bytes)
        except CUDAError as error:
            raise LaunchError(reason(error)) from None


class _Context:
    """A GPU's primary context; a context manager that makes it current in this thread for a while."""

    def __init__(self, ordinal: int) -> None:
        device = handle_return(driver.cuDeviceGet(ordinal))
        self._handle = handle_return(driver.cuDevicePrimaryCtxRetain(device))

    def __enter__(self) -> None:
        handle_return(driver.cuCtxPushCurrent(self._handle))

    def __exit__(self, *_exception: object) -> None:
        handle_return(driver.cuCtxPopCurrent())


class _GpuKernel:
    """A loaded kernel and its workspaces: one for each stream, because launches on two streams may overlap."""

    def __init__(self, loaded: LoadedKernel, context: _Context, workspace_bytes: int) -> None:
        self._loaded = loaded
        self._context = context
        self._workspace_bytes = workspace_bytes
        self._workspaces: dict[int, int] = {}

    def launch(self, stream: int, packed: Any) -> None:
        try:
            with self._context:
                if self._workspace_bytes:
                    packed.workspace = self._workspaces.get(stream) or self._new_workspace(stream)
                self._loaded.launch(stream, packed)
        except CUDAError as error:
            raise LaunchError(reason(error)) from None

    def _new_workspace(self, stream: int) -> int:
        """Device memory, zeroed before what is launched next on the stream, and kept as long as the process lives.

        Of two threads that come here on one stream at once, both use the memory of the first.
        """
        pointer = int(handle_return(driver.cuMemAlloc(self._workspace_bytes)))
        handle_return(driver.cuMemsetD8Async(pointer, 0, self._workspace_bytes, stream))
        return self._workspaces.setdefault(stream, pointer)
