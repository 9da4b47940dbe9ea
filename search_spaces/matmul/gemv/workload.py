"""What the blocks of a gemv schedule do, counted before anything is compiled."""

from __future__ import annotations

from ....codegen.integers import ceil_div
from ....codegen.matmul.gemv.problem import GemvProblem, WeightOrder
from ....codegen.matmul.gemv.schedule import WARP, GemvSchedule
from ....codegen.work import Unit
from ...device_spec import DeviceSpec
from ...workload import Workload

_SECTOR, _LINE, _WORD = 32, 128, 4  # bytes
_ACCESS = 4  # instructions of a load, with its address


def workload(problem: GemvProblem, schedule: GemvSchedule, spec: DeviceSpec) -> tuple[Workload]:
    """A block loads vectors of W and multiplies them in turn, step by step; the last one reads what others left."""
    by_row, size = problem.order is WeightOrder.NK, problem.dtype.bytes
    warps, loads = schedule.threads // WARP, schedule.loads_in_flight
    vectors = warps * loads * schedule.strips
    width, m = schedule.vector_width, problem.m
    block_n, block_k = schedule.block_n(problem), min(schedule.block_k(problem), max(1, problem.k))
    products = vectors * width * m
    converted = int(size < _WORD) * (vectors * width + _x_elements(schedule, problem, warps))
    x_loads = _x_elements(schedule, problem, warps) / _x_width(schedule, problem)
    weights = block_n * block_k * size
    row_bytes = (block_k if by_row else block_n) * size  # of W, side by side in memory
    outputs, parts = block_n * m, schedule.parts(problem)
    split = schedule.splits > 1
    fewer = min(1.0, problem.n / block_n) if problem.n else 0.0
    grid = Workload(
        blocks=schedule.blocks(problem),
        footprint=schedule.footprint(problem),
        memory_bytes=problem.work.bytes + (2 * schedule.workspace_bytes(problem) if split else 0),
        steps=ceil_div(schedule.steps(problem), schedule.partitions),
        ahead=schedule.stages - 1,
        in_flight=schedule.stages - 1,
        instructions=products + converted,
        load_instructions=_ACCESS * (vectors + x_loads),
        shared_clocks=schedule.tile_bytes(problem) / _LINE if schedule.stages > 1 else 0.0,
        unit_clocks=products * WARP / spec.rates[Unit.FP32],
        lines=fewer * weights / _LINE * max(1.0, _LINE / row_bytes) + x_loads * _x_lines(schedule, problem),
        bytes_loaded=fewer * weights * max(1.0, _SECTOR / row_bytes) + m * block_k * size,
        bytes_stored=outputs * (_WORD if split else size),
        sliced_words=ceil_div(parts * outputs, schedule.threads) if parts > 1 else 0,
        shared_vectors=ceil_div(outputs, schedule.threads * schedule.cluster) * schedule.splits if split else 0,
    )
    return (grid,)


def _x_elements(schedule: GemvSchedule, problem: GemvProblem, warps: int) -> float:
    """Elements of x that the warps of a block load in a step."""
    along_k = schedule.vector_width if problem.order is WeightOrder.NK else 1
    return warps * schedule.loads_in_flight * along_k * problem.m


def _x_width(schedule: GemvSchedule, problem: GemvProblem) -> int:
    count = schedule.vector_width if problem.order is WeightOrder.NK else schedule.loads_in_flight
    return min(count, problem.vector_width("x"))


def _x_lines(schedule: GemvSchedule, problem: GemvProblem) -> float:
    """Cache lines of a warp's load of x: its lanes have elements of their own, or share them."""
    lanes = min(WARP, schedule.threads_per_output)
    if problem.order is WeightOrder.KN:
        lanes = max(1, WARP * schedule.threads_per_output // schedule.threads)
    return max(1.0, lanes * _x_width(schedule, problem) * problem.dtype.bytes / _LINE)
