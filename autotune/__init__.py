"""Generates CUDA kernels from schedules, finds the fastest for a device, remembers it and serves it at run time."""

from typing import TYPE_CHECKING, Any

from . import dispatcher
from .base.errors import AutotuneError
from .base.lazy import lazy_names

if TYPE_CHECKING:
    from .compiler import CompileError, CompilerMissingError
    from .db.database import TuningDB
    from .db.errors import DatabaseError
    from .devices.base import DeviceError
    from .devices.select import worker_device
    from .dispatcher.targets.base import CaptureError, LaunchError
    from .emulator import EmulatorError, HostCompilerMissingError
    from .own_kernels.arguments import Entry, InOut, Input, Output, Scalar, Value
    from .own_kernels.kernel import kernel
    from .own_kernels.t1 import t1_space
    from .search_spaces.contract.operator import IllegalScheduleError
    from .search_spaces.contract.registry import operator
    from .tuner.adapt import adapt
    from .tuner.loop import tune
    from .tuner.options import TuneOptions

    __version__: str

__all__ = [
    "AutotuneError",
    "CaptureError",
    "CompileError",
    "CompilerMissingError",
    "DatabaseError",
    "DeviceError",
    "EmulatorError",
    "Entry",
    "HostCompilerMissingError",
    "IllegalScheduleError",
    "InOut",
    "Input",
    "LaunchError",
    "Output",
    "Scalar",
    "TuneOptions",
    "TuningDB",
    "Value",
    "__version__",
    "adapt",
    "dispatcher",
    "kernel",
    "operator",
    "t1_space",
    "tune",
    "worker_device",
]

_lazy = lazy_names(
    __name__,
    {
        "CaptureError": ".dispatcher.targets.base",
        "CompileError": ".compiler",
        "CompilerMissingError": ".compiler",
        "DatabaseError": ".db.errors",
        "DeviceError": ".devices.base",
        "EmulatorError": ".emulator",
        "Entry": ".own_kernels.arguments",
        "HostCompilerMissingError": ".emulator",
        "IllegalScheduleError": ".search_spaces.contract.operator",
        "InOut": ".own_kernels.arguments",
        "Input": ".own_kernels.arguments",
        "LaunchError": ".dispatcher.targets.base",
        "Output": ".own_kernels.arguments",
        "Scalar": ".own_kernels.arguments",
        "TuneOptions": ".tuner.options",
        "TuningDB": ".db.database",
        "Value": ".own_kernels.arguments",
        "adapt": ".tuner.adapt",
        "kernel": ".own_kernels.kernel",
        "operator": ".search_spaces.contract.registry",
        "t1_space": ".own_kernels.t1",
        "tune": ".tuner.loop",
        "worker_device": ".devices.select",
    },
)


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from .base.version import own_version

        return own_version()
    return _lazy(name)
