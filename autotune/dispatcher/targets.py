"""Where kernels run: one interface for a GPU and for the emulator, which takes packed arguments and a stream."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Protocol

from ..codegen.problem import Problem
from ..codegen.source import KernelSource
from ..search_spaces.limits import DeviceLimits
from .arrays import HOST


class LaunchError(RuntimeError):
    """A kernel that a GPU refuses to load or to launch, or that fails in the emulator; the message is one line."""


class Kernel(Protocol):
    """A kernel that is ready for any number of launches, from any thread."""

    def launch(self, stream: int, packed: ctypes.Structure) -> None:
        """Launch on the stream of a handle, with arguments that `KernelSource.pack` made and this may change.

        Raises:
            LaunchError: it was not launched, or in the emulator: it left its outputs as they were.
        """


class Target(Protocol):
    """A place where kernels run.

    Attributes:
        limits: what schedules must be legal for; `limits.name` is the model that records are filed under.
    """

    limits: DeviceLimits

    def load(self, problem: Problem, source: KernelSource) -> Kernel:
        """Compile a kernel, or take it from the disk cache, and make it ready.

        Raises:
            CompileError: the compiler refused the source.
            LaunchError: the device refused the kernel.
        """


@cache
def target(device: int) -> Target:
    """The target of a GPU's ordinal, or of `HOST`. Only here the driver is looked for, or the emulator imported.

    Raises:
        DeviceError: no driver, one that is too old, or a GPU of an unknown compute capability.
    """
    if device == HOST:
        from .emulated import Emulator

        return Emulator()
    from .gpu import Gpu

    return Gpu(device)
