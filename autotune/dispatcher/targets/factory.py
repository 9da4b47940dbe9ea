"""The target of a device, made when the first array on that device is met."""

from __future__ import annotations

from functools import cache

from autotune.dispatcher.arrays.views import HOST

from .base import Target


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
