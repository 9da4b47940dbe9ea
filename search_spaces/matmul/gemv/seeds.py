"""gemv: which schedules to try first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from autotune.codegen.matmul.gemv.problem import GemvProblem, WeightOrder
from autotune.codegen.matmul.gemv.schedule import CHUNK, GemvSchedule, MultiplyUnit, WeightLoads
from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import LINE_BYTES, WARP, WIDEST_ACCESS
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Specialize
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.resources import CLUSTERS_SINCE

from .space import fitted
from .tensor_cores import tensor_cores_multiply


class _Shape(NamedTuple):
    """A block, and how many of them an SM is to have: with vectors of 16 bytes, 48 KiB and more are on their way."""

    threads: int
    strips: int
    loads: int
    stages: int
    blocks_per_sm: int
    threads_per_output: int = WARP  # for W stored as n×k, at most
    shared_x: bool = False


_FEW_VECTORS = (
    _Shape(256, 2, 4, 1, 4),
    _Shape(256, 2, 2, 3, 3),
    _Shape(256, 4, 2, 1, 4),
    _Shape(128, 2, 4, 1, 8),
    _Shape(256, 4, 1, 4, 3),
    _Shape(256, 2, 8, 1, 2),
    _Shape(512, 2, 4, 1, 2),
    _Shape(256, 1, 8, 1, 4),
)
# Elements of x take more of L1 than those of W: more strips share them, or many rows what a block copies of x.
_MANY_VECTORS = (
    _Shape(256, 4, 2, 1, 2),
    _Shape(128, 8, 1, 4, 2, 8, True),
    _Shape(128, 4, 1, 3, 3, 16),
    _Shape(256, 4, 1, 4, 2, 16, True),
    _Shape(128, 8, 1, 4, 2, 16, True),
    _Shape(128, 4, 1, 4, 2, 8, True),
    _Shape(128, 4, 1, 3, 3, 16, True),
    _Shape(64, 8, 2, 1, 4, 64),
    _Shape(256, 8, 1, 3, 1, 8, True),
    _Shape(256, 4, 1, 4, 2),
    _Shape(128, 4, 1, 6, 4),
    _Shape(128, 4, 2, 1, 4),
)
# Many strips share loads of x that touch a line for each lane or two.
_TRANSPOSED_X = (
    _Shape(256, 8, 1, 3, 2),
    _Shape(128, 8, 2, 6, 2),
    _Shape(128, 8, 1, 6, 4),
    _Shape(256, 8, 2, 4, 1),
    _Shape(256, 4, 4, 4, 2),
    _Shape(256, 8, 2, 1, 2),
)
# Tensor cores take 16 rows of W at once, and leave registers to loads.
_TENSOR_CORES = (
    _Shape(256, 2, 4, 1, 4),
    _Shape(128, 4, 2, 4, 2, 4, True),
    _Shape(256, 2, 4, 1, 2, 16),
    _Shape(256, 2, 4, 1, 2, 8),
    _Shape(128, 4, 4, 1, 2, 16),
    _Shape(256, 4, 2, 3, 2, 8, True),
    _Shape(256, 2, 4, 3, 2, 4, True),
    _Shape(128, 4, 2, 4, 2, 8, True),
    _Shape(256, 4, 2, 1, 3),
    _Shape(256, 2, 8, 1, 2),
    _Shape(256, 2, 2, 4, 3),
    _Shape(512, 2, 4, 1, 2),
)
# A load of codes has so many weights that it is few loads: many stages, or blocks, keep enough in flight.
_TENSOR_CODES = (
    _Shape(256, 2, 4, 1, 2),
    _Shape(128, 2, 8, 1, 3, 16),
    _Shape(512, 2, 1, 3, 2, 64),
    _Shape(512, 4, 1, 3, 1, 64, True),
    _Shape(256, 2, 4, 3, 2, 32),
    _Shape(256, 4, 2, 4, 1, 32, True),
    _Shape(256, 2, 2, 1, 1),
    _Shape(128, 2, 1, 6, 6, 4, True),
    _Shape(256, 4, 1, 4, 2, 4, True),
    _Shape(128, 4, 4, 1, 2, 16),
    _Shape(128, 4, 1, 4, 4, 8, True),
    _Shape(128, 2, 1, 6, 8, 4),
    _Shape(256, 2, 2, 1, 4, 16),
    _Shape(128, 2, 2, 1, 8, 8),
    _Shape(128, 4, 1, 6, 4, 4, True),
    _Shape(256, 2, 1, 6, 4, 16),
    _Shape(256, 4, 2, 1, 3),
)
_MANY = 6  # vectors
_MANY_FOR_FMA = 4
_MOST_LOADS = max(field_specs(GemvSchedule)["loads_in_flight"].values)


def default(problem: GemvProblem, spec: DeviceSpec) -> GemvSchedule:
    """The first shape, with loads to registers; split over the grid, which every device can."""
    return _schedule(problem, spec, _unit(problem, spec), 0, cluster=1)


def candidates(problem: GemvProblem, spec: DeviceSpec) -> Iterator[GemvSchedule]:
    """The shapes, with k split by the grid and by clusters; then what the first one may gain by other loads."""
    clustered = spec.compute_capability >= CLUSTERS_SINCE
    unit = _unit(problem, spec)
    for index in range(len(_shapes(problem, unit))):
        schedule = _schedule(problem, spec, unit, index, cluster=1)
        yield schedule
        if clustered and schedule.splits > 1:
            yield _schedule(problem, spec, unit, index, cluster=8)
        if schedule.spread_x:
            yield _schedule(problem, spec, unit, index, cluster=1, spread_x=False)
    first = _schedule(problem, spec, unit, 0, cluster=8 if clustered else 1)
    yield replace(first, weight_loads=WeightLoads.CACHED)
    yield replace(first, weight_loads=WeightLoads.EVICT_FIRST)
    yield replace(first, specialize=Specialize.SHAPE)
    for of_output in (first.threads_per_output // 2, first.threads_per_output * 2, 256):
        if 1 <= of_output <= first.threads:
            yield fitted(problem, replace(first, threads_per_output=of_output), spec)
    if tensor_cores_multiply(problem, spec):
        (other,) = set(MultiplyUnit) - {unit}
        yield from (_schedule(problem, spec, other, index, cluster=1) for index in range(2))


def _unit(problem: GemvProblem, spec: DeviceSpec) -> MultiplyUnit:
    """Tensor cores for many vectors, and for codes, of which two are decoded at once for them."""
    many = problem.m >= _MANY_FOR_FMA or problem.quantised
    return MultiplyUnit.TENSOR_CORE if many and tensor_cores_multiply(problem, spec) else MultiplyUnit.FMA


def _shapes(problem: GemvProblem, unit: MultiplyUnit) -> tuple[_Shape, ...]:
    if unit is MultiplyUnit.TENSOR_CORE:
        return _TENSOR_CODES if problem.quantised else _TENSOR_CORES
    if _rows_of_x(problem):
        return _TRANSPOSED_X
    return _MANY_VECTORS if problem.m >= _MANY else _FEW_VECTORS


def _rows_of_x(problem: GemvProblem) -> bool:
    """Whether neighbouring terms of a sum are neighbours in W, but a row apart in x."""
    return problem.transpose_x and problem.order is WeightOrder.NK


def _schedule(
    problem: GemvProblem, spec: DeviceSpec, unit: MultiplyUnit, index: int, cluster: int, spread_x: bool = True
) -> GemvSchedule:
    """The widest vectors, in as many blocks as an SM shall have: by a cluster of so many at most, or else by splits.

    Rows get as many threads as have their loads in flight. Of W stored as k×n, neighbouring threads take a line of each
    row.
    """
    shape, width = _shapes(problem, unit)[index], problem.vector_width("w")
    loads = shape.loads
    if _rows_of_x(problem):
        width = 1  # a warp's load of x touches fewer lines if its lanes' rows are neighbours
    elif problem.quantised and unit is MultiplyUnit.FMA:
        # Lanes whose weights are neighbours read x in whole lines.
        width = min(width, CHUNK // problem.weights.packed)
        loads = min(_MOST_LOADS, loads * WIDEST_ACCESS // width)
    if problem.order is WeightOrder.NK:
        vectors = ceil_div(problem.k, width * problem.weights.packed * loads)
        of_output = min(shape.threads_per_output, 1 << max(0, vectors - 1).bit_length())
    else:
        across = min(max(1, LINE_BYTES // (width * problem.dtype.bytes)), WARP)
        of_output = shape.threads // across
    schedule = GemvSchedule(
        threads=shape.threads,
        threads_per_output=of_output,
        strips=shape.strips,
        vector_width=width,
        loads_in_flight=loads,
        stages=shape.stages,
        shared_x=shape.shared_x,
        unit=unit,
        spread_x=spread_x,
        weight_loads=WeightLoads.NO_ALLOCATE,
    )
    schedule = fitted(problem, schedule, spec)
    wanted = max(1, shape.blocks_per_sm * spec.sm_count // max(1, schedule.groups(problem)))
    clusters, splits = (min(cluster, wanted), max(1, wanted // cluster)) if cluster > 1 else (1, wanted)
    shared = replace(schedule, cluster=1 << max(1, clusters).bit_length() - 1, splits=splits)
    # Without a bound, ptxas loads many vectors of x ahead, in so many registers that few blocks are resident.
    return fitted(problem, replace(shared, min_blocks_per_sm=shape.blocks_per_sm), spec)
