"""The kernel for groups of few channels that goes down images, as conv2d knows it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from autotune.codegen.convolution.conv2d.depthwise_rolling.emit import emit
from autotune.codegen.convolution.conv2d.depthwise_rolling.schedule import RollingSchedule
from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.model.hardware import LINE_BYTES, WARP
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.model.work import Unit
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.space import Draw, Space, field_parameters
from autotune.search_spaces.convolution.window import apart, lines_of_load, share_inside, share_stored
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload

from . import depthwise
from .checks import checks_of_channels

_ACCESS = 6  # instructions of a load, with its address and bounds
# Threads along the channels, channels, rows and columns of the schedules to try first.
_LIKELY = (
    (16, 2, 14, 7), (16, 2, 28, 7), (8, 4, 14, 4), (16, 2, 14, 4), (32, 2, 14, 4), (8, 4, 14, 2), (16, 2, 8, 8),
    (4, 2, 4, 2),
)  # fmt: skip


def constraints(problem: Conv2dProblem, schedule: RollingSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    if problem.dilation_h > 1:
        yield f"dilation_h={problem.dilation_h}: expected 1, as each row of X is added to all rows that see it"
    yield from depthwise.constraints(problem, schedule, spec)


def space(problem: Conv2dProblem, spec: DeviceSpec) -> Space[RollingSchedule]:
    """Fields are drawn; tiles have room in registers."""
    fields = field_parameters(RollingSchedule, vector=depthwise.vectors(problem))
    return Space(fields, partial(_build, problem, spec))


def _build(problem: Conv2dProblem, spec: DeviceSpec, draw: Draw) -> RollingSchedule:
    return _fitted(problem, RollingSchedule.from_dict(dict(draw)), spec)


def _fitted(problem: Conv2dProblem, schedule: RollingSchedule, spec: DeviceSpec) -> RollingSchedule:
    """With fewer columns where sums take too many registers, or a source has too many products."""
    own = schedule
    while own.columns > 1 and not (
        own.footprint(problem).registers <= spec.registers_per_thread and depthwise.is_written_out(problem, own)
    ):
        own = own.replace(columns={7: 4}.get(own.columns, own.columns // 2))
    return depthwise.fitted(problem, own, spec)


def candidates(problem: Conv2dProblem, spec: DeviceSpec) -> Iterator[RollingSchedule]:
    """Two channels each, or a group: a load from shared memory has their factors for many columns.

    Of two blocks on an SM ptxas makes code that took an H200 as long (median of 25), and up to 35 % less by 7×7.
    """
    fitting = depthwise.vectors(problem)
    for specialize in (Specialize.NONE, Specialize.SHAPE):
        for channel_threads, vector, rows, columns in _LIKELY:
            drawn = RollingSchedule(channel_threads=channel_threads, vector=max(fitting[0], min(vector, fitting[-1])))
            drawn = drawn.replace(rows=rows, columns=columns, min_blocks_per_sm=2, specialize=specialize)
            yield _fitted(problem, drawn, spec)


def workload(problem: Conv2dProblem, schedule: RollingSchedule, spec: DeviceSpec) -> tuple[Workload, ...]:
    """A step is a row of pixels: loads of what it sees anew, FMAs, and loads of filters from shared memory."""
    warps, vector_bytes = schedule.threads / WARP, schedule.vector * problem.dtype.bytes
    clocks = depthwise.Costs.of(spec).rolling
    _, along = schedule.window(problem)
    loads, opened = along * problem.stride_h * warps, schedule.open_rows(problem)
    products = problem.terms * schedule.columns * schedule.vector * warps
    inside, stored = share_inside(problem, schedule.columns), share_stored(problem, schedule.columns, schedule.rows)
    across = lines_of_load(schedule.channel_threads, vector_bytes, apart(problem, schedule.columns))
    return (
        Workload(
            blocks=schedule.blocks(problem),
            footprint=schedule.footprint(problem),
            memory_bytes=problem.work.bytes,
            steps=schedule.rows + opened - 1,
            instructions=clocks * (products * schedule.rows / (schedule.rows + opened - 1) + problem.terms * warps),
            load_instructions=clocks * _ACCESS * loads,
            unit_clocks=products * WARP / spec.rate(Unit.FP32),
            shared_clocks=problem.terms * warps * schedule.vector * WARP * 4 / LINE_BYTES,
            lines=inside * across * loads,
            bytes_loaded=inside * loads * WARP * vector_bytes,
            bytes_stored=stored * schedule.rows * schedule.columns * schedule.threads * vector_bytes,
        ),
    )


def applies(problem: Conv2dProblem, spec: DeviceSpec) -> bool:
    """Whether groups have few channels, and rows of filters lie one below the other."""
    if problem.dilation_h > 1 or not depthwise.applies(problem, spec):
        return False
    least = RollingSchedule(channel_threads=1, vector=problem.channels, rows=4, columns=1)
    fits = least.footprint(problem).registers <= spec.registers_per_thread
    return fits and depthwise.is_written_out(problem, least)


KERNEL = Kernel(RollingSchedule, emit, constraints, space, candidates, checks_of_channels, workload, applies)
