"""The kernel for groups of one channel, as conv2d_planes knows it."""

from __future__ import annotations

from collections.abc import Iterator

from autotune.codegen.convolution.conv2d_planes.direct.emit import emit
from autotune.codegen.convolution.conv2d_planes.direct.schedule import DirectSchedule
from autotune.codegen.convolution.conv2d_planes.problem import Conv2dPlanesProblem
from autotune.codegen.model.schedule import Specialize
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.machine.device_spec import DeviceSpec

_MOST_PRODUCTS = 512  # of a thread: all are written out
_MOST_TAPS = 128  # of a filter, which is in registers


def constraints(problem: Conv2dPlanesProblem, schedule: DirectSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    if problem.channels > 1:
        yield f"groups={problem.groups} of {problem.in_channels} channels: expected a group for each"
    if problem.taps > _MOST_TAPS:
        yield f"{problem.taps} taps over the {_MOST_TAPS} that are in registers"
    if (products := problem.taps * schedule.rows) > _MOST_PRODUCTS and schedule.rows > 1:
        yield f"{products} products of a thread over the {_MOST_PRODUCTS} that are written out"
    if (
        window := (schedule.rows - 1) * problem.stride_h + (problem.kernel_h - 1) * problem.dilation_h
    ) > _MOST_PRODUCTS:
        yield f"a window of {window} rows over the {_MOST_PRODUCTS} that are written out"


def candidates(problem: Conv2dPlanesProblem, spec: DeviceSpec) -> Iterator[DirectSchedule]:
    """Few rows are many threads; more rows load less."""
    for rows in (4, 8, 2, 7, 1):
        for specialize in (Specialize.SHAPE, Specialize.NONE):
            yield DirectSchedule(rows=rows, specialize=specialize)


def applies(problem: Conv2dPlanesProblem, spec: DeviceSpec) -> bool:
    """Whether each plane has filters of its own, which a thread has room for."""
    least = DirectSchedule(rows=1)
    fits = least.footprint(problem).registers <= spec.registers_per_thread
    return fits and not any(constraints(problem, least, spec))


KERNEL = Kernel(DirectSchedule, emit, constraints, candidates=candidates, applies=applies)
