"""The kernel for groups of few channels by tensor cores, as conv2d knows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from autotune.codegen.convolution.conv2d.depthwise_mma.emit import emit
from autotune.codegen.convolution.conv2d.depthwise_mma.schedule import PAIR, QUAD, DepthwiseMmaSchedule
from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import LINE_BYTES, WARP, WORD_BYTES
from autotune.codegen.model.schedule import Specialize
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.space import Draw, Space, field_parameters
from autotune.search_spaces.convolution.window import apart, lines_of_load, share_inside, share_stored
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import fitting_blocks
from autotune.search_spaces.machine.workload import Workload

from . import depthwise
from .checks import checks_of_channels

S = TypeVar("S", bound=DepthwiseMmaSchedule)
_HALF_BYTES = 2  # of an element
_MOST_TAPS = 9  # on an H200, depthwise 7×7 and 5×5 filters took 7 to 17 % longer than by FMAs
_PRODUCT = 16 * 8 * 16  # FMAs of tensor cores for a pair of slots
_BY_MMA = 0.62  # of the rate of wgmma
# Channels, rows and columns of a thread, and whether it keeps filters, of the schedules to try first.
_LIKELY = (
    (8, 14, 4, True), (8, 14, 2, True), (4, 14, 4, True), (8, 28, 2, True), (8, 28, 4, False), (2, 28, 4, True),
    (4, 28, 4, True), (2, 14, 4, True), (8, 14, 2, False), (4, 7, 4, True),
)  # fmt: skip


@dataclass(frozen=True)
class Costs(Coefficients, section="conv2d.depthwise_mma"):
    """What these kernels take.

    Attributes:
        product: instructions of a product, with moves of fragments to other registers than what was loaded.
        access: of a load, with its bounds.
        store: of a pixel, from its sums.
        staged: times as much of all of them, where tensor copies bring rows to shared memory.
    """

    product: float
    access: float
    store: float
    staged: float


def constraints(problem: Conv2dProblem, schedule: DepthwiseMmaSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    if schedule.channel_threads != QUAD:
        yield f"channel_threads {schedule.channel_threads}: expected the {QUAD} that share a row of a product"
    yield from violations(problem, schedule)
    yield from depthwise.constraints(problem, schedule, spec)


def violations(problem: Conv2dProblem, schedule: DepthwiseMmaSchedule) -> Iterator[str]:
    """What tensor cores do not multiply, or not in less time than FMAs."""
    if problem.dtype.bytes != _HALF_BYTES:
        yield f"dtype {problem.dtype}: expected one of 16 bits"
    if problem.dilation_h > 1:
        yield f"dilation_h={problem.dilation_h}: expected 1, as each row of X is added to all rows that see it"
    if not _small(problem):
        size = f"{problem.kernel_h}×{problem.kernel_w}"
        yield f"filters of {size} for single channels: expected {_MOST_TAPS} elements at most, as FMAs take less time"
    if schedule.columns % PAIR:
        yield f"columns {schedule.columns} is not even"


def _small(problem: Conv2dProblem) -> bool:
    """Whether products by zero take less time than FMAs."""
    return problem.channels > 1 or problem.taps <= _MOST_TAPS


def space(problem: Conv2dProblem, spec: DeviceSpec) -> Space[DepthwiseMmaSchedule]:
    """Fields are drawn; tiles have room in registers."""
    fields = field_parameters(DepthwiseMmaSchedule, vector=vectors(problem))
    return Space(fields, partial(_build, problem, spec))


def vectors(problem: Conv2dProblem) -> tuple[int, ...]:
    """Pairs of channels, and more."""
    return tuple(width for width in depthwise.vectors(problem) if width >= PAIR)


def _build(problem: Conv2dProblem, spec: DeviceSpec, draw: Draw) -> DepthwiseMmaSchedule:
    return fitted(problem, DepthwiseMmaSchedule.from_dict(dict(draw)), spec)


def fitted(problem: Conv2dProblem, schedule: S, spec: DeviceSpec) -> S:
    """With filters in shared memory alone, fewer columns, and fewer channels, as far as that is needed."""
    own, least = schedule, max(PAIR, problem.channels)
    while not _fits(problem, own, spec):
        if own.keep_filters:
            own = own.replace(keep_filters=False)
        elif own.columns > PAIR:
            own = own.replace(columns=own.columns - PAIR)
        elif own.vector > least:
            own = own.replace(vector=own.vector // 2)
        else:
            break
    stated = field_specs(type(own))["min_blocks_per_sm"].values
    return own.replace(min_blocks_per_sm=fitting_blocks(own.footprint(problem), spec, stated))


def _fits(problem: Conv2dProblem, schedule: DepthwiseMmaSchedule, spec: DeviceSpec) -> bool:
    """Whether a block has the registers and the shared memory, and a source may have all products."""
    footprint = schedule.footprint(problem)
    enough = footprint.registers <= spec.registers_per_thread and footprint.shared_bytes <= spec.shared_per_block
    return enough and depthwise.is_written_out(problem, schedule)


def candidates(problem: Conv2dProblem, spec: DeviceSpec) -> Iterator[DepthwiseMmaSchedule]:
    """Wide vectors, and as many blocks as there are registers for."""
    fitting = vectors(problem)
    for vector, rows, columns, keep_filters in _LIKELY:
        own = DepthwiseMmaSchedule(vector=max(fitting[0], min(vector, fitting[-1])), rows=rows, columns=columns)
        own = own.replace(keep_filters=keep_filters, min_blocks_per_sm=4, specialize=Specialize.SHAPE)
        yield fitted(problem, own, spec)


def workload(problem: Conv2dProblem, schedule: DepthwiseMmaSchedule, spec: DeviceSpec) -> tuple[Workload, ...]:
    """A step is a row of pixels: loads of what it sees anew, of filters that are not kept, and products."""
    warps, vector_bytes = schedule.threads / WARP, schedule.vector * problem.dtype.bytes
    _, along = schedule.window(problem)
    loads, opened = along * problem.stride_h * warps, schedule.open_rows(problem)
    products, _ = schedule.written_out(problem)
    inside, stored = share_inside(problem, schedule.columns), share_stored(problem, schedule.columns, schedule.rows)
    across = lines_of_load(schedule.channel_threads, vector_bytes, apart(problem, schedule.columns))
    filter_bytes = WORD_BYTES * schedule.filter_words(problem) * schedule.threads
    costs = Costs.of(spec)
    return (
        Workload(
            blocks=schedule.blocks(problem),
            footprint=schedule.footprint(problem),
            memory_bytes=problem.work.bytes,
            steps=schedule.rows + opened - 1,
            instructions=(costs.product * products + costs.store * schedule.columns) * warps,
            load_instructions=costs.access * loads,
            unit_clocks=products * warps * _PRODUCT / (_BY_MMA * spec.rate(problem.unit)),
            shared_clocks=0 if schedule.keep_filters else filter_bytes / LINE_BYTES,
            lines=inside * across * loads,
            bytes_loaded=inside * loads * WARP * vector_bytes,
            bytes_stored=stored * schedule.rows * schedule.columns * schedule.threads * vector_bytes,
        ),
    )


def applies(problem: Conv2dProblem, spec: DeviceSpec) -> bool:
    """Whether groups have few channels of 16 bits, in pairs, and rows of filters lie one below the other."""
    if problem.dtype.bytes != _HALF_BYTES or problem.dilation_h > 1 or problem.volumes:
        return False
    if not problem.small_groups or not vectors(problem) or not _small(problem):
        return False
    least = DepthwiseMmaSchedule(vector=max(PAIR, problem.channels), columns=PAIR, keep_filters=False)
    return _fits(problem, least, spec)


KERNEL = Kernel(DepthwiseMmaSchedule, emit, constraints, space, candidates, checks_of_channels, workload, applies)
