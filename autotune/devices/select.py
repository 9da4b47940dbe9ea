"""From what the user typed to a device."""

from __future__ import annotations

from ..search_spaces.devices import named_device, named_devices
from ..search_spaces.limits import DeviceLimits
from .base import Device, DeviceError
from .driver import cuda_device_count
from .replay import PREFIX, ReplayDevice

_FALLBACK = "h200"


def device(selector: str) -> Device:
    """The device of a selector: ``auto``, a GPU's number, the name of an offline device, or ``replay:FILE``.

    ``auto`` is GPU 0 if the driver sees one, else the offline h200.

    Raises:
        DeviceError: the device cannot be used, or there is no such device; then the message lists what is allowed.
    """
    name = _resolved(selector)
    if name.isdecimal():
        from .cuda import CudaDevice

        return CudaDevice(int(name))
    if name.startswith(PREFIX):
        return ReplayDevice(name)
    from .offline import OfflineDevice

    return OfflineDevice(name)


def device_limits(selector: str) -> DeviceLimits:
    """The limits of `device`, also where an offline device could not run anything."""
    name = _resolved(selector)
    return named_device(name) if name in named_devices() else device(name).limits


def _resolved(selector: str) -> str:
    """A GPU's number, a recording, or the name of an offline device."""
    if selector == "auto":
        return "0" if cuda_device_count() else _FALLBACK
    if selector.isdecimal() or selector.startswith(PREFIX) or selector in named_devices():
        return selector
    raise DeviceError(
        f"unknown device {selector!r}; expected auto, a GPU's number, {PREFIX}FILE, or one of "
        f"{', '.join(named_devices())}"
    )
