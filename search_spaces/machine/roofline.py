"""The least time that a device needs for a problem, by bytes and by units (Williams et al.: Roofline, CACM 2009).

And which times cannot be true.
"""

from __future__ import annotations

from typing import Protocol

from autotune.codegen.model.integers import largest
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.work import Unit, Work

from .device_spec import DeviceSpec


class Peaks(Protocol):
    """What a device does at best: its `DeviceSpec`, or its `MeasuredPeaks`.

    Attributes:
        bandwidth: device memory's bytes per second.
    """

    @property
    def bandwidth(self) -> float: ...  # noqa: D102

    def executing(self, unit: Unit) -> Unit:
        """The unit that does a unit's work on the device."""

    def peak(self, unit: Unit) -> float:
        """Operations per second of a unit."""


def roofline(problem: Problem, peaks: Peaks) -> float:
    """Seconds that the device takes at least: for the bytes, or for the operations of the busiest unit."""
    return least_seconds(problem.work, peaks)


def least_seconds(work: Work, peaks: Peaks) -> float:
    """The same of some work."""
    return largest(*_seconds(work, peaks).values())


def bounding_unit(problem: Problem, peaks: Peaks) -> Unit | None:
    """The unit of the device that bounds the problem; None if it is device memory."""
    seconds = _seconds(problem.work, peaks)
    return max(seconds, key=lambda unit: seconds[unit])


def _seconds(work: Work, peaks: Peaks) -> dict[Unit | None, float]:
    """Seconds at the peak rates of device memory (None) and of each unit; the first counts in a tie."""
    seconds: dict[Unit | None, float] = {None: work.bytes / peaks.bandwidth}
    return seconds | {unit: count / peaks.peak(unit) for unit, count in operations(work, peaks).items()}


def operations(work: Work, peaks: Peaks) -> dict[Unit, int]:
    """What each unit of the device executes at least, where others do the work of those that it lacks."""
    executed: dict[Unit, int] = {}
    for unit, count in work.operations.items():
        here = peaks.executing(unit)
        executed[here] = executed.get(here, 0) + count
    return executed


def impossible_rate(problem: Problem, seconds: float, spec: DeviceSpec) -> str:
    """Why a time cannot be true, with the numbers; empty if it can.

    A kernel that beats the peak of an arithmetic unit or of device memory leaves work out. There are two exceptions.
    FMAs can evaluate special functions as polynomials, so their rate proves nothing. And up to an L2 cache full of what
    a kernel writes may still be on its way to memory when the kernel ends.
    """
    work = problem.work
    for unit, count in operations(work, spec).items():
        if unit is not Unit.SPECIAL and count > spec.peak(unit) * seconds:
            rate = f"{count / seconds / 1e12:.1f}" if seconds else "infinitely many"
            peak = f"{spec.peak(unit) / 1e12:.1f}"
            symbol = unit.symbol
            return f"{rate} T{symbol}/s of {unit.label} for {count} {symbol} is above the device's peak of {peak}"
    if work.bytes - spec.l2_bytes > spec.bandwidth * seconds:
        rate = f"{work.bytes / seconds / 1e9:.0f}" if seconds else "infinitely many"
        bandwidth = f"{spec.bandwidth / 1e9:.0f}"
        return f"{rate} GB/s for {work.bytes} B is above the device's bandwidth of {bandwidth} GB/s"
    return ""
