"""The target of arrays on a GPU, in the primary context, which all libraries of the process share."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from cuda.bindings import driver
from cuda.core import Device

from autotune.base.cuda_core import CUDAError, handle_return
from autotune.codegen.model.argument import WORKSPACE
from autotune.codegen.model.launch import Memset
from autotune.codegen.model.packing import tensor_maps
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor_map import TensorMap
from autotune.compiler import cached_kernel
from autotune.devices.cuda import driver_spec
from autotune.devices.driver import check_device, reason
from autotune.devices.launcher import LoadedProgram
from autotune.devices.tensor_maps import encoder
from autotune.search_spaces.contract.baselines import Substitute

from .base import Code, Kernel, LaunchError
from .contexts import Context
from .workspaces import Workspaces, capture_id

_TIMED = int(driver.CUevent_flags.CU_EVENT_DEFAULT)
_LAST_DEFAULT_STREAM = 2  # CU_STREAM_PER_THREAD; handles above are of streams that somebody made


class Gpu:
    """One GPU by its ordinal. What is current in the caller's thread stays so."""

    libraries: tuple[str, ...] = ("cublas",)

    def __init__(self, ordinal: int) -> None:
        check_device(ordinal)
        self._context = Context(ordinal)
        self._scratch = Workspaces(self._context)
        with self._context:
            device = Device(ordinal)
            device.set_current()
        # Not by a `CudaDevice`, which asks NVML and NVRTC for the provenance of what it measures, too.
        self.spec = driver_spec(device.name, device.properties)

    def load(self, problem: Problem, program: Program, code: Code) -> Kernel:
        """See `Target`."""
        compiled = code(program, self.spec.arch)
        try:
            with self._context:
                loaded = LoadedProgram(compiled, program)
            return _GpuKernel(loaded, self._context, program, self._scratch)
        except CUDAError as error:
            raise LaunchError(reason(error)) from None

    def compiled(self, program: Program) -> bool:
        """See `Target`."""
        return cached_kernel(program, self.spec.arch) is not None

    def substitute(self, problem: Problem, substitute: Substitute) -> Kernel:
        """See `Target`."""
        from .cublas import CublasKernel

        return CublasKernel(problem, substitute, self._context)

    def encoder(self, tensor_map: TensorMap, memory: int) -> Callable[[int], None]:
        """See `Target`."""
        return encoder(tensor_map, memory, self._context)

    def seconds(self, launch: Callable[[], None], stream: int) -> float:
        """See `Target`."""
        try:
            with self._context:
                begin, end = (handle_return(driver.cuEventCreate(_TIMED)) for _ in range(2))
                try:
                    handle_return(driver.cuEventRecord(begin, stream))
                    launch()
                    handle_return(driver.cuEventRecord(end, stream))
                    handle_return(driver.cuEventSynchronize(end))
                    return float(handle_return(driver.cuEventElapsedTime(begin, end))) * 1e-3
                finally:
                    for event in (begin, end):
                        handle_return(driver.cuEventDestroy(event))
        except CUDAError as error:
            raise LaunchError(reason(error)) from None

    def synchronize(self, stream: int) -> None:
        """See `Target`."""
        try:
            with self._context:
                handle_return(driver.cuStreamSynchronize(stream))
        except CUDAError as error:
            raise LaunchError(reason(error)) from None

    def capturing(self, stream: int) -> bool:
        """See `Target`."""
        with self._context:
            return capture_id(stream) is not None


class _GpuKernel:
    """A loaded kernel and its workspaces."""

    def __init__(self, loaded: LoadedProgram, context: Context, program: Program, scratch: Workspaces) -> None:
        self._loaded = loaded
        self._context = context
        self._workspaces = scratch if program.scratch else Workspaces(context)
        self._workspace: Callable[[int], int] | None = None
        if program.workspace_bytes:
            self._workspace = partial(self._workspaces.pointer, program.workspace_bytes)
        self._blocks = program.blocks
        # A stream tells the driver the context of a launch, but not of a memset. A default stream means that of
        # whatever context is current.
        only_launches = not any(isinstance(step, Memset) for step in program.unrolled)
        self._last_unclear = _LAST_DEFAULT_STREAM if only_launches else math.inf

    def bound(self, packed: ctypes.Structure) -> Callable[[int], None]:
        launch = self._loaded.bound(packed)
        if self._workspace is not None:
            maps = [(one, at) for one, at in tensor_maps(self._blocks, packed) if one.tensor == WORKSPACE]
            launch = _with_workspace(launch, packed, self._workspace, maps, self._context)
        context, last_unclear = self._context, self._last_unclear

        def launch_in_context(stream: int) -> None:
            try:
                if stream > last_unclear or context.current:
                    return launch(stream)
            except CUDAError as error:
                if context.current:
                    raise LaunchError(reason(error)) from None
            try:
                with context:
                    launch(stream)
            except CUDAError as error:
                raise LaunchError(reason(error)) from None

        return launch_in_context


def _with_workspace(
    launch: Callable[[int], None],
    packed: Any,
    workspace: Callable[[int], int],
    maps: Sequence[tuple[TensorMap, int]],
    context: Context,
) -> Callable[[int], None]:
    encoders = [(encoder(one, address, context), one.offset) for one, address in maps]

    def launch_with_workspace(stream: int) -> None:
        packed.workspace = pointer = workspace(stream)
        for encode, offset in encoders:
            encode(pointer + offset)
        launch(stream)

    return launch_with_workspace
