"""What kernels by wgmma have beside their headers: tensor maps, and the text of a product."""

from __future__ import annotations

from ...dtype import DType
from ...headers import Constant
from ...program import Argument
from ...tensor_map import Swizzle, TensorMap
from ...wgmma import wgmma_source
from .problem import GemmProblem
from .schedule import ROW_BYTES, WGMMA_ROWS, GemmSchedule


def tensor_maps(problem: GemmProblem, schedule: GemmSchedule) -> tuple[Argument, ...]:
    """The maps by which tiles of A and B are copied, and those of D stored, in boxes with rows of 128 bytes."""
    operands = tuple(_operand_map(problem, schedule, operand) for operand in "ab")
    return (*operands, _map(problem, "d", problem.result, WGMMA_ROWS)) if schedule.tensor_store else operands


def product_source(problem: GemmProblem, schedule: GemmSchedule) -> str:
    """The function ``wgmma``, whose B is as wide as a block's tile."""
    dtype, adjacent = problem.dtype, {"m_adjacent": problem.transpose_a, "n_adjacent": not problem.transpose_b}
    return wgmma_source(schedule.block_n, dtype, dtype, **adjacent).rstrip()


def shared_operands(problem: GemmProblem) -> dict[str, Constant]:
    """Which operands the whole batch shares: their maps have one matrix."""
    return {f"shared_{operand}": problem.layout_of(operand)[1] == 0 for operand in "ab"}


def _operand_map(problem: GemmProblem, schedule: GemmSchedule, operand: str) -> Argument:
    """A box has a block's share of the rows of a tile."""
    extent, sharers = (
        (schedule.block_m, schedule.cluster_n) if operand == "a" else (schedule.block_n, schedule.cluster_m)
    )
    rows = (extent if problem.along_k(operand) else schedule.block_k) // sharers
    return _map(problem, operand, problem.dtype, rows)


def _map(problem: GemmProblem, operand: str, dtype: DType, rows: int) -> Argument:
    """A box has so many rows."""
    leading, stride, _ = problem.layout_of(operand)
    shape: tuple[int, ...] = problem.stored[operand]
    strides: tuple[int, ...] = (leading, 1)
    box: tuple[int, ...] = (rows, ROW_BYTES // dtype.bytes)
    if problem.batch > 1:
        shape, strides, box = (problem.batch if stride else 1, *shape), (stride, *strides), (1, *box)
    described = TensorMap(operand, dtype, shape, strides, box, Swizzle.B128)
    return Argument(f"map_{operand}", "TensorMap", tensor_map=described)
