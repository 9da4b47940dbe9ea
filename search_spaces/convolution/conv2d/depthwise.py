"""The kernel for groups of few channels, as conv2d knows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from autotune.codegen.convolution.conv2d.depthwise.emit import emit
from autotune.codegen.convolution.conv2d.depthwise.schedule import DepthwiseSchedule
from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.convolution.problem import SMALL_GROUPS
from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import LINE_BYTES, WARP
from autotune.codegen.model.work import Unit
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.space import Draw, Space, field_parameters
from autotune.search_spaces.convolution.window import apart, lines_of_load, share_inside, share_stored
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import fitting_blocks
from autotune.search_spaces.machine.workload import Workload

from .checks import checks_of_channels

S = TypeVar("S", bound=DepthwiseSchedule)
_MOST_PRODUCTS, _MOST_WINDOW = 2048, 512  # of a thread: all are written out
_VECTORS = field_specs(DepthwiseSchedule)["vector"].values
_BLOCKS_PER_SM = field_specs(DepthwiseSchedule)["min_blocks_per_sm"].values
_ACCESS = 12  # instructions of a load, with its address and bounds
# Threads along the channels, rows and columns of the schedules to try first.
_LIKELY = ((8, 1, 4), (8, 2, 4), (16, 1, 4), (32, 1, 2), (8, 1, 8), (8, 4, 4), (4, 2, 2), (1, 1, 1))


@dataclass(frozen=True)
class Costs(Coefficients, section="conv2d.depthwise"):
    """How many clocks the instructions of these kernels take, for each that is counted: they wait for factors.

    Attributes:
        row: of a thread with one row of pixels, which loops over rows of the filter.
        written: of one with several rows, whose window is written out.
        rolling: of one that goes down images.
    """

    row: float
    written: float
    rolling: float


def constraints(problem: Conv2dProblem, schedule: DepthwiseSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    if not problem.dtype.is_float:
        yield f"dtype {problem.dtype}: {schedule.kernel} multiplies floats"
    if not problem.small_groups:
        sizes = ", ".join(map(str, SMALL_GROUPS))
        yield (
            f"groups={problem.groups} of {problem.in_channels} and {problem.out_channels} channels: expected {sizes} "
            "channels in each, and as many filters"
        )
    elif schedule.vector % problem.channels:
        yield f"vector {schedule.vector}: expected whole groups of {problem.channels} channels"
    if schedule.vector > problem.vector_channels:
        yield f"vector {schedule.vector} over the {problem.vector_channels} channels that X and D are aligned for"
    if schedule.threads % schedule.channel_threads:
        yield f"threads {schedule.threads} is not a multiple of channel_threads {schedule.channel_threads}"
    products, window = schedule.written_out(problem)
    if products > _MOST_PRODUCTS:
        yield f"{products} products of a thread over the {_MOST_PRODUCTS} that are written out"
    if window > _MOST_WINDOW:
        yield f"a window of {window} places over the {_MOST_WINDOW} that are written out"


def space(problem: Conv2dProblem, spec: DeviceSpec) -> Space[DepthwiseSchedule]:
    """Fields are drawn; tiles are no larger than what is written out."""
    return Space(field_parameters(DepthwiseSchedule, vector=vectors(problem)), partial(_build, problem, spec))


def vectors(problem: Conv2dProblem) -> tuple[int, ...]:
    """Those of whole groups, no wider than all pixels allow."""
    return tuple(width for width in _VECTORS if problem.channels <= width <= problem.vector_channels)


def _build(problem: Conv2dProblem, spec: DeviceSpec, draw: Draw) -> DepthwiseSchedule:
    return fitted(problem, DepthwiseSchedule.from_dict(dict(draw)), spec)


def fitted(problem: Conv2dProblem, schedule: S, spec: DeviceSpec) -> S:
    """The schedule with tiles that are written out, and that registers and shared memory have room for."""
    own = schedule
    while not is_written_out(problem, own) and (smaller := _smaller(problem, own)) != own:
        own = smaller
    while own.footprint(problem).registers > spec.registers_per_thread:
        own = own.replace(vector=own.vector // 2) if own.vector > problem.channels else _smaller(problem, own)
    while own.footprint(problem).shared_bytes > spec.shared_per_block:
        several = own.channel_threads > 1
        own = own.replace(**{"channel_threads": own.channel_threads // 2} if several else {"vector": own.vector // 2})
    return own.replace(min_blocks_per_sm=fitting_blocks(own.footprint(problem), spec, _BLOCKS_PER_SM))


def _smaller(problem: Conv2dProblem, schedule: S) -> S:
    """With fewer pixels, or else fewer groups of a thread; the same if it has one pixel of one group."""
    if schedule.rows > 1:
        return schedule.replace(rows=schedule.rows // 2)
    if schedule.columns > 1:
        return schedule.replace(columns={7: 4}.get(schedule.columns, schedule.columns // 2))
    return schedule.replace(vector=max(problem.channels, schedule.vector // 2))


def is_written_out(problem: Conv2dProblem, schedule: DepthwiseSchedule) -> bool:
    """Whether a source may have all products of a thread."""
    products, window = schedule.written_out(problem)
    return products <= _MOST_PRODUCTS and window <= _MOST_WINDOW


def candidates(problem: Conv2dProblem, spec: DeviceSpec) -> Iterator[DepthwiseSchedule]:
    """As wide vectors as there are; tiles of more pixels share more loads, smaller ones leave none idle."""
    fitting = vectors(problem)
    for vector in dict.fromkeys((max(fitting[0], min(fitting[-1], 4)), fitting[-1])):
        for channel_threads, rows, columns in _LIKELY:
            drawn = DepthwiseSchedule(channel_threads=channel_threads, vector=vector, rows=rows, columns=columns)
            yield fitted(problem, drawn, spec)


def workload(problem: Conv2dProblem, schedule: DepthwiseSchedule, spec: DeviceSpec) -> tuple[Workload, ...]:
    """A step loads a line of the window, or the whole if that is written out, and multiplies it by factors from shared
    memory."""
    costs = Costs.of(spec)
    clocks = costs.row if schedule.rows == 1 else costs.written
    warps, vector_bytes = schedule.threads / WARP, schedule.vector * problem.dtype.bytes
    pixels, steps = schedule.rows * schedule.columns, problem.kernel_h if schedule.rows == 1 else 1
    down, along = schedule.window(problem)
    loads = along * warps * (1 if schedule.rows == 1 else down)
    products = pixels * schedule.vector * problem.terms * warps / steps
    across = lines_of_load(schedule.channel_threads, vector_bytes, apart(problem, schedule.columns))
    inside = share_inside(problem, schedule.columns, schedule.rows)
    stored = share_stored(problem, schedule.columns, schedule.rows)
    # Bytes of filters, for a row of pixels.
    read = 4 * problem.terms * schedule.vector * warps * schedule.channel_threads / steps
    return (
        Workload(
            blocks=schedule.blocks(problem),
            footprint=schedule.footprint(problem),
            memory_bytes=problem.work.bytes,
            steps=steps,
            instructions=clocks * (products + read / LINE_BYTES),
            load_instructions=clocks * _ACCESS * loads,
            unit_clocks=products * WARP / spec.rate(Unit.FP32),
            shared_clocks=schedule.rows * read / LINE_BYTES,
            lines=inside * across * loads,
            bytes_loaded=inside * loads * WARP * vector_bytes,
            bytes_stored=stored * pixels * schedule.threads * vector_bytes,
        ),
    )


def applies(problem: Conv2dProblem, spec: DeviceSpec) -> bool:
    """Whether groups of floats have few channels, and filters that a source may have written out."""
    if problem.volumes or not problem.dtype.is_float or not problem.small_groups or not vectors(problem):
        return False
    least = DepthwiseSchedule(channel_threads=1, vector=problem.channels, rows=1, columns=1)
    fits = least.footprint(problem).shared_bytes <= spec.shared_per_block
    return fits and is_written_out(problem, least)


def alone(problem: Conv2dProblem, spec: DeviceSpec) -> bool:
    """Whether there is no product to speak of, as each channel has a filter of its own."""
    return problem.depthwise and applies(problem, spec)


KERNEL = Kernel(DepthwiseSchedule, emit, constraints, space, candidates, checks_of_channels, workload, applies)
