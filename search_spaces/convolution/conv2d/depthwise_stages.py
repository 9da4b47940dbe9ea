"""The kernel for groups of few channels by tensor cores, to which rows are copied, as conv2d knows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product

from autotune.codegen.convolution.conv2d.depthwise_mma.schedule import PAIR, QUAD
from autotune.codegen.convolution.conv2d.depthwise_stages.emit import emit
from autotune.codegen.convolution.conv2d.depthwise_stages.schedule import LANES_W, DepthwiseStagesSchedule
from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import LINE_BYTES, WARP, WIDEST_ACCESS
from autotune.codegen.model.integers import round_up
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.model.tensor_map import MOST_OF_BOX
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.space import Draw, Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.resources import BULK_COPIES_SINCE
from autotune.search_spaces.machine.workload import Workload

from . import depthwise, depthwise_mma
from .checks import checks_of_rows

_WARPS = (1, 2, 3, 4, 6)  # of a block
_CONFLICTS = 2  # threads side by side load pixels two apart, from the same banks
_LIKELY = 8  # shapes of blocks to try first


def constraints(problem: Conv2dProblem, schedule: DepthwiseStagesSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    if spec.compute_capability < BULK_COPIES_SINCE:
        yield f"compute capability {spec.compute_capability}: expected {BULK_COPIES_SINCE} or newer for tensor copies"
    if not _aligned(problem):
        stated = problem.layouts["x"]
        yield f"x with strides {stated.strides} and an alignment of {stated.alignment} bytes: expected 16"
    if schedule.channel_threads % QUAD or schedule.threads % (WARP * schedule.channel_warps):
        yield f"threads {schedule.threads}: expected warps for channel_threads {schedule.channel_threads}"
    if max(box := schedule.box(problem)) > MOST_OF_BOX:
        yield f"a row of {box} elements: expected {MOST_OF_BOX} at most along each dimension"
    yield from depthwise_mma.violations(problem, schedule)
    yield from depthwise.constraints(problem, schedule, spec)


def _aligned(problem: Conv2dProblem) -> bool:
    """Whether pixels of X, and images, begin at what tensor copies read."""
    return problem.layouts["x"].vector_width * problem.dtype.bytes >= WIDEST_ACCESS


def space(problem: Conv2dProblem, spec: DeviceSpec) -> Space[DepthwiseStagesSchedule]:
    """Fields are drawn; tiles have room in registers."""
    fields = field_parameters(DepthwiseStagesSchedule, vector=_vectors(problem))
    return Space(fields, partial(_build, problem, spec))


def _vectors(problem: Conv2dProblem) -> tuple[int, ...]:
    """The wider ones, unless pixels of D have none."""
    stated = field_specs(DepthwiseStagesSchedule)["vector"].values
    fitting = depthwise_mma.vectors(problem)
    return tuple(width for width in fitting if width in stated) or fitting[-1:]


def _build(problem: Conv2dProblem, spec: DeviceSpec, draw: Draw) -> DepthwiseStagesSchedule:
    return _fitted(problem, DepthwiseStagesSchedule.from_dict(dict(draw)), spec)


def _fitted(problem: Conv2dProblem, schedule: DepthwiseStagesSchedule, spec: DeviceSpec) -> DepthwiseStagesSchedule:
    """With whole warps for the channels, rows no longer than a tensor copy, and what registers have room for."""
    unit = WARP * schedule.channel_warps
    own = schedule.replace(threads=max(1, schedule.threads // unit) * unit)
    while max(own.box(problem)) > MOST_OF_BOX and own.columns > PAIR:
        own = own.replace(columns=own.columns - PAIR)
    return depthwise_mma.fitted(problem, own, spec)


def candidates(problem: Conv2dProblem, spec: DeviceSpec) -> Iterator[DepthwiseStagesSchedule]:
    """Blocks of which the least reaches beyond rows and channels, and larger ones first."""
    vector = depthwise_mma.vectors(problem)[-1]

    def waste(shape: tuple[int, int]) -> tuple[float, int]:
        channels, columns = shape[0] * QUAD * vector, shape[1] * LANES_W * PAIR
        whole = round_up(problem.in_channels, channels) * round_up(problem.out_width, columns)
        return whole / (problem.in_channels * problem.out_width), -shape[0] * shape[1]

    shapes = sorted(((one, two) for one, two in product(_WARPS, _WARPS) if one * two in _WARPS), key=waste)
    for channel_warps, column_warps in shapes[:_LIKELY]:
        for rows in (28, 14):
            own = DepthwiseStagesSchedule(threads=WARP * channel_warps * column_warps, vector=vector, rows=rows)
            own = own.replace(channel_threads=QUAD * channel_warps, min_blocks_per_sm=8, specialize=Specialize.SHAPE)
            yield _fitted(problem, own, spec)


def workload(problem: Conv2dProblem, schedule: DepthwiseStagesSchedule, spec: DeviceSpec) -> tuple[Workload, ...]:
    """That of `depthwise_mma`, whose rows of X come by tensor copies, and are loaded from shared memory."""
    costs = depthwise_mma.Costs.of(spec)
    (work,) = depthwise_mma.workload(problem, schedule, spec)
    _, _, columns, channels = schedule.box(problem)
    copied = columns * channels * problem.dtype.bytes * problem.stride_h
    _, along = schedule.window(problem)
    loaded = along * problem.stride_h * schedule.threads * schedule.vector * problem.dtype.bytes
    return (
        replace(
            work,
            ahead=schedule.stages - 1,
            in_flight=schedule.stages - 1,
            instructions=costs.staged * work.instructions,
            load_instructions=costs.staged * work.load_instructions / costs.access,
            shared_clocks=work.shared_clocks + _CONFLICTS * loaded / LINE_BYTES,
            lines=copied / LINE_BYTES,
            bytes_loaded=copied,
        ),
    )


def applies(problem: Conv2dProblem, spec: DeviceSpec) -> bool:
    """Whether groups have few channels of 16 bits, and tensor copies read their rows."""
    return spec.compute_capability >= BULK_COPIES_SINCE and _aligned(problem) and depthwise_mma.applies(problem, spec)


KERNEL = Kernel(DepthwiseStagesSchedule, emit, constraints, space, candidates, checks_of_rows, workload, applies)
