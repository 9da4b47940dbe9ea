"""What the blocks of a gemv schedule do, counted before anything is compiled."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2, prod

from autotune.codegen.matmul.gemv.fma.schedule import FmaSchedule
from autotune.codegen.matmul.gemv.problem import GemvProblem, WeightOrder
from autotune.codegen.matmul.gemv.schedule import GemvSchedule
from autotune.codegen.matmul.gemv.tensor_core.schedule import LANES_K, TensorCoreSchedule
from autotune.codegen.matmul.gemv.weights import Weights
from autotune.codegen.matmul.tensor_unit import unit_of
from autotune.codegen.model.hardware import LINE_BYTES, SECTOR_BYTES, WARP, WIDEST_ACCESS, WORD_BYTES
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.work import Unit
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import most_registers
from autotune.search_spaces.machine.workload import Workload

_TILE, _FRAGMENT = (16, 8, 16), 8  # a product of tensor cores: rows, vectors, terms; weights of a lane
# Instructions for each quantised weight, to a float and to half of a pair of 16-bit numbers, by the machine code.
_DECODED = {Weights.FP8: 2.0, Weights.INT8: 2.25, Weights.INT4: 2.2}
_DECODED_PAIRS = {Weights.PLAIN: 0.5, Weights.FP8: 2.25, Weights.INT8: 2.0, Weights.INT4: 1.4}


@dataclass(frozen=True)
class Costs(Coefficients, section="gemv"):
    """What the parts of a matrix-vector product take.

    Attributes:
        access: instructions of a load of W to registers, with its address.
        copy: the same of a copy to shared memory, which is read back.
        copy_clocks: clocks of an SM for a warp's copy to shared memory by way of L1, which those of 16 bytes leave out.
        x_access: instructions of a load of x, whose products wait for it.
        x_wait: clocks that a warp waits for x in a round of its loads.
        stage_wait: the same in a step whose W lies in shared memory, if x does not.
        x_bytes: bytes of W that a byte of x takes as long as: all SMs read the same ones of L2.
        edge: instructions of an element of x in the last step, if K ends within.
        decoded: instructions of a quantised weight that is made a float, as a share of those in the machine code.
        decoded_pairs: the same of one for tensor cores.
        group: instructions of a vector of W for its scale and zero point.
        by_columns: instructions of an FMA where W is stored as k×n.
        fragment: instructions of a product of tensor cores, beside it.
        tensor_lines: cache lines, and what they take, of a load of W for tensor cores, which has parts of eight rows.
        tensor_memory: bytes of device memory of such loads for each that they need.
        lane_sum: instructions to reduce a sum over the lanes of a warp.
        remote: words of a block's own that one of another block of the cluster takes as long as.
        split_waits: loads, one after the other, of the clusters that share outputs.
        cluster_waits: the same of a cluster's blocks, for each doubling of their number beyond two.
        squeezed: instructions, in each step, for a register that ptxas would take, but launch bounds forbid.
        dependent: times as long as it takes to issue an instruction, from it to the next one of its warp.
    """

    access: float
    copy: float
    copy_clocks: float
    x_access: float
    x_wait: float
    stage_wait: float
    x_bytes: float
    edge: float
    decoded: float
    decoded_pairs: float
    group: float
    by_columns: float
    fragment: float
    tensor_lines: float
    tensor_memory: float
    lane_sum: float
    remote: float
    split_waits: float
    cluster_waits: float
    squeezed: float
    dependent: float


def workload(problem: GemvProblem, schedule: GemvSchedule, spec: DeviceSpec) -> tuple[Workload]:
    """A block loads vectors of W and multiplies them in turn, step by step; the last one reads what others left."""
    costs = Costs.of(spec)
    by_row, size = problem.order is WeightOrder.NK, problem.weight_dtype.bytes / problem.weights.packed
    warps, m, stages = schedule.threads // WARP, problem.m, schedule.stages
    by_tensor_cores = isinstance(schedule, TensorCoreSchedule)
    vectors = warps * schedule.loads_in_flight * schedule.strips
    block_n, block_k = schedule.block_n(problem), min(schedule.block_k(problem), max(1, problem.k))
    steps = ceil_div(schedule.steps(problem), schedule.partitions)
    x_elements = _x_elements(schedule, problem, warps)
    x_loads = x_elements / schedule.x_width(problem)
    x_lines = x_loads * _x_lines(schedule, problem)
    computing, unit_clocks = _products(schedule, problem, vectors, x_elements, spec)
    ends = costs.edge * x_elements if problem.k % schedule.block_k(problem) else 0.0
    ends += costs.lane_sum * warps * _lane_sums(schedule, problem)
    shared_clocks = x_copies = 0.0
    if stages > 1:
        by_l1 = vectors if schedule.vector_width * problem.weight_dtype.bytes < WIDEST_ACCESS else 0
        shared_clocks = schedule.tile_bytes(problem) / LINE_BYTES + costs.copy_clocks * by_l1
    if schedule.shared_x:
        shared_clocks += x_lines + schedule.x_tile_bytes(problem) / LINE_BYTES
        x_lines = m * block_k * problem.dtype.bytes / LINE_BYTES
        x_copies = schedule.x_tile_bytes(problem) / (WARP * WIDEST_ACCESS)
    weights = block_n * block_k * size
    row_bytes = (block_k if by_row else block_n) * size  # bytes of W side by side in memory
    outputs, parts = block_n * m, schedule.parts(problem)
    split = schedule.splits > 1
    fewer = min(1.0, problem.n / block_n) if problem.n else 0.0
    lines = fewer * weights / LINE_BYTES * max(1.0, LINE_BYTES / _side_by_side(problem, schedule))
    own_words = ceil_div(parts * outputs, schedule.threads) if parts > 1 else 0
    of_others = schedule.cluster * ceil_div(outputs, schedule.threads * schedule.cluster) if schedule.cluster > 1 else 0
    moved = problem.work.bytes * (costs.tensor_memory if by_tensor_cores else 1.0)
    exposed_clocks = costs.x_wait * schedule.loads_in_flight
    if stages > 1 and not schedule.shared_x:
        exposed_clocks += costs.stage_wait
    footprint = schedule.footprint(problem)
    missing = footprint.uncapped_registers - most_registers(spec, schedule.threads, schedule.min_blocks_per_sm)
    computing += costs.squeezed * warps * max(0, missing)
    grid = Workload(
        blocks=schedule.blocks(problem),
        footprint=footprint,
        memory_bytes=moved + (schedule.workspace_bytes(problem) if split else 0),
        steps=steps,
        ahead=stages - 1,
        in_flight=stages - 1,
        independent=True,
        instructions=computing + ends / max(1, steps),
        load_instructions=(costs.copy if stages > 1 else costs.access) * vectors
        + costs.x_access * x_loads
        + costs.copy * x_copies,
        dependent=costs.dependent,
        exposed_clocks=exposed_clocks,
        shared_clocks=shared_clocks,
        unit_clocks=unit_clocks,
        lines=lines * (costs.tensor_lines if by_tensor_cores else 1.0) + x_lines,
        bytes_loaded=fewer * weights * max(1.0, SECTOR_BYTES / row_bytes)
        + costs.x_bytes * m * block_k * problem.dtype.bytes,
        bytes_stored=outputs * (WORD_BYTES if split else problem.dtype.bytes),
        sliced_words=own_words + costs.remote * of_others,
        waits=costs.split_waits * split + costs.cluster_waits * max(0.0, log2(schedule.cluster) - 1),
    )
    return (grid,)


def _products(
    schedule: GemvSchedule, problem: GemvProblem, vectors: int, x_elements: float, spec: DeviceSpec
) -> tuple[float, float]:
    """Instructions of a step of a block, for products and their operands; clocks of the unit that multiplies."""
    costs, width = Costs.of(spec), schedule.vector_width * problem.weights.packed
    groups = costs.group * vectors if problem.group_size else 0.0
    if isinstance(schedule, TensorCoreSchedule):
        products = vectors * width // _FRAGMENT * ceil_div(problem.m, _TILE[1])
        decoded = costs.decoded_pairs * _DECODED_PAIRS[problem.weights] * vectors * width
        unit_clocks = products * prod(_TILE) / spec.rate(unit_of(problem.dtype))
        return products * (1 + costs.fragment) + decoded + groups, unit_clocks
    products = vectors * width * problem.m
    converted = costs.decoded * _DECODED[problem.weights] * vectors * width if problem.quantised else 0.0
    if problem.dtype.bytes < WORD_BYTES:
        converted += x_elements + (0 if problem.quantised else vectors * width)
    by_columns = costs.by_columns if problem.order is WeightOrder.KN else 1.0
    return products * by_columns + converted + groups, products * WARP / spec.rate(Unit.FP32)


def _lane_sums(schedule: GemvSchedule, problem: GemvProblem) -> int:
    """Sums that a thread reduces over the lanes of its warp."""
    if isinstance(schedule, FmaSchedule):
        return schedule.strips * schedule.along_n(problem) * problem.m
    return schedule.sums(problem)


def _side_by_side(problem: GemvProblem, schedule: GemvSchedule) -> float:
    """Bytes of a row of W that a warp's load has."""
    rows_of_w = problem.order is WeightOrder.NK
    lanes = schedule.threads_per_output if rows_of_w else schedule.threads // schedule.threads_per_output
    return min(WARP, lanes) * schedule.vector_width * problem.weight_dtype.bytes


def _x_elements(schedule: GemvSchedule, problem: GemvProblem, warps: int) -> float:
    """Elements of x that the warps of a block load in a step."""
    vectors = problem.m if isinstance(schedule, FmaSchedule) else ceil_div(problem.m, _TILE[1])
    return warps * schedule.loads_in_flight // schedule.spread(problem) * schedule.terms(problem) * vectors


def _x_lines(schedule: GemvSchedule, problem: GemvProblem) -> float:
    """Cache lines of a warp's load of x: its lanes have elements of their own, or share them."""
    width = schedule.x_width(problem) * problem.dtype.bytes
    if isinstance(schedule, TensorCoreSchedule):
        return min(problem.m * schedule.spread(problem), _TILE[1]) * max(1.0, LANES_K * width / LINE_BYTES)
    lanes = min(WARP, schedule.threads_per_output)
    if problem.order is WeightOrder.KN:
        lanes = max(1, WARP * schedule.threads_per_output // schedule.threads)
    if problem.transpose_x:
        rows = schedule.terms(problem) if problem.order is WeightOrder.NK else schedule.loads_in_flight
        return min(lanes, max(1.0, lanes * rows * problem.ldx * problem.dtype.bytes / LINE_BYTES))
    if problem.order is WeightOrder.KN:
        return max(1.0, lanes * width / LINE_BYTES)
    # Lanes whose vectors of W hold several accesses to x leave gaps between them.
    return max(1.0, lanes * schedule.terms(problem) * problem.dtype.bytes / LINE_BYTES)
