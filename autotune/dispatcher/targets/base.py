"""Targets: a GPU or the emulator, as one interface that takes packed arguments and a stream."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Protocol

from autotune.base.errors import AutotuneError
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor_map import TensorMap
from autotune.compiler import CompiledKernel
from autotune.search_spaces.contract.baselines import Substitute
from autotune.search_spaces.machine.device_spec import DeviceSpec

Code = Callable[[Program, str], CompiledKernel]


class LaunchError(AutotuneError, RuntimeError):
    """A kernel that a GPU refuses to load or to launch, or that fails in the emulator; the message is one line."""


class CaptureError(AutotuneError, RuntimeError):
    """A call that would compile or load a kernel during a graph capture; the message says what to call before."""


class Kernel(Protocol):
    """A kernel that is ready for any number of launches, from any thread."""

    def bound(self, packed: ctypes.Structure) -> Callable[[int], None]:
        """What launches on the stream of a handle, with arguments that `Program.pack` made.

        They may change from a launch to the next, and a launch may change their workspace. A launch raises
        `LaunchError` if the kernel was not launched, or in the emulator: if it left its outputs as they were.
        """


class Target(Protocol):
    """What kernels run on: a GPU or the emulator.

    Attributes:
        spec: the device for which schedules must be legal; `spec.name` is the model of its records.
        libraries: those that may compute instead of a kernel; see `Substitute`.
    """

    spec: DeviceSpec
    libraries: tuple[str, ...]

    def load(self, problem: Problem, program: Program, code: Code) -> Kernel:
        """Make a kernel ready, of the machine code that `code` gives for the architecture; the emulator needs none.

        Raises:
            CompileError: the compiler refused the source.
            LaunchError: the device refused the kernel.
        """

    def compiled(self, program: Program) -> bool:
        """Whether the disk cache has the kernel."""

    def substitute(self, problem: Problem, substitute: Substitute) -> Kernel:
        """A library of `libraries`, which takes the arguments of the operator's kernels.

        Raises:
            LaunchError: it is not installed, or not usable.
        """

    def encoder(self, tensor_map: TensorMap, memory: int) -> Callable[[int], None]:
        """What encodes a tensor map, to memory at a multiple of 64, for the address at which it begins."""

    def seconds(self, launch: Callable[[], None], stream: int) -> float:
        """What the device takes for all that a function launches on a stream; it is done when this returns.

        Raises:
            LaunchError: the function does, or some of it failed.
        """

    def synchronize(self, stream: int) -> None:
        """Wait until all that was launched on a stream is done.

        Raises:
            LaunchError: some of it failed.
        """

    def capturing(self, stream: int) -> bool:
        """Whether what is launched on a stream becomes part of a CUDA graph."""
