"""gemv: which blocks to try first, and the schedules that they make."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

from autotune.codegen.matmul.gemv.problem import GemvProblem, WeightOrder
from autotune.codegen.matmul.gemv.schedule import GemvSchedule, WeightLoads
from autotune.codegen.model.hardware import LINE_BYTES, WARP
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Specialize
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.resources import CLUSTERS_SINCE

S = TypeVar("S", bound=GemvSchedule)

OTHERS = 2  # schedules of the kernel that is not preferred
_CLUSTER = 8  # blocks


class Shape(NamedTuple):
    """A block, and how many of them an SM is to have: with vectors of 16 bytes, 48 KiB and more are on their way."""

    threads: int
    strips: int
    loads: int
    stages: int
    blocks_per_sm: int
    threads_per_output: int = WARP  # of W stored as n×k, at most
    shared_x: bool = False
    line_bytes: int = LINE_BYTES  # of a row of W stored as k×n, that neighbouring threads take


def shaped(
    problem: GemvProblem,
    spec: DeviceSpec,
    shape: Shape,
    kind: type[S],
    fitted: Callable[[GemvProblem, S, DeviceSpec], S],
    *,
    width: int,
    loads: int,
    cluster: int,
    **fields: Any,
) -> S:
    """The schedule of a shape, in as many blocks as an SM shall have: by a cluster of so many at most, or by splits.

    Rows get as many threads as have their loads in flight. Of W stored as k×n, neighbouring threads take a line of each
    row, or a part of one.
    """
    if problem.order is WeightOrder.NK:
        vectors = ceil_div(problem.k, width * problem.weights.packed * loads)
        of_output = min(shape.threads_per_output, 1 << max(0, vectors - 1).bit_length())
    else:
        across = min(max(1, shape.line_bytes // (width * problem.dtype.bytes)), WARP)
        of_output = shape.threads // across
    schedule = kind().replace(
        threads=shape.threads,
        threads_per_output=of_output,
        strips=shape.strips,
        vector_width=width,
        loads_in_flight=loads,
        stages=shape.stages,
        shared_x=shape.shared_x,
        weight_loads=WeightLoads.NO_ALLOCATE,
        **fields,
    )
    schedule = fitted(problem, schedule, spec)
    wanted = max(1, shape.blocks_per_sm * spec.sm_count // max(1, schedule.groups(problem)))
    clusters, splits = (min(cluster, wanted), max(1, wanted // cluster)) if cluster > 1 else (1, wanted)
    shared = schedule.replace(cluster=1 << max(1, clusters).bit_length() - 1, splits=splits)
    # Without a bound, ptxas loads many vectors of x ahead, in so many registers that few blocks are resident.
    return fitted(problem, shared.replace(min_blocks_per_sm=shape.blocks_per_sm), spec)


def candidates(
    problem: GemvProblem,
    spec: DeviceSpec,
    count: int,
    made: Callable[[int, int], S],
    fitted: Callable[[GemvProblem, S, DeviceSpec], S],
) -> Iterator[S]:
    """The shapes, with k split by the grid and by clusters; then what the first one may gain by other loads.

    Args:
        problem, spec: what the schedules are for.
        count: shapes.
        made: the schedule of a shape, by its number, in clusters of so many blocks at most.
        fitted: a schedule with no more of anything than there is room for.
    """
    clustered = spec.compute_capability >= CLUSTERS_SINCE
    for index in range(count):
        schedule = made(index, 1)
        yield schedule
        if clustered and schedule.splits > 1:
            yield made(index, _CLUSTER)
    first = made(0, _CLUSTER if clustered else 1)
    yield first.replace(weight_loads=WeightLoads.CACHED)
    yield first.replace(weight_loads=WeightLoads.EVICT_FIRST)
    yield first.replace(specialize=Specialize.SHAPE)
    for of_output in (first.threads_per_output // 2, first.threads_per_output * 2, 256):
        if 1 <= of_output <= first.threads:
            yield fitted(problem, first.replace(threads_per_output=of_output), spec)
