"""The kernel for images of few channels, as conv2d_input knows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from autotune.codegen.convolution.conv2d_input.overlap_add.emit import emit
from autotune.codegen.convolution.conv2d_input.overlap_add.schedule import UNIT_ROWS, OverlapAddSchedule
from autotune.codegen.convolution.conv2d_input.problem import Conv2dInputProblem
from autotune.codegen.model.hardware import LINE_BYTES, WARP, WIDEST_ACCESS
from autotune.codegen.model.integers import ceil_div
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.space import Draw, Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import blocks_per_sm
from autotune.search_spaces.machine.resources import footprint_violations
from autotune.search_spaces.machine.workload import Workload

_MOST_CHANNELS = 8  # more are columns of a product
_MOST_COLUMNS, _MOST_ELEMENTS = 128, 48  # of a pass, and of a thread, which are in registers
# Of the schedules to try first. Two rows of a filter in a pass took an H200 370 µs where one took 272.
_LIKELY = ((16, 32, 1), (16, 16, 1), (8, 32, 1), (32, 32, 1), (8, 16, 1), (4, 16, 1))
_LEAST = OverlapAddSchedule(rows=4, columns=16)
# Instructions of an element of a pass, of one of the filters, and of a product; mma.sync's part of the peak.
_ACCESS, _FILTER, _SHARE = 12, 24, 2


def constraints(problem: Conv2dInputProblem, schedule: OverlapAddSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    if problem.dtype.bits != 16:
        yield f"dtype {problem.dtype}: expected 16 bits"
    if problem.in_channels > _MOST_CHANNELS:
        yield f"in_channels {problem.in_channels} over the {_MOST_CHANNELS} that are added up"
    if problem.vector_grad * problem.dtype.bytes < WIDEST_ACCESS:
        yield f"out_channels {problem.out_channels}: expected whole {WIDEST_ACCESS} bytes of a pixel of the gradient"
    if (columns := schedule.pass_columns(problem)) > _MOST_COLUMNS:
        yield f"{columns} columns of a pass over {_MOST_COLUMNS}"
    if (elements := schedule.elements(problem)) > _MOST_ELEMENTS:
        yield f"{elements} elements of a thread over {_MOST_ELEMENTS}"


def space(problem: Conv2dInputProblem, spec: DeviceSpec) -> Space[OverlapAddSchedule]:
    """Fields are drawn, as upper bounds: the schedule gets as much as fits."""
    return Space(field_parameters(OverlapAddSchedule), partial(_build, problem, spec))


def _build(problem: Conv2dInputProblem, spec: DeviceSpec, draw: Draw) -> OverlapAddSchedule:
    return _fitted(problem, OverlapAddSchedule.from_dict(dict(draw)), spec)


def _fitted(problem: Conv2dInputProblem, schedule: OverlapAddSchedule, spec: DeviceSpec) -> OverlapAddSchedule:
    """The schedule with tiles and passes that registers and shared memory have room for."""
    own = schedule.replace(min_blocks_per_sm=1)
    while any(constraints(problem, own, spec)) or any(footprint_violations(spec, own.footprint(problem))):
        if own.filter_rows > 1:
            own = own.replace(filter_rows=own.filter_rows // 2)
        elif own.rows > _LEAST.rows:
            own = own.replace(rows=own.rows // 2)
        elif own.columns > _LEAST.columns:
            own = own.replace(columns=own.columns // 2)
        else:
            break
    footprint = own.footprint(problem)
    resident = blocks_per_sm(spec, footprint.threads, footprint.registers, footprint.shared_bytes)
    return own.replace(min_blocks_per_sm=max(1, min(schedule.min_blocks_per_sm, resident)))


def candidates(problem: Conv2dInputProblem, spec: DeviceSpec) -> Iterator[OverlapAddSchedule]:
    """Large tiles load less twice; small ones let blocks share an SM, and leave none idle."""
    for rows, columns, filter_rows in _LIKELY:
        for tiles in (8, 4, 1):
            own = OverlapAddSchedule(
                rows=rows, columns=columns, filter_rows=filter_rows, tiles=tiles, min_blocks_per_sm=2
            )
            yield _fitted(problem, own, spec)


def checks(
    problem: Conv2dInputProblem, schedule: OverlapAddSchedule
) -> list[tuple[Conv2dInputProblem, OverlapAddSchedule]]:
    """A whole tile; and parts of tiles of two images with gaps."""
    schedule = schedule.replace(tiles=min(schedule.tiles, 2))
    found = []
    for batch, more, filters in ((1, 0, 8), (2, 1, min(24, problem.out_channels))):
        gap = problem.in_channels + 1 if more else 0
        fields: dict[str, Any] = {"batch": batch, "out_channels": filters}
        fields |= {"stride_x_n": 0, "stride_x_h": 0, "stride_x_w": gap}
        for side, extent, size in (("h", "height", schedule.rows), ("w", "width", schedule.columns)):
            reach = (getattr(problem, f"kernel_{side}") - 1) * getattr(problem, f"dilation_{side}") + 1
            fields[extent] = max(size + more, reach - 2 * getattr(problem, f"padding_{side}"))
        found.append((replace(problem, **fields), schedule))
    return found


def workload(problem: Conv2dInputProblem, schedule: OverlapAddSchedule, spec: DeviceSpec) -> tuple[Workload, ...]:
    """A step is a tile: its pixels are loaded, and multiplied and added up in passes. The filters are loaded ahead."""
    pixels, columns, passes = schedule.pixels(problem), schedule.pass_columns(problem), schedule.passes(problem)
    row_bytes = schedule.row_elements(problem) * problem.dtype.bytes
    warps, units = schedule.threads / WARP, pixels / UNIT_ROWS
    macs = pixels * columns * passes * schedule.row_elements(problem)
    products = macs / (16 * 16 * 8)
    added = schedule.elements(problem) * warps * passes * ceil_div(problem.kernel_w, problem.stride_w)
    shared = units * passes * (UNIT_ROWS + columns) * row_bytes + passes * pixels * columns * 4
    loads = pixels * row_bytes / WIDEST_ACCESS / WARP
    filters = passes * columns * schedule.row_elements(problem) / WARP
    return (
        Workload(
            blocks=schedule.blocks(problem),
            footprint=schedule.footprint(problem),
            memory_bytes=problem.work.bytes,
            steps=schedule.tiles,
            instructions=_SHARE * products + _ACCESS * added + _FILTER * filters / schedule.tiles,
            load_instructions=_ACCESS * loads,
            unit_clocks=_SHARE * macs / spec.rate(problem.unit),
            shared_clocks=shared / LINE_BYTES + added,
            lines=loads * WIDEST_ACCESS * WARP / LINE_BYTES,
            bytes_loaded=pixels * row_bytes,
            bytes_stored=schedule.rows * schedule.columns * problem.in_channels * problem.dtype.bytes * schedule.tiles,
        ),
    )


def applies(problem: Conv2dInputProblem, spec: DeviceSpec) -> bool:
    """Whether channels are few, and filters have several taps that shared memory has room for."""
    fits = not any(footprint_violations(spec, _LEAST.footprint(problem)))
    return problem.taps > 1 and fits and not any(constraints(problem, _LEAST, spec))


KERNEL = Kernel(OverlapAddSchedule, emit, constraints, space, candidates, checks, workload, applies)
