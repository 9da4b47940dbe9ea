"""The least time that a device needs for a problem, by bytes and by units (Williams et al.: Roofline, CACM 2009)."""

from __future__ import annotations

from ..codegen.problem import Problem
from ..codegen.work import Unit
from ..search_spaces.device_spec import DeviceSpec


def roofline(problem: Problem, spec: DeviceSpec) -> float:
    """Seconds that the device takes at least: for the bytes, or for the operations of the busiest unit."""
    return max(_seconds(problem, spec).values())


def bounding_unit(problem: Problem, spec: DeviceSpec) -> Unit | None:
    """The unit that bounds the problem on the device; None if it is device memory."""
    seconds = _seconds(problem, spec)
    return max(seconds, key=lambda unit: seconds[unit])


def _seconds(problem: Problem, spec: DeviceSpec) -> dict[Unit | None, float]:
    """Seconds at the peak rates of device memory (None) and of each unit; the first counts in a tie."""
    seconds: dict[Unit | None, float] = {None: problem.work.bytes / spec.bandwidth}
    return seconds | {unit: count / spec.peak(unit) for unit, count in problem.work.operations.items()}
