"""gemv: which schedules of tensor cores to try first."""

from __future__ import annotations

from collections.abc import Iterator

from autotune.codegen.matmul.gemv.problem import GemvProblem
from autotune.codegen.matmul.gemv.tensor_core.schedule import TensorCoreSchedule
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.matmul.gemv import shapes
from autotune.search_spaces.matmul.gemv.shapes import OTHERS, Shape

from .legal import fitted, preferred

# Tensor cores take 16 rows of W at once, and leave registers to loads.
_TENSOR_CORES = (
    Shape(256, 2, 4, 1, 4),
    Shape(128, 4, 2, 4, 2, 4, True),
    Shape(256, 2, 4, 1, 2, 16),
    Shape(256, 2, 4, 1, 2, 8),
    Shape(128, 4, 4, 1, 2, 16),
    Shape(256, 4, 2, 3, 2, 8, True),
    Shape(256, 2, 4, 3, 2, 4, True),
    Shape(128, 4, 2, 4, 2, 8, True),
    Shape(256, 4, 2, 1, 3),
    Shape(256, 2, 8, 1, 2),
    Shape(256, 2, 2, 4, 3),
    Shape(512, 2, 4, 1, 2),
)
# A load of codes has so many weights that it is few loads: many stages, or blocks, keep enough in flight.
_TENSOR_CODES = (
    Shape(256, 2, 4, 1, 2),
    Shape(128, 2, 8, 1, 3, 16),
    Shape(512, 2, 1, 3, 2, 64),
    Shape(512, 4, 1, 3, 1, 64, True),
    Shape(256, 2, 4, 3, 2, 32),
    Shape(256, 4, 2, 4, 1, 32, True),
    Shape(256, 2, 2, 1, 1),
    Shape(128, 2, 1, 6, 6, 4, True),
    Shape(256, 4, 1, 4, 2, 4, True),
    Shape(128, 4, 4, 1, 2, 16),
    Shape(128, 4, 1, 4, 4, 8, True),
    Shape(128, 2, 1, 6, 8, 4),
    Shape(256, 2, 2, 1, 4, 16),
    Shape(128, 2, 2, 1, 8, 8),
    Shape(128, 4, 1, 6, 4, 4, True),
    Shape(256, 2, 1, 6, 4, 16),
    Shape(256, 4, 2, 1, 3),
)


def candidates(problem: GemvProblem, spec: DeviceSpec) -> Iterator[TensorCoreSchedule]:
    """See `shapes.candidates`, of codes with parts of x spread and together; few where FMAs come first."""

    def made(index: int, cluster: int) -> TensorCoreSchedule:
        return schedule(problem, spec, index, cluster)

    if not preferred(problem, spec):
        yield from (made(index, 1) for index in range(OTHERS))
        return
    count = len(_shapes(problem))
    yield from shapes.candidates(problem, spec, count, made, fitted)
    if problem.quantised:
        yield from (schedule(problem, spec, index, 1, spread_x=False) for index in range(count))


def schedule(
    problem: GemvProblem, spec: DeviceSpec, index: int, cluster: int, *, spread_x: bool = True
) -> TensorCoreSchedule:
    """That of a shape, with the widest vectors."""
    shape, width = _shapes(problem)[index], problem.vector_width("w")
    fields = {"width": width, "loads": shape.loads, "cluster": cluster, "spread_x": spread_x}
    return shapes.shaped(problem, spec, shape, TensorCoreSchedule, fitted, **fields)


def _shapes(problem: GemvProblem) -> tuple[Shape, ...]:
    return _TENSOR_CODES if problem.quantised else _TENSOR_CORES
