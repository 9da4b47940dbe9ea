"""What the blocks of a schedule by wgmma do, counted before anything is compiled.

The constants were fitted to 853 times of an H200, of 19 problems of 16 bits with 44 schedules each, and of the suites'.
"""

from __future__ import annotations

from math import ceil, log2

from autotune.codegen.matmul.gemm.prepare import product
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemm.wgmma.schedule import PRODUCT_ROWS, ROW_BYTES, WgmmaSchedule
from autotune.codegen.matmul.gemm.wgmma.swap import tiled_problem
from autotune.codegen.model.integers import ceil_div
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import blocks_per_sm
from autotune.search_spaces.machine.workload import Workload
from autotune.search_spaces.matmul.gemm import preparation
from autotune.search_spaces.matmul.gemm.tiling import share_inside

_RATE = 0.85  # share of their peak that tensor cores reach
_SHARED_BYTES = 145.0  # bytes of shared memory in a clock, where products and copies do not wait for each other
_STEP_CLOCKS = 56.0  # clocks of tensor cores between two stages
_WAIT_CLOCKS = (207.0, 132.0)  # clocks of a consumer between two stages, if no product is under way, and if one is
_SHARED_K = 0.14  # that steps take longer for each doubling of the blocks that share k
_EXCHANGED = 0.03  # reduced words for each sum that blocks exchange through shared memory
_SHARED_MEMORY = 0.1  # that device memory takes longer for each doubling
_APART = 1.5  # times the steps' time, where blocks share tiles: they are at different k, and load for themselves alone
_OUTSIDE_CLOCKS = 0.6  # clocks for a row of a box that is outside of the matrix, if all SMs copy such rows
_LOADED = 0.575  # share of the time that threads take to load as many bytes: tensor copies ask for whole lines
_PAIRS = 4.0  # times the time that tensor copies take to store, or to load, as many bytes


def workload(problem: GemmProblem, schedule: WgmmaSchedule, spec: DeviceSpec) -> tuple[Workload, ...]:
    """Operands are prepared; then blocks multiply.

    A step takes as long as the slowest of these: tensor cores; shared memory, which copies write and products read, B
    for each 64 rows of A; and a consumer, which waits for its products before it asks for the next stage.
    """
    row = schedule.block_k * problem.dtype.bytes
    a, b, loaded_b = schedule.block_m, schedule.block_n, schedule.loaded_columns(problem)
    left = tiled_problem(product(problem, schedule), schedule)
    inside_a, inside_b = a * share_inside(left.m, a), loaded_b * share_inside(left.n, b)
    lines = inside_a * _lines(left, "a") / schedule.cluster_n + inside_b * _lines(left, "b") / schedule.cluster_m
    blocks, rate = schedule.blocks(problem), spec.rate(problem.unit)
    multiplying = a * b * schedule.block_k / rate
    read = (a + b * (a // PRODUCT_ROWS)) * row
    consumers = 1 if schedule.pingpong else schedule.consumers
    waiting = max(multiplying, read / ROW_BYTES) / consumers + _WAIT_CLOCKS[schedule.wait_depth]
    outside = (a + loaded_b - inside_a - inside_b) * row / ROW_BYTES * min(1.0, blocks / spec.sm_count)
    tiles, shares = schedule.tiles(problem) * schedule.cluster_m * schedule.cluster_n, schedule.shares_tiles(problem)
    own = tiles // blocks + _APART / schedule.sharers(problem) if shares else ceil_div(tiles, max(1, blocks))
    outputs = (1 / problem.parts + problem.preactivation) * (1.0 if schedule.tensor_store else _PAIRS)
    residual = problem.residual * (1.0 if schedule.residual_stages(problem) else _PAIRS)
    steps = ceil(own * ceil_div(schedule.steps(problem), schedule.cluster_k))
    doublings = log2(schedule.cluster_k)
    busy = max(multiplying / _RATE + _STEP_CLOCKS, waiting / _resident(problem, schedule, spec))
    grid = Workload(
        blocks=blocks,
        footprint=schedule.footprint(problem),
        memory_bytes=problem.work.bytes * (1 + _SHARED_MEMORY * doublings),
        steps=steps * (1 + _SHARED_K * doublings),
        ahead=schedule.stages - 1,
        in_flight=schedule.stages - 1,
        unit_clocks=busy + _OUTSIDE_CLOCKS * outside,
        shared_clocks=(read + (a + loaded_b) * row) / _SHARED_BYTES,
        bytes_loaded=_LOADED * lines * row,
        bytes_stored=a * b * problem.result.bytes * (outputs + residual) * own / schedule.cluster_k,
        sliced_words=_EXCHANGED * a * b * (1 - 1 / schedule.cluster_k),
        shared_vectors=schedule.sharers(problem) * schedule.consumer_sums / 4 if shares else 0.0,
    )
    return (*preparation.workloads(problem, schedule), grid)


def _lines(problem: GemmProblem, operand: str) -> int:
    """Cache lines of a row of a tile: two where rows of the matrix begin within lines."""
    leading, _, _ = problem.layout_of(operand)
    return 1 if leading * problem.dtype.bytes % ROW_BYTES == 0 else 2


def _resident(problem: GemmProblem, schedule: WgmmaSchedule, spec: DeviceSpec) -> int:
    """Blocks of the fullest SM at once, which hide each other's waits."""
    footprint = schedule.footprint(problem)
    room = blocks_per_sm(spec, footprint.threads, footprint.registers, footprint.shared_bytes)
    return max(1, min(room, ceil_div(schedule.blocks(problem), spec.sm_count)))
