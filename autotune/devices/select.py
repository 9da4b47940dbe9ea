"""From what the user typed to a device."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from autotune.db.states import TimeSource
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.devices import named_device, named_devices

from .base import Device, DeviceError
from .driver import cuda_device_count
from .replay import PREFIX, ReplayDevice

if TYPE_CHECKING:
    from optuna.pruners import BasePruner

    from .worker_device import WorkerDevice

ALL = "all"
_FALLBACK = "h200"


def device(selector: str, pruner: BasePruner | None = None, *, energy: bool = False) -> Device:
    """The device of a selector: ``auto``, a GPU's number, the name of an offline device, or ``replay:FILE``.

    ``auto`` is GPU 0 if the driver sees one, else the offline h200.

    Args:
        selector: the device.
        pruner: says which kernels a GPU need not sample further, instead of `SlowerPruner`.
        energy: whether the energy of each kernel is measured, too, which takes a second.

    Raises:
        DeviceError: the device cannot be used, or there is no such device; then the message lists what is allowed.
    """
    name = resolved(selector)
    if name.isdecimal():
        from .cuda import CudaDevice

        return CudaDevice(int(name), pruner, energy=energy)
    if energy:
        raise DeviceError(f"energy is measured on a GPU, which device {name} is not: no model tells it")
    if name.startswith(PREFIX):
        return ReplayDevice(name)
    from .offline import OfflineDevice

    return OfflineDevice(name)


def worker_device(selector: str, pruner: BasePruner | None = None, *, energy: bool = False) -> WorkerDevice:
    """`device` in a process of its own, for kernels that nobody has tried before.

    Raises:
        DeviceError: as `device` does.
    """
    from .worker_device import WorkerDevice

    return WorkerDevice(partial(device, selector, pruner, energy=energy))


def resolved_all(selectors: str) -> list[str]:
    """Several selectors with commas between them, each `resolved`, or ``all``: every GPU of this machine.

    Raises:
        DeviceError: there is no such device, or one is named twice.
    """
    if selectors == ALL:
        if not (count := cuda_device_count()):
            raise DeviceError(f"--device {ALL}: the NVIDIA driver sees no GPU; name offline devices, such as h200,t4")
        return [str(ordinal) for ordinal in range(count)]
    names = [resolved(selector) for selector in selectors.split(",")]
    for name in names:
        if names.count(name) > 1:
            raise DeviceError(f"--device {selectors} names {name} more than once; a device tunes one problem at a time")
    return names


def device_of_model(model: str, time_source: TimeSource) -> Device | None:
    """The first device here that files times of this kind under a model; None if there is none that can be used."""
    modelled = time_source is TimeSource.MODELLED
    selectors = named_devices() if modelled else map(str, range(cuda_device_count()))
    with suppress(DeviceError):
        return next((device(one) for one in selectors if selected_spec(one).name == model), None)
    return None


def selected_spec(selector: str) -> DeviceSpec:
    """The `DeviceSpec` of `device`, also where an offline device could not run anything."""
    name = resolved(selector)
    return named_device(name) if name in named_devices() else device(name).spec


def resolved(selector: str) -> str:
    """A selector without ``auto``: a GPU's number, a recording, or the name of an offline device.

    Raises:
        DeviceError: there is no such device.
        TypeError: the selector is no string.
    """
    if not isinstance(selector, str):
        raise TypeError(f"device={selector!r}: expected a string, such as 'auto', '0' or 'h200'")
    if selector == "auto":
        return "0" if cuda_device_count() else _FALLBACK
    if selector.isdecimal() or selector.startswith(PREFIX) or selector in named_devices():
        return selector
    raise DeviceError(
        f"unknown device {selector!r}; expected auto, a GPU's number, {PREFIX}FILE, or one of "
        f"{', '.join(named_devices())}"
    )
