"""Times as people compare them: a rate, and the share of what the device can do at best."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # commands that print a duration do not pay for importing NumPy
    from autotune.codegen.model.problem import Problem

    from .roofline import Peaks


def rate(problem: Problem, peaks: Peaks, seconds: float) -> str:
    """The rate of what bounds the problem on the device: ``51.4 TFLOP/s``, or ``3650 GB/s`` for device memory."""
    from .roofline import bounding_unit, operations

    unit = bounding_unit(problem, peaks)
    if unit is None:
        return copy_rate(problem, seconds)
    tera = operations(problem.work, peaks)[unit] / seconds / 1e12
    return f"{tera:.3g} T{unit.symbol}/s" if tera < 999.5 else f"{tera:.0f} T{unit.symbol}/s"


def copy_rate(problem: Problem, seconds: float) -> str:
    """The rate of what only moves the bytes of a problem: ``3650 GB/s``."""
    return f"{problem.work.bytes / seconds / 1e9:.4g} GB/s"


def rates_document(problem: Problem, seconds: float | None) -> dict[str, object]:
    """For scripts: bytes per second, and operations per second by unit; null without a time."""
    if not seconds:
        return {"bytes_per_second": None, "operations_per_second": None}
    operations = {unit: count / seconds for unit, count in problem.work.operations.items()}
    return {"bytes_per_second": problem.work.bytes / seconds, "operations_per_second": operations}


def peak_share(problem: Problem, peaks: Peaks, seconds: float) -> float:
    """The roofline's time over this one."""
    from .roofline import roofline

    return roofline(problem, peaks) / seconds


def duration(seconds: float) -> str:
    """``2.67 ms``, with the unit that fits."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:.4g} {unit}"
    return f"{seconds / 1e-6:.4g} µs"
