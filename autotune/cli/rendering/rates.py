"""Times as people compare them: a rate, and the share of what the device can do at best."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...codegen.problem import Problem
    from ...search_spaces.device_spec import DeviceSpec


def rate(problem: Problem, seconds: float) -> str:
    """``51.4 TFLOP/s``, or ``3650 GB/s`` where a problem only moves bytes."""
    if problem.flops:
        return f"{problem.flops / seconds / 1e12:.3g} TFLOP/s"
    return f"{problem.bytes_moved / seconds / 1e9:.4g} GB/s"


def peak_share(problem: Problem, limits: DeviceSpec, seconds: float) -> float:
    """The roofline's time over this one."""
    from ...devices.model import roofline

    return roofline(problem, limits) / seconds


def duration(seconds: float) -> str:
    """``2.67 ms``, with the unit that fits."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:.4g} {unit}"
    return f"{seconds / 1e-6:.4g} µs"
