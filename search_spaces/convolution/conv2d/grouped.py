"""The kernel for groups whose few filters are more or fewer than their channels, as conv2d knows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import gcd

from autotune.codegen.convolution.conv2d.grouped.emit import emit
from autotune.codegen.convolution.conv2d.grouped.schedule import GroupedSchedule
from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import LINE_BYTES, WARP
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.model.work import Unit
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.space import Draw, Space, field_parameters
from autotune.search_spaces.convolution.window import apart, lines_of_load, share_inside, share_of_groups, share_stored
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import fitting_blocks
from autotune.search_spaces.machine.workload import Workload

from .checks import checks_of_groups

_MOST = 16  # channels, or filters, of a group
_MOST_PRODUCTS = 2048  # of a thread: all of a row of the filter are written out
_GROUPS = field_specs(GroupedSchedule)["groups"].values
_BLOCKS_PER_SM = field_specs(GroupedSchedule)["min_blocks_per_sm"].values
# Threads along the groups, groups and columns of the schedules to try first.
_LIKELY = (
    (8, 4, 8), (8, 4, 4), (8, 2, 8), (8, 2, 4), (4, 1, 8), (16, 2, 4), (16, 1, 4), (32, 1, 8), (1, 1, 1),
)  # fmt: skip


@dataclass(frozen=True)
class Costs(Coefficients, section="conv2d.grouped"):
    """How many clocks the instructions of this kernel take.

    Attributes:
        product: of an FMA, and of a read of factors.
        place: of a place of the window, with its bounds.
        address: of a place, whose address follows from a stride that the source does not know.
        access: of a load from it.
        filters: of a number of the filters, which a block copies to shared memory first.
    """

    product: float
    place: float
    address: float
    access: float
    filters: float


def constraints(problem: Conv2dProblem, schedule: GroupedSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    if not problem.dtype.is_float:
        yield f"dtype {problem.dtype}: {schedule.kernel} multiplies floats"
    if max(problem.channels, problem.filters) > _MOST:
        yield (
            f"groups={problem.groups} of {problem.in_channels} and {problem.out_channels} channels: expected "
            f"at most {_MOST} channels, and as many filters, in each"
        )
    if problem.groups % schedule.groups:
        yield f"groups {schedule.groups} of a thread: expected a divisor of the problem's {problem.groups}"
    if schedule.threads % schedule.group_threads:
        yield f"threads {schedule.threads} is not a multiple of group_threads {schedule.group_threads}"
    if (products := schedule.products(problem)) > _MOST_PRODUCTS:
        yield f"{products} products of a thread over the {_MOST_PRODUCTS} that are written out"


def space(problem: Conv2dProblem, spec: DeviceSpec) -> Space[GroupedSchedule]:
    """Fields are drawn; tiles have room in registers."""
    groups = tuple(some for some in _GROUPS if problem.groups % some == 0)
    return Space(field_parameters(GroupedSchedule, groups=groups), partial(_build, problem, spec))


def _build(problem: Conv2dProblem, spec: DeviceSpec, draw: Draw) -> GroupedSchedule:
    return _fitted(problem, GroupedSchedule.from_dict(dict(draw)), spec)


def _fitted(problem: Conv2dProblem, schedule: GroupedSchedule, spec: DeviceSpec) -> GroupedSchedule:
    """The schedule with groups that there are, as many as are written out and as registers and shared memory have room
    for."""
    own = schedule
    while own.groups > 1 and problem.groups % own.groups:
        own = own.replace(groups=own.groups // 2)
    while own.groups * own.columns > 1 and not _has_room(problem, own, spec):
        own = own.replace(**{"columns" if own.columns >= own.groups else "groups": max(own.columns, own.groups) // 2})
    while own.group_threads > 1 and (
        own.group_threads * own.groups >= 2 * problem.groups
        or own.footprint(problem).shared_bytes > spec.shared_per_block
    ):
        own = own.replace(group_threads=own.group_threads // 2)
    return own.replace(min_blocks_per_sm=fitting_blocks(own.footprint(problem), spec, _BLOCKS_PER_SM))


def _has_room(problem: Conv2dProblem, schedule: GroupedSchedule, spec: DeviceSpec) -> bool:
    """Whether registers hold what a thread has, and a source may have all of its products."""
    fits = schedule.footprint(problem).registers <= spec.registers_per_thread
    return fits and schedule.products(problem) <= _MOST_PRODUCTS


def candidates(problem: Conv2dProblem, spec: DeviceSpec) -> Iterator[GroupedSchedule]:
    """More pixels share loads of filters; more groups are wider accesses.

    Of one shape ptxas makes code that took an H200 8 to 27 % less time (four problems).
    """
    for some, groups, columns in _LIKELY:
        own = GroupedSchedule(group_threads=some, groups=groups, columns=columns, specialize=Specialize.SHAPE)
        yield _fitted(problem, own, spec)


def workload(problem: Conv2dProblem, schedule: GroupedSchedule, spec: DeviceSpec) -> tuple[Workload, ...]:
    """A step loads a line of what the pixels see, and multiplies it by a row of the filters from shared memory."""
    costs = Costs.of(spec)
    warps, steps = schedule.threads / WARP, problem.kernel_h
    filters, channels = schedule.filters(problem), schedule.channels(problem)
    places = schedule.window(problem) * warps
    products = schedule.products(problem) * warps
    exist = share_of_groups(problem, schedule.group_threads * schedule.groups)
    inside = exist * share_inside(problem, schedule.columns)
    stored = exist * share_stored(problem, schedule.columns)
    place = costs.place + (costs.address if schedule.specialize is Specialize.NONE else 0.0)
    seen_bytes = channels * problem.dtype.bytes
    read = 4 * problem.terms * filters * warps * schedule.group_threads / steps  # bytes of filters
    return (
        Workload(
            blocks=schedule.blocks(problem),
            footprint=schedule.footprint(problem),
            memory_bytes=problem.work.bytes,
            steps=steps,
            instructions=costs.product * (products + read / LINE_BYTES),
            load_instructions=(place + costs.access * channels / schedule.vector_x(problem)) * places,
            unit_clocks=products * WARP / spec.rate(Unit.FP32),
            shared_clocks=_ways(filters, schedule.group_threads) * read / LINE_BYTES,
            lines=lines_of_load(schedule.group_threads, seen_bytes, apart(problem, schedule.columns)) * inside * places,
            bytes_loaded=inside * places * WARP * seen_bytes,
            outside_clocks=costs.filters * problem.terms * filters * schedule.group_threads,
            bytes_stored=stored * schedule.columns * schedule.threads * filters * problem.dtype.bytes,
        ),
    )


def _ways(filters: int, group_threads: int) -> int:
    """Threads side by side whose vectors of factors are in the same banks."""
    return min(group_threads, gcd(filters, WARP) // gcd(filters, 4))


def applies(problem: Conv2dProblem, spec: DeviceSpec) -> bool:
    """Whether groups of floats, or all channels, are few with few filters, for which no other kernel is made."""
    if problem.volumes or not problem.dtype.is_float or problem.small_groups:
        return False
    least = GroupedSchedule(group_threads=1, groups=1, columns=1)
    fits = least.footprint(problem).shared_bytes <= spec.shared_per_block and _has_room(problem, least, spec)
    return fits and max(problem.channels, problem.filters) <= _MOST


KERNEL = Kernel(GroupedSchedule, emit, constraints, space, candidates, checks_of_groups, workload, applies)
