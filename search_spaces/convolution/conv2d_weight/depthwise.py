"""The kernel for channels that are groups of their own, as conv2d_weight knows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from autotune.codegen.convolution.conv2d_weight.depthwise.emit import emit
from autotune.codegen.convolution.conv2d_weight.depthwise.schedule import DepthwiseWeightSchedule
from autotune.codegen.convolution.conv2d_weight.problem import Conv2dWeightProblem
from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.integers import ceil_div, widest_divisor
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.model.work import Unit
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.space import Draw, Space, field_parameters
from autotune.search_spaces.convolution.window import apart, lines_of_load
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import fitting_blocks
from autotune.search_spaces.machine.workload import Workload

from . import partials
from .checks import checks_of_groups

_MOST_PRODUCTS = 2048  # of a thread, all written out
_SPECS = field_specs(DepthwiseWeightSchedule)
_LEAST_THREADS = min(_SPECS["threads"].values)
# Threads along the channels, channels, columns and splits of the schedules to try first.
_LIKELY = (
    (8, 4, 4, 64), (8, 4, 8, 64), (8, 4, 7, 64), (16, 2, 7, 64), (16, 2, 7, 128), (16, 2, 8, 128), (16, 2, 8, 256),
    (8, 4, 4, 256), (32, 2, 4, 128), (8, 8, 4, 128), (4, 2, 4, 16), (1, 1, 1, 1),
)  # fmt: skip


@dataclass(frozen=True)
class Costs(Coefficients, section="conv2d_weight.depthwise"):
    """What these kernels take.

    Attributes:
        product: instructions of an FMA, with conversions of what it multiplies.
        access: of a load, with its address and bounds.
        partials: partial sums that a thread of the second launch loads at once.
    """

    product: float
    access: float
    partials: float


def constraints(problem: Conv2dWeightProblem, schedule: DepthwiseWeightSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    if not problem.depthwise:
        channels = f"{problem.in_channels} and {problem.out_channels} channels"
        yield f"groups={problem.groups} of {channels}: expected a group with one filter for each channel"
    if schedule.vector > (widest := _widest(problem)):
        yield f"vector {schedule.vector} over the {widest} channels that X and the gradient are aligned for"
    if schedule.threads % schedule.channel_threads:
        yield f"threads {schedule.threads} is not a multiple of channel_threads {schedule.channel_threads}"
    if (products := schedule.written_out(problem)) > _MOST_PRODUCTS:
        yield f"{products} products of a thread over the {_MOST_PRODUCTS} that are written out"
    yield from partials.violations(problem, schedule)


def _widest(problem: Conv2dWeightProblem) -> int:
    """Channels of the widest access that is whole, and aligned, in all pixels."""
    x = problem.layouts["x"]
    widths = x.alignment // problem.dtype.bytes, problem.align_grad // problem.dtype.bytes
    return widest_divisor(min(widths), problem.in_channels, *x.strides)


def space(problem: Conv2dWeightProblem, spec: DeviceSpec) -> Space[DepthwiseWeightSchedule]:
    """Fields are drawn; vectors are no wider than all pixels allow, and sums have room in registers."""
    vectors = tuple(width for width in _SPECS["vector"].values if width <= _widest(problem))
    return Space(field_parameters(DepthwiseWeightSchedule, vector=vectors), partial(_build, problem, spec))


def _build(problem: Conv2dWeightProblem, spec: DeviceSpec, draw: Draw) -> DepthwiseWeightSchedule:
    return _fitted(problem, DepthwiseWeightSchedule.from_dict(dict(draw)), spec)


def _fitted(
    problem: Conv2dWeightProblem, schedule: DepthwiseWeightSchedule, spec: DeviceSpec
) -> DepthwiseWeightSchedule:
    """The schedule with tiles and channels for whose sums there is room."""
    own = schedule
    while own.vector > 1 and own.replace(columns=1).footprint(problem).registers > spec.registers_per_thread:
        own = own.replace(vector=own.vector // 2)
    while own.columns > 1 and (
        own.footprint(problem).registers > spec.registers_per_thread or own.written_out(problem) > _MOST_PRODUCTS
    ):
        own = own.replace(columns={7: 4}.get(own.columns, own.columns // 2))
    while own.threads > _LEAST_THREADS and own.footprint(problem).shared_bytes > spec.shared_per_block:
        threads = own.threads // 2
        own = own.replace(threads=threads, channel_threads=min(own.channel_threads, threads))
    own = partials.fitted(problem, own)
    blocks = fitting_blocks(own.footprint(problem), spec, _SPECS["min_blocks_per_sm"].values)
    return own.replace(min_blocks_per_sm=blocks)


def candidates(problem: Conv2dWeightProblem, spec: DeviceSpec) -> Iterator[DepthwiseWeightSchedule]:
    """Vectors as wide as sums of all taps leave registers for; as many splits as SMs have use for.

    Code for any shape took an H200 7 to 23 % longer (9 pairs of schedules).
    """
    for channel_threads, vector, columns, splits in _LIKELY:
        drawn = DepthwiseWeightSchedule(
            channel_threads=channel_threads,
            vector=min(vector, _widest(problem)),
            columns=columns,
            splits=splits,
            specialize=Specialize.SHAPE,
        )
        yield _fitted(problem, drawn, spec)


def checks(
    problem: Conv2dWeightProblem, schedule: DepthwiseWeightSchedule
) -> list[tuple[Conv2dWeightProblem, DepthwiseWeightSchedule]]:
    """Whole tiles of a block; and parts of them along all sides, in two images with gaps, which blocks share."""
    vectors = {"x": schedule.vector, "grad": schedule.vector}
    return checks_of_groups(problem, schedule, schedule.vector, schedule.channel_threads, vectors)


def workload(problem: Conv2dWeightProblem, schedule: DepthwiseWeightSchedule, spec: DeviceSpec) -> tuple[Workload, ...]:
    """A step is a tile of each thread; behind it, blocks add up the sums of a tap after the other."""
    costs = Costs.of(spec)
    warps, vector_bytes = schedule.threads / WARP, schedule.vector * problem.dtype.bytes
    loads = (schedule.columns + problem.kernel_h * schedule.window(problem)) * warps
    products = schedule.written_out(problem) * warps
    steps = ceil_div(schedule.tiles(problem), schedule.splits * (schedule.threads // schedule.channel_threads))
    across = lines_of_load(schedule.channel_threads, vector_bytes, apart(problem, schedule.columns))
    partial_bytes = schedule.partial_bytes(problem)
    sums = Workload(
        blocks=schedule.blocks(problem),
        footprint=schedule.footprint(problem),
        memory_bytes=problem.work.bytes + partial_bytes,
        steps=max(1, steps),
        independent=True,
        instructions=costs.product * products,
        load_instructions=costs.access * loads,
        unit_clocks=products * WARP / spec.rate(Unit.FP32),
        lines=across * loads,
        bytes_loaded=loads * WARP * vector_bytes,
        bytes_stored=partial_bytes / schedule.blocks(problem),
    )
    return sums, partials.workload(problem, schedule, costs.partials)


def applies(problem: Conv2dWeightProblem, spec: DeviceSpec) -> bool:
    """Whether each channel has a filter of its own, whose sums a thread has room for."""
    least = DepthwiseWeightSchedule(_LEAST_THREADS, channel_threads=1, vector=1, columns=1, splits=1)
    taken = least.footprint(problem)
    fits = taken.registers <= spec.registers_per_thread and taken.shared_bytes <= spec.shared_per_block
    written = least.written_out(problem) <= _MOST_PRODUCTS
    return problem.depthwise and fits and written and least.partial_bytes(problem) <= partials.MOST_BYTES


KERNEL = Kernel(DepthwiseWeightSchedule, emit, constraints, space, candidates, checks, workload, applies)
