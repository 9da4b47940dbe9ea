"""The state of a GPU while it measures, by NVML: clocks, temperature, reasons of slowdowns, the energy used."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from cuda.core import system

T = TypeVar("T")

# Reasons for a clock that drops for a while; samples taken meanwhile are not comparable. A power cap (sw_power_cap)
# is not among them: a kernel that reaches it does so in every run.
_SLOWDOWNS = ("hw_slowdown", "sw_thermal_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown")


class Conditions:
    """What NVML reports of one GPU; nothing without NVML, and no value that the driver hides.

    Args:
        find: gives NVML's handle of the GPU.
    """

    def __init__(self, find: Callable[[], system.Device]) -> None:
        self._device = _told(find)

    def slowed_down(self) -> bool:
        """Whether heat or the hardware slows the clock down."""
        return any(reason in _SLOWDOWNS for reason in self._reasons())

    def now(self) -> dict[str, Any]:
        """``sm_mhz``, ``memory_mhz``, ``celsius`` and ``clock_event_reasons``, without those that are not known."""
        device = self._device
        if device is None:
            return {}
        found = {
            "sm_mhz": _told(lambda: device.get_clock("sm").get_current_mhz()),
            "memory_mhz": _told(lambda: device.get_clock("memory").get_current_mhz()),
            "celsius": _told(lambda: device.temperature.get_sensor()),
            "clock_event_reasons": self._reasons() or None,
        }
        return {name: value for name, value in found.items() if value is not None}

    def joules(self) -> float | None:
        """What the GPU has used since its driver was loaded; None where that is not known."""
        from cuda.core.system.typing import FieldId

        device = self._device
        if device is None:
            return None
        told = _told(lambda: device.get_field_values([FieldId.DEV_TOTAL_ENERGY_CONSUMPTION]).get_all_values())
        return told[0] / 1000 if told else None

    def _reasons(self) -> list[str]:
        device = self._device
        if device is None:
            return []
        return [str(reason) for reason in _told(lambda: device.current_clock_event_reasons) or []]


def _told(question: Callable[[], T]) -> T | None:
    """The answer, or None: a container may have the driver without its management library."""
    from cuda.core import system

    try:
        return question()
    except (RuntimeError, system.NvmlError):
        return None
