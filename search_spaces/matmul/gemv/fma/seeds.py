"""gemv: which schedules by FMAs to try first."""

from __future__ import annotations

from collections.abc import Iterator

from autotune.codegen.matmul.gemv.fma.schedule import FmaSchedule
from autotune.codegen.matmul.gemv.problem import GemvProblem, WeightOrder
from autotune.codegen.matmul.gemv.schedule import CHUNK
from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.matmul.gemv import shapes
from autotune.search_spaces.matmul.gemv.shapes import OTHERS, Shape
from autotune.search_spaces.matmul.gemv.tensor_core.legal import preferred as prefers_tensor_cores

from .space import fitted

_FEW_VECTORS = (
    Shape(256, 2, 4, 1, 4),
    Shape(256, 2, 2, 3, 3),
    Shape(256, 4, 2, 1, 4),
    Shape(128, 2, 4, 1, 8),
    Shape(256, 4, 1, 4, 3),
    Shape(256, 2, 8, 1, 2),
    Shape(512, 2, 4, 1, 2),
    Shape(256, 1, 8, 1, 4),
)
# Of W stored as n×k: few rows have many threads.
_FEW_VECTORS_OF_ROWS = (*_FEW_VECTORS, Shape(512, 2, 8, 1, 2, 256))
# Of W stored as k×n, loads of 2 bytes want many blocks, whose strips share x: on an H200, 4095×2049 takes 10.9 µs so,
# and 14.1 by the other shapes.
_FEW_VECTORS_OF_NARROW_COLUMNS = (*_FEW_VECTORS, Shape(256, 4, 4, 1, 4))
_NARROW = 2  # bytes of a load
# Elements of x take more of L1 than those of W: more strips share them, or many rows what a block copies of x.
_MANY_VECTORS = (
    Shape(256, 4, 2, 1, 2),
    Shape(128, 8, 1, 4, 2, 8, True),
    Shape(128, 4, 1, 3, 3, 16),
    Shape(256, 4, 1, 4, 2, 16, True),
    Shape(128, 8, 1, 4, 2, 16, True),
    Shape(128, 4, 1, 4, 2, 8, True),
    Shape(128, 4, 1, 3, 3, 16, True),
    Shape(64, 8, 2, 1, 4, 64),
    Shape(256, 8, 1, 3, 1, 8, True),
    Shape(256, 4, 1, 4, 2),
    Shape(128, 4, 1, 6, 4),
    Shape(128, 4, 2, 1, 4),
)
# Of W stored as k×n, a strip whose loads are all in flight leaves registers to x: with 16 vectors, 28672×4096 takes an
# H200 180 µs so, and 213 by the others.
_MANY_VECTORS_OF_COLUMNS = (*_MANY_VECTORS, Shape(128, 1, 8, 1, 3, line_bytes=64))
# Many strips share loads of x that touch a line for each lane or two.
_TRANSPOSED_X = (
    Shape(256, 8, 1, 3, 2),
    Shape(128, 8, 2, 6, 2),
    Shape(128, 8, 1, 6, 4),
    Shape(256, 8, 2, 4, 1),
    Shape(256, 4, 4, 4, 2),
    Shape(256, 8, 2, 1, 2),
)
_MANY = 6  # vectors
_MOST_LOADS = max(field_specs(FmaSchedule)["loads_in_flight"].values)


def candidates(problem: GemvProblem, spec: DeviceSpec) -> Iterator[FmaSchedule]:
    """See `shapes.candidates`; few where tensor cores come first."""

    def made(index: int, cluster: int) -> FmaSchedule:
        return schedule(problem, spec, index, cluster)

    if prefers_tensor_cores(problem, spec):
        return (made(index, 1) for index in range(OTHERS))
    return shapes.candidates(problem, spec, len(_shapes(problem)), made, fitted)


def schedule(problem: GemvProblem, spec: DeviceSpec, index: int, cluster: int) -> FmaSchedule:
    """That of a shape, with the widest vectors that suit x."""
    shape, width = _shapes(problem)[index], problem.vector_width("w")
    loads = shape.loads
    if _rows_of_x(problem):
        width = 1  # a warp's load of x touches fewer lines if its lanes' rows are neighbours
    elif problem.quantised:
        # Lanes whose weights are neighbours read x in whole lines.
        width = min(width, CHUNK // problem.weights.packed)
        loads = min(_MOST_LOADS, loads * WIDEST_ACCESS // width)
    return shapes.shaped(problem, spec, shape, FmaSchedule, fitted, width=width, loads=loads, cluster=cluster)


def _shapes(problem: GemvProblem) -> tuple[Shape, ...]:
    if _rows_of_x(problem):
        return _TRANSPOSED_X
    if problem.m >= _MANY:
        return _MANY_VECTORS if problem.order is WeightOrder.NK else _MANY_VECTORS_OF_COLUMNS
    if problem.order is WeightOrder.NK:
        return _FEW_VECTORS_OF_ROWS
    narrow = problem.vector_width("w") * problem.weight_dtype.bytes <= _NARROW
    return _FEW_VECTORS_OF_NARROW_COLUMNS if narrow else _FEW_VECTORS


def _rows_of_x(problem: GemvProblem) -> bool:
    """Whether neighbouring terms of a sum are neighbours in W, but a row apart in x."""
    return problem.transpose_x and problem.ldx > 1 and problem.order is WeightOrder.NK
