"""The kernel for groups of few channels and few filters, as conv2d_weight knows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from autotune.codegen.convolution.conv2d_weight.grouped.emit import emit
from autotune.codegen.convolution.conv2d_weight.grouped.schedule import GroupedWeightSchedule
from autotune.codegen.convolution.conv2d_weight.problem import Conv2dWeightProblem
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.integers import ceil_div, doublings, widest_divisor
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.model.work import Unit
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.space import Draw, Space, field_parameters
from autotune.search_spaces.convolution.window import apart, lines_of_load, share_inside, share_of_groups
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import fitting_blocks
from autotune.search_spaces.machine.workload import Workload

from . import depthwise, partials
from .checks import checks_of_groups

_MOST = 16  # channels, or filters, of a group
_MOST_PRODUCTS = 2048  # of a thread: all of a tile are written out
_MOST_THREADS = 256  # of a block that is tried first, if it is not larger without other tiles
_SPECS = field_specs(GroupedWeightSchedule)
# Threads along the groups, groups, filters, columns and whether rows are apart, of the schedules to try first.
_LIKELY = (
    (8, 1, 8, 4, True), (8, 1, 4, 4, True), (8, 1, 4, 8, True), (8, 1, 2, 8, True), (16, 1, 4, 4, True),
    (8, 4, 8, 4, False), (8, 2, 8, 4, False), (8, 2, 8, 8, False), (16, 1, 8, 4, False), (16, 1, 2, 8, False),
    (4, 1, 4, 4, False), (1, 1, 1, 1, True),
)  # fmt: skip


@dataclass(frozen=True)
class Costs(Coefficients, section="conv2d_weight.grouped"):
    """What this kernel takes.

    Attributes:
        product: instructions of an FMA.
        converted: of a number of 16 bits, to convert it.
        access: of a load, with its address and bounds.
        halved: clocks of a sum, for each time that half of the threads add it to those of the others.
        partials: partial sums that a thread of the second launch loads at once.
    """

    product: float
    converted: float
    access: float
    halved: float
    partials: float


def constraints(problem: Conv2dWeightProblem, schedule: GroupedWeightSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    if max(problem.channels, problem.filters) > _MOST:
        yield (
            f"groups={problem.groups} of {problem.in_channels} and {problem.out_channels} channels: expected "
            f"at most {_MOST} channels, and as many filters, in each"
        )
    if problem.groups % schedule.groups:
        yield f"groups {schedule.groups} of a thread: expected a divisor of the problem's {problem.groups}"
    if problem.filters % schedule.filters:
        yield f"filters {schedule.filters} of a thread: expected a divisor of the {problem.filters} of a group"
    if (products := schedule.products(problem)) > _MOST_PRODUCTS:
        yield f"{products} products of a thread over the {_MOST_PRODUCTS} that are written out"
    yield from partials.violations(problem, schedule)


def space(problem: Conv2dWeightProblem, spec: DeviceSpec) -> Space[GroupedWeightSchedule]:
    """Fields are drawn; sums have room in registers."""
    divisors = {
        name: tuple(some for some in _SPECS[name].values if of_problem % some == 0)
        for name, of_problem in (("groups", problem.groups), ("filters", problem.filters))
    }
    splits = partials.splits(GroupedWeightSchedule, candidates(problem, spec))
    return Space(field_parameters(GroupedWeightSchedule, **divisors, splits=splits), partial(_build, problem, spec))


def _build(problem: Conv2dWeightProblem, spec: DeviceSpec, draw: Draw) -> GroupedWeightSchedule:
    return _fitted(problem, GroupedWeightSchedule.from_dict(dict(draw)), spec)


def _fitted(problem: Conv2dWeightProblem, schedule: GroupedWeightSchedule, spec: DeviceSpec) -> GroupedWeightSchedule:
    """The schedule with sums, tiles and threads that there is room for."""
    own = schedule
    while not _has_room(problem, own.replace(columns=1), spec) and (less := _fewer_sums(problem, own)) != own:
        own = less
    while own.columns > 1 and not _has_room(problem, own, spec):
        own = own.replace(columns={7: 4}.get(own.columns, own.columns // 2))
    while own.group_threads > 1 and own.group_threads * own.groups >= 2 * problem.groups:
        own = own.replace(group_threads=own.group_threads // 2)
    while not partials.has_threads(problem, own, spec) and own.tile_threads * own.group_threads > 1:
        name = "tile_threads" if own.tile_threads > 1 else "group_threads"
        own = own.replace(**{name: getattr(own, name) // 2})
    own = partials.fitted(problem, own)
    blocks = fitting_blocks(own.footprint(problem), spec, _SPECS["min_blocks_per_sm"].values)
    return own.replace(min_blocks_per_sm=blocks)


def _fewer_sums(problem: Conv2dWeightProblem, schedule: GroupedWeightSchedule) -> GroupedWeightSchedule:
    """With fewer groups of a thread, one row of taps, or fewer filters; the same if it has the fewest."""
    if schedule.groups > 1:
        return schedule.replace(groups=schedule.groups // 2)
    if not schedule.rows_apart and problem.kernel_h > 1:
        return schedule.replace(rows_apart=True)
    return schedule.replace(filters=_divisor(problem, max(1, schedule.filters - 1)))


def _divisor(problem: Conv2dWeightProblem, most: int) -> int:
    """The most filters of a thread, up to a number, that a group has as parts."""
    return int(max(some for some in _SPECS["filters"].values if some <= most and problem.filters % some == 0))


def _has_room(problem: Conv2dWeightProblem, schedule: GroupedWeightSchedule, spec: DeviceSpec) -> bool:
    """Whether registers hold what a thread has, and a source may have all of its products."""
    fits = schedule.footprint(problem).registers <= spec.registers_per_thread
    return fits and schedule.products(problem) <= _MOST_PRODUCTS


def candidates(problem: Conv2dWeightProblem, spec: DeviceSpec) -> Iterator[GroupedWeightSchedule]:
    """Sums that share what they load, in blocks that fill SMs once or twice."""
    for group_threads, groups, filters, columns, rows_apart in _LIKELY:
        own = GroupedWeightSchedule(
            group_threads=group_threads,
            tile_threads=1,
            groups=widest_divisor(groups, problem.groups),
            filters=_divisor(problem, filters),
            rows_apart=rows_apart,
            columns=columns,
            specialize=Specialize.SHAPE,
        )
        own = _fitted(problem, own, spec)
        while own.tile_threads < _most("tile_threads") and own.block_threads(problem) <= _MOST_THREADS // 2:
            own = own.replace(tile_threads=2 * own.tile_threads)
        yield from partials.filling(problem, _fitted(problem, own, spec), spec)


def _most(name: str) -> int:
    return int(max(_SPECS[name].values))


def checks(
    problem: Conv2dWeightProblem, schedule: GroupedWeightSchedule
) -> list[tuple[Conv2dWeightProblem, GroupedWeightSchedule]]:
    """Whole tiles and blocks, and parts of them."""
    vectors = {"x": schedule.vector_x(problem), "grad": schedule.vector_grad(problem)}
    return checks_of_groups(problem, schedule, schedule.groups, schedule.group_threads, vectors)


def workload(problem: Conv2dWeightProblem, schedule: GroupedWeightSchedule, spec: DeviceSpec) -> tuple[Workload, ...]:
    """A step is a tile of each thread. Threads with other sums of the same pixels load them from the cache."""
    costs = Costs.of(spec)
    warps = schedule.block_threads(problem) / WARP
    seen = schedule.groups * problem.channels * problem.dtype.bytes  # bytes of a place of the window
    given = schedule.groups * schedule.filters * problem.dtype.bytes  # of a pixel's gradients
    places = schedule.rows(problem) * schedule.window(problem) * warps
    pixels = schedule.columns * warps
    exist = share_of_groups(problem, schedule.group_threads * schedule.groups)
    inside = exist * share_inside(problem, schedule.columns)
    grad_apart = schedule.columns * problem.out_channels * problem.dtype.bytes
    access_x = schedule.vector_x(problem) * problem.dtype.bytes
    access_grad = schedule.vector_grad(problem) * problem.dtype.bytes
    products = schedule.products(problem) * warps
    numbers = (places * seen + pixels * given) / problem.dtype.bytes
    converted = 0.0 if problem.dtype is DType.FLOAT32 else costs.converted * numbers
    partial_bytes = schedule.partial_bytes(problem)
    sums = Workload(
        blocks=schedule.blocks(problem),
        footprint=schedule.footprint(problem),
        memory_bytes=problem.work.bytes + partial_bytes,
        steps=max(1, ceil_div(schedule.tiles(problem), schedule.splits * schedule.tile_threads)),
        independent=True,
        instructions=costs.product * products + converted,
        outside_clocks=costs.halved * doublings(schedule.tile_threads) * schedule.sums(problem),
        load_instructions=costs.access * (places * seen / access_x + pixels * given / access_grad),
        unit_clocks=products * WARP / spec.rate(Unit.FP32),
        lines=lines_of_load(schedule.group_threads, seen, apart(problem, schedule.columns)) * inside * places
        + lines_of_load(schedule.group_threads, given, grad_apart) * exist * pixels,
        bytes_loaded=(inside * places * seen + exist * pixels * given) * WARP,
        bytes_stored=partial_bytes / schedule.blocks(problem),
    )
    return sums, partials.workload(problem, schedule, costs.partials)


def applies(problem: Conv2dWeightProblem, spec: DeviceSpec) -> bool:
    """Whether groups, or all channels, are few with few filters, for which no other kernel is made."""
    if max(problem.channels, problem.filters) > _MOST or depthwise.applies(problem, spec):
        return False
    least = GroupedWeightSchedule(group_threads=1, tile_threads=1, rows_apart=True, columns=1, splits=1)
    fits = _has_room(problem, least, spec) and partials.has_threads(problem, least, spec)
    return fits and least.partial_bytes(problem) <= partials.MOST_BYTES


KERNEL = Kernel(GroupedWeightSchedule, emit, constraints, space, candidates, checks, workload, applies)
