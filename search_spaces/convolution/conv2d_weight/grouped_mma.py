"""The kernel for groups of few channels by tensor cores, as conv2d_weight knows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from autotune.codegen.convolution.conv2d_weight.grouped_mma.emit import emit
from autotune.codegen.convolution.conv2d_weight.grouped_mma.schedule import QUAD, SIDE, GroupedMmaWeightSchedule
from autotune.codegen.convolution.conv2d_weight.problem import Conv2dWeightProblem
from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.integers import ceil_div, doublings
from autotune.codegen.model.schedule import Specialize
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.space import Draw, Space, field_parameters
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import fitting_blocks
from autotune.search_spaces.machine.workload import Workload

from . import depthwise, partials
from .checks import checks_of_groups

_HALF_BYTES, _PAIR = 2, 2  # of an element; elements of an access
_MOST_PRODUCTS = 512  # of a warp: all of a tile are written out
_PRODUCT = SIDE * SIDE // 2 * SIDE  # FMAs
_BY_MMA = 0.62  # of the rate of wgmma
_SPECS = field_specs(GroupedMmaWeightSchedule)
_GROUPS = _SPECS["groups"].values
# Warps along the groups, warps with other tiles, columns, whether rows are apart and whether tiles are loaded ahead, of
# the schedules to try first.
_LIKELY = (
    (1, 4, 4, False, True), (2, 2, 4, False, True), (1, 4, 4, False, False), (2, 4, 4, False, False),
    (1, 8, 4, False, False), (1, 2, 4, True, True), (2, 2, 4, True, False), (1, 4, 8, True, False),
)  # fmt: skip


@dataclass(frozen=True)
class Costs(Coefficients, section="conv2d_weight.grouped_mma"):
    """What this kernel takes.

    Attributes:
        product: instructions of a product, with what joins its operands.
        access: of a load, with its address and bounds.
        halved: clocks of a sum, for each time that half of the warps add it to those of the others.
        partials: partial sums that a thread of the second launch loads at once.
    """

    product: float
    access: float
    halved: float
    partials: float


def constraints(problem: Conv2dWeightProblem, schedule: GroupedMmaWeightSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    if problem.dtype.bytes != _HALF_BYTES:
        yield f"dtype {problem.dtype}: expected one of 16 bits"
        return
    if problem.groups % schedule.groups:
        yield f"groups {schedule.groups} of a warp: expected a divisor of the problem's {problem.groups}"
    if (channels := schedule.groups * problem.channels) > SIDE:
        yield f"{channels} channels of a warp over {SIDE}"
    if not _in_pairs(problem, schedule.groups):
        yield f"groups {schedule.groups} of a warp: expected aligned pairs of channels and of filters"
    if (products := schedule.products(problem)) > _MOST_PRODUCTS:
        yield f"{products} products of a warp over the {_MOST_PRODUCTS} that are written out"
    yield from partials.violations(problem, schedule)


def _in_pairs(problem: Conv2dWeightProblem, groups: int) -> bool:
    """Whether channels and filters of some groups are in pairs, as accesses need them."""
    channels, filters = groups * problem.channels, groups * problem.filters
    aligned = problem.layouts["x"].vector_width >= _PAIR <= problem.align_grad // problem.dtype.bytes
    return aligned and channels % _PAIR == filters % _PAIR == problem.out_channels % _PAIR == 0


def _groups(problem: Conv2dWeightProblem) -> tuple[int, ...]:
    """Those that a warp may have."""
    return tuple(
        some
        for some in _GROUPS
        if problem.groups % some == 0 and some * problem.channels <= SIDE and _in_pairs(problem, some)
    )


def space(problem: Conv2dWeightProblem, spec: DeviceSpec) -> Space[GroupedMmaWeightSchedule]:
    """Fields are drawn; sums have room in registers."""
    splits = partials.splits(GroupedMmaWeightSchedule, candidates(problem, spec))
    fields = field_parameters(GroupedMmaWeightSchedule, groups=_groups(problem), splits=splits)
    return Space(fields, partial(_build, problem, spec))


def _build(problem: Conv2dWeightProblem, spec: DeviceSpec, draw: Draw) -> GroupedMmaWeightSchedule:
    return _fitted(problem, GroupedMmaWeightSchedule.from_dict(dict(draw)), spec)


def _fitted(
    problem: Conv2dWeightProblem, schedule: GroupedMmaWeightSchedule, spec: DeviceSpec
) -> GroupedMmaWeightSchedule:
    """The schedule with nothing ahead, rows apart, fewer columns, groups and warps, as far as that is needed."""
    own, least = schedule, min(_groups(problem))
    while not _has_room(problem, own, spec):
        if own.ahead:
            own = own.replace(ahead=False)
        elif not own.rows_apart and problem.kernel_h > 1:
            own = own.replace(rows_apart=True)
        elif own.columns > QUAD:
            own = own.replace(columns=QUAD)
        elif own.groups > least:
            own = own.replace(groups=own.groups // 2)
        else:
            break
    while own.group_warps > 1 and own.group_warps * own.groups >= 2 * problem.groups:
        own = own.replace(group_warps=own.group_warps // 2)
    while own.tile_warps * own.group_warps > 1 and not partials.has_threads(problem, own, spec):
        name = "tile_warps" if own.tile_warps > 1 else "group_warps"
        own = own.replace(**{name: getattr(own, name) // 2})
    own = partials.fitted(problem, own)
    blocks = fitting_blocks(own.footprint(problem), spec, _SPECS["min_blocks_per_sm"].values)
    return own.replace(min_blocks_per_sm=blocks)


def _has_room(problem: Conv2dWeightProblem, schedule: GroupedMmaWeightSchedule, spec: DeviceSpec) -> bool:
    """Whether registers hold what a thread has, and a source may have all products."""
    fits = schedule.footprint(problem).registers <= spec.registers_per_thread
    return fits and schedule.products(problem) <= _MOST_PRODUCTS


def candidates(problem: Conv2dWeightProblem, spec: DeviceSpec) -> Iterator[GroupedMmaWeightSchedule]:
    """As many groups as have 16 channels, or half as many, in blocks that fill SMs once or twice."""
    for groups in dict.fromkeys(_groups(problem)[-2:][::-1]):
        for group_warps, tile_warps, columns, apart, ahead in _LIKELY:
            own = GroupedMmaWeightSchedule(
                group_warps=group_warps,
                tile_warps=tile_warps,
                groups=groups,
                rows_apart=apart,
                columns=columns,
                ahead=ahead,
                specialize=Specialize.SHAPE,
            )
            yield from partials.filling(problem, _fitted(problem, own, spec), spec)


def checks(
    problem: Conv2dWeightProblem, schedule: GroupedMmaWeightSchedule
) -> list[tuple[Conv2dWeightProblem, GroupedMmaWeightSchedule]]:
    """Whole tiles and blocks, and parts of them."""
    vectors = {"x": _PAIR, "grad": _PAIR}
    return checks_of_groups(problem, schedule, schedule.groups, schedule.group_warps, vectors)


def workload(
    problem: Conv2dWeightProblem, schedule: GroupedMmaWeightSchedule, spec: DeviceSpec
) -> tuple[Workload, ...]:
    """A step is a tile of each thread. A load has a piece of four lines: threads of a quad have tiles of their own."""
    costs = Costs.of(spec)
    warps = schedule.block_threads(problem) / WARP
    loads = schedule.loads(problem)
    products, partial_bytes = schedule.products(problem) * warps, schedule.partial_bytes(problem)
    sums = Workload(
        blocks=schedule.blocks(problem),
        footprint=schedule.footprint(problem),
        memory_bytes=problem.work.bytes + partial_bytes,
        steps=max(1, ceil_div(schedule.tiles(problem), schedule.splits * schedule.tile_warps * QUAD)),
        ahead=int(schedule.ahead),
        in_flight=int(schedule.ahead),
        independent=not schedule.ahead,
        instructions=costs.product * products,
        outside_clocks=costs.halved * doublings(schedule.tile_warps) * schedule.sums(problem),
        load_instructions=costs.access * loads * warps,
        unit_clocks=products * _PRODUCT / (_BY_MMA * spec.rate(problem.unit)),
        lines=QUAD * loads * warps,
        bytes_loaded=_PAIR * problem.dtype.bytes * WARP * loads * warps,
        bytes_stored=partial_bytes / schedule.blocks(problem),
    )
    return sums, partials.workload(problem, schedule, costs.partials)


def applies(problem: Conv2dWeightProblem, spec: DeviceSpec) -> bool:
    """Whether channels of 16 bits are few in each group, or all of them, and sums have room."""
    if problem.dtype.bytes != _HALF_BYTES or depthwise.applies(problem, spec) or not _groups(problem):
        return False
    least = GroupedMmaWeightSchedule(tile_warps=1, groups=min(_groups(problem)), rows_apart=True, splits=1)
    fits = _has_room(problem, least, spec) and partials.has_threads(problem, least, spec)
    return fits and least.partial_bytes(problem) <= partials.MOST_BYTES


KERNEL = Kernel(GroupedMmaWeightSchedule, emit, constraints, space, candidates, checks, workload, applies)
