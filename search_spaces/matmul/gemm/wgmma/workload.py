"""What the blocks of a schedule by wgmma do, counted before anything is compiled."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log2

from autotune.codegen.matmul.gemm.prepare import product
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemm.wgmma.operands import registers_a
from autotune.codegen.matmul.gemm.wgmma.schedule import PRODUCT_ROWS, ROW_BYTES, WgmmaSchedule
from autotune.codegen.matmul.gemm.wgmma.swap import tiled_problem
from autotune.codegen.model.hardware import WARPGROUP
from autotune.codegen.model.integers import ceil_div, largest, smallest
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import blocks_per_sm
from autotune.search_spaces.machine.workload import Workload
from autotune.search_spaces.matmul.gemm import preparation
from autotune.search_spaces.matmul.gemm.tiling import share_inside, straddling

_PAIR_BYTES = 4  # of two elements of 16 bits
_LANES = 128  # additions of an SM in a clock


@dataclass(frozen=True)
class Costs(Coefficients, section="gemm.wgmma"):
    """What the steps of a product by wgmma take.

    Attributes:
        rate: share of their peak that tensor cores reach.
        shared_bytes: bytes of shared memory in a clock, where products and copies do not wait for each other.
        step_clocks: clocks of tensor cores between two stages.
        wait_clocks: clocks of a consumer between two stages, if no product is under way.
        covered_wait_clocks: the same, if one is.
        shared_k: that steps take longer for each doubling of the blocks that share k.
        exchanged: reduced words for each sum that blocks exchange through shared memory.
        shared_memory: that device memory takes longer for each doubling.
        again: times the time of device memory that bytes of A and B take which other clusters read, too, a little
            earlier or later.
        apart: times the steps' time, where blocks share tiles: they are at different k, and load for themselves alone.
        outside_clocks: clocks for a row of a box that is outside of the matrix, if all SMs copy such rows.
        loaded: share of the time that threads take to load as many bytes: tensor copies ask for whole lines.
        straddled: times the time of a line, for as many bytes that lie in two.
        pairs: times the time that tensor copies take to store, or to load, as many bytes, of which a lane has four at
            once; of fewer, that is more.
        promoted: clocks of an SM for each 128 sums that go from tensor cores to FP32.
        short_rows: of the time of tensor copies that store rows of 128 bytes, what as many rows more take each.
        fragment_clocks: clocks of a consumer for each register of A that a thread loads, where A comes from registers.
        tile_clocks: clocks between two tiles of a block, which consumers that take turns share.
    """

    rate: float
    shared_bytes: float
    step_clocks: float
    wait_clocks: float
    covered_wait_clocks: float
    shared_k: float
    exchanged: float
    shared_memory: float
    again: float
    apart: float
    outside_clocks: float
    loaded: float
    straddled: float
    pairs: float
    promoted: float
    short_rows: float
    fragment_clocks: float
    tile_clocks: float


def workload(problem: GemmProblem, schedule: WgmmaSchedule, spec: DeviceSpec) -> tuple[Workload, ...]:
    """Operands are prepared; then blocks multiply."""
    return (*preparation.workloads(problem, schedule), product_workload(problem, schedule, spec))


def product_workload(problem: GemmProblem, schedule: WgmmaSchedule, spec: DeviceSpec) -> Workload:
    """That of the blocks that multiply.

    A step takes as long as the slowest of these: tensor cores; shared memory, which copies write and products read, B
    for each 64 rows of A; and a consumer, which waits for its products before it asks for the next stage.
    """
    costs = Costs.of(spec)
    row = schedule.block_k * problem.dtype.bytes
    a, b, loaded_b = schedule.block_m, schedule.block_n, schedule.loaded_columns(problem)
    left = tiled_problem(product(problem, schedule), schedule)
    inside_a, inside_b = a * share_inside(left.m, a), loaded_b * share_inside(left.n, b)
    a_lines, b_lines = (
        ROW_BYTES / width * (1 + (costs.straddled - 1) * straddling(left, operand, width, extent))
        for operand, extent in (("a", a), ("b", b))
        for width in [schedule.row_bytes(problem, operand)]
    )
    lines = inside_a * a_lines / schedule.cluster_n + inside_b * b_lines / schedule.cluster_m
    blocks, rate = schedule.blocks(problem), spec.rate(problem.unit)
    multiplying = a * b * schedule.block_k / rate
    read = (a + b * (a // PRODUCT_ROWS)) * row
    consumers = 1 if schedule.pingpong else schedule.consumers
    wait = costs.covered_wait_clocks if schedule.wait_depth else costs.wait_clocks
    loading = a * schedule.block_k / WARPGROUP * costs.fragment_clocks if registers_a(left) else 0.0
    waiting = (max(multiplying, read / ROW_BYTES) + loading) / consumers + wait
    outside = (a + loaded_b - inside_a - inside_b) * row / ROW_BYTES * smallest(1.0, blocks / spec.sm_count)
    tiles, shares = schedule.tiles(problem) * schedule.cluster_m * schedule.cluster_n, schedule.shares_tiles(problem)
    own = tiles // blocks + costs.apart / schedule.sharers(problem) if shares else ceil_div(tiles, largest(1, blocks))
    pairs = costs.pairs * _PAIR_BYTES / (schedule.vector_d * problem.result.bytes)
    rows = (
        1 + costs.short_rows * (ROW_BYTES / schedule.store_row_bytes(problem) - 1) if schedule.tensor_store else pairs
    )
    outputs = (1 / problem.parts + problem.preactivation) * rows
    residual = problem.residual * (1.0 if schedule.residual_stages(problem) else pairs)
    steps = ceil(own * ceil_div(schedule.steps(problem), schedule.cluster_k))
    doublings = log2(schedule.cluster_k)
    promoted = costs.promoted * a * b / _LANES * schedule.block_k / schedule.promote if schedule.promote else 0.0
    turns = schedule.consumers if schedule.pingpong else 1
    between = costs.tile_clocks / turns / schedule.steps(problem) if own > 1 else 0.0
    busy = max(multiplying / costs.rate + costs.step_clocks, waiting / _resident(problem, schedule, spec))
    busy += promoted + between
    readers_a = largest(1.0, left.n / (b * schedule.cluster_n))
    readers_b = largest(1.0, left.m / (a * schedule.cluster_m)) * loaded_b / b
    again = left.bytes_of("a") * (1 - 1 / readers_a) + left.bytes_of("b") * (1 - 1 / readers_b)
    return Workload(
        blocks=blocks,
        footprint=schedule.footprint(problem),
        memory_bytes=(problem.work.bytes + costs.again * again) * (1 + costs.shared_memory * doublings),
        steps=steps * (1 + costs.shared_k * doublings),
        ahead=schedule.stages - 1,
        in_flight=schedule.stages - 1,
        unit_clocks=busy + costs.outside_clocks * outside,
        shared_clocks=(read + (a + loaded_b) * row) / costs.shared_bytes,
        bytes_loaded=costs.loaded * lines * row,
        bytes_stored=a * b * problem.result.bytes * (outputs + residual) * own / schedule.cluster_k,
        sliced_words=costs.exchanged * a * b * (1 - 1 / schedule.cluster_k),
        shared_vectors=schedule.sharers(problem) * schedule.consumer_sums / 4 if shares else 0.0,
    )


def _resident(problem: GemmProblem, schedule: WgmmaSchedule, spec: DeviceSpec) -> int:
    """Blocks of the fullest SM at once, which hide each other's waits."""
    footprint = schedule.footprint(problem)
    room = blocks_per_sm(spec, footprint.threads, footprint.registers, footprint.shared_bytes)
    return max(1, min(room, ceil_div(schedule.blocks(problem), spec.sm_count)))
