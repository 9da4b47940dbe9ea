"""A device as the report shows it: its peaks, measured where it was calibrated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from autotune.search_spaces.machine.calibration import Calibration, Figure
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.roofline import Peaks
from autotune.search_spaces.machine.time_model import MachineCosts

from .calibration import calibration_document


@dataclass(frozen=True)
class Machine:
    """A device model, and its newest calibration if there is one."""

    spec: DeviceSpec
    calibration: Calibration | None = None

    @property
    def peaks(self) -> Peaks:
        """What rooflines refer to."""
        return self.calibration.peaks(self.spec) if self.calibration else self.spec

    @property
    def latency(self) -> float:
        """Seconds of a load from device memory; the time model's, where none was measured."""
        figures = self.calibration.figures if self.calibration else {}
        return figures.get(Figure.MEMORY_LATENCY, MachineCosts.of(self.spec).latency_seconds)

    def document(self) -> dict[str, Any]:
        """JSON values: ``bandwidth`` (bytes per second), ``peaks`` (operations per second by unit), ``latency``.

        Units are named as people read them. ``calibration`` is null for a device that was not calibrated.
        """
        found = self.calibration
        return {
            "name": self.spec.name,
            "bandwidth": self.peaks.bandwidth,
            "peaks": {unit.label: self.peaks.peak(unit) for unit in self.spec.rates},
            "latency": self.latency,
            "calibration": calibration_document(found, self.spec.sm_count) if found else None,
        }
