"""What the blocks of a schedule by mma.sync do, counted before anything is compiled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from autotune.codegen.matmul.gemm.mma_sync.schedule import (
    PRODUCT_BYTES,
    PRODUCT_M,
    PRODUCT_N,
    MmaSyncSchedule,
)
from autotune.codegen.matmul.gemm.prepare import product
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.hardware import LEAST_COPY, LINE_BYTES, SECTOR_BYTES, WARP, WIDEST_ACCESS
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.work import Unit
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload
from autotune.search_spaces.matmul.gemm import preparation
from autotune.search_spaces.matmul.gemm.tiling import share_inside, straddling

_WORDS = 4  # words of a vector
_FAN_IN = 16  # parts that split_k_reduction.cuh adds at once
_FLOAT8_AS_FLOAT16 = "sm_90"  # where mma.sync multiplies float8 as float16, though tensor cores have float8
_CONVERSION = {DType.FLOAT8_E4M3: 22, DType.FLOAT8_E5M2: 1}  # instructions to make two float8 two float16
_LOAD_BYTES = 512  # bytes of an ldmatrix of four matrices
_WORD_BYTES = 4  # of a float, which across k is loaded alone


@dataclass(frozen=True)
class Costs(Coefficients, section="gemm.mma_sync"):
    """What the instructions of a product by mma.sync take.

    Attributes:
        slower: than the vectors of sgemm, by which the time model counts: text that is unrolled for each of them.
        copy: instructions of a copy with its address and bounds.
        by_registers: relative cost of copies by registers.
        chained_clocks: that a warp waits for each of these, whose addresses follow from each other.
        narrow_clocks: clocks of an SM for each line that asynchronous copies of two words bring by way of L1.
        narrow_stores: of the time of stores of 16 bytes, what as many bytes take more in stores of half as many.
        ends: sectors that a warp's row of D takes more to store which begins and ends within one.
        residual: times the time of a store that a load of as much of C takes: a warp waits for it.
        fma_bf16: instructions of a product of BF16 by FMAs, with shuffles and conversions.
        fma_tf32: the same of TF32.
        rounding: instructions to round a float to TF32.
        tf32: times the time of tensor cores, by their peak, for TF32.
        rate: share of the tensor cores' peak that is reached; that of sm_90 takes wgmma.
    """

    slower: float
    copy: float
    by_registers: float
    chained_clocks: float
    narrow_clocks: float
    narrow_stores: float
    ends: float
    residual: float
    fma_bf16: float
    fma_tf32: float
    rounding: float
    tf32: float
    rate: float


def workload(problem: GemmProblem, schedule: MmaSyncSchedule, spec: DeviceSpec) -> tuple[Workload, ...]:
    """Operands are prepared; then blocks multiply."""
    return (*preparation.workloads(problem, schedule), product_workload(problem, schedule, spec))


def product_workload(problem: GemmProblem, schedule: MmaSyncSchedule, spec: DeviceSpec) -> Workload:
    """That of the blocks that multiply, which copy tiles, load fragments of them and multiply these, step by step."""
    costs = Costs.of(spec)
    size = problem.dtype.bytes
    tile = schedule.block_m * schedule.block_n
    terms = PRODUCT_BYTES // size
    products = tile * schedule.block_k / (PRODUCT_M * PRODUCT_N * terms)
    # Warps side by side load the same rows of A, those one below the other the same columns of B.
    loaded = {
        "a": schedule.block_m * schedule.warps_n * schedule.block_k * size,
        "b": schedule.block_n * schedule.warps_m * schedule.block_k * size,
    }
    multiplied = product(problem, schedule)
    copies, lines, elements, by_words = 0.0, 0.0, 0.0, 0.0
    in_flight, chained = schedule.stages - 1, 0.0
    for operand, side in (("a", "m"), ("b", "n")):
        rows, row_bytes = schedule.rows(problem, operand)
        extent: int = getattr(schedule, f"block_{side}")
        inside = share_inside(getattr(problem, side), extent)
        vector_bytes = getattr(schedule, f"vector_{operand}") * size
        vectors = rows * row_bytes / vector_bytes / WARP
        copies += vectors * (costs.by_registers if vector_bytes < LEAST_COPY else 1)
        if vector_bytes < LEAST_COPY:
            in_flight = 0  # ptxas moves loads down to the stores
            chained += vectors * WARP / schedule.threads
        elements += inside * rows * row_bytes
        by_words += inside * rows * row_bytes if LEAST_COPY < vector_bytes < WIDEST_ACCESS else 0
        width = min(row_bytes, LINE_BYTES, WARP * vector_bytes)  # of a row, that a warp copies at once
        touched = 1 + straddling(multiplied, operand, width, extent)
        lines += inside * vectors * WARP * vector_bytes / width * touched
    tiles, blocks = schedule.tiles(problem), schedule.blocks(problem)
    narrow = WIDEST_ACCESS / (schedule.vector_d * problem.result.bytes) - 1
    row = schedule.warp_n * problem.result.bytes
    sectors = 1 + costs.ends * SECTOR_BYTES / row if narrow else 1.0
    outputs = 1 / problem.parts + problem.preactivation + costs.residual * problem.residual
    stored = tile * problem.result.bytes * outputs * sectors * (1 + costs.narrow_stores * narrow)
    shares = schedule.shares_tiles(problem)
    unit = _executing(problem, spec)
    rate = spec.rate(unit) * costs.rate / (costs.tf32 if unit is Unit.TENSOR_TF32 else 1)
    return Workload(
        blocks=blocks,
        footprint=schedule.footprint(problem),
        memory_bytes=problem.work.bytes,
        steps=ceil_div(tiles * schedule.steps(problem), max(1, blocks)),
        ahead=schedule.stages - 1,
        in_flight=in_flight,
        instructions=_instructions(problem, schedule, products, loaded, spec),
        load_instructions=costs.copy * copies,
        exposed_clocks=costs.chained_clocks * chained,
        shared_clocks=(sum(loaded.values()) + elements + costs.narrow_clocks * by_words) / LINE_BYTES,
        unit_clocks=tile * schedule.block_k / rate,
        lines=lines,
        bytes_loaded=elements,
        bytes_stored=stored * (max(1.0, tiles / blocks) if blocks else 1.0),
        sliced_words=tile // schedule.threads,  # through shared memory on their way to D
        shared_vectors=_vectors_read(tiles, blocks, tile / schedule.threads, costs) if shares else 0.0,
    )


def _executing(problem: GemmProblem, spec: DeviceSpec) -> Unit:
    as_float16 = problem.unit is Unit.TENSOR_FP8 and spec.arch == _FLOAT8_AS_FLOAT16
    return Unit.TENSOR_FP16 if as_float16 else spec.executing(problem.unit)


def _instructions(
    problem: GemmProblem, schedule: MmaSyncSchedule, products: float, loaded: Mapping[str, float], spec: DeviceSpec
) -> float:
    """Instructions of so many products, and of fragments of so many bytes of each operand."""
    costs = Costs.of(spec)
    unit, every = spec.executing(problem.unit), sum(loaded.values())
    loads = every / _LOAD_BYTES
    if unit is Unit.FP32:
        return (costs.fma_tf32 if problem.unit is Unit.TENSOR_TF32 else costs.fma_bf16) * products + loads
    if unit is Unit.TENSOR_TF32:
        across = sum(loaded[operand] for operand in "ab" if not schedule.along_k(problem, operand))
        loads += (across + costs.rounding * every) / _WORD_BYTES / WARP
    converted = _CONVERSION[problem.dtype] * every / (2 * WARP) if unit is not problem.unit else 0.0
    return products + loads + converted


def _vectors_read(tiles: int, blocks: int, sums: float, costs: Costs) -> float:
    """Vectors that a thread reads in turn: of each part of a tile, of 16 neighbours, then of all such groups."""
    sharers = max(2, ceil_div(blocks, tiles))
    parts = sharers if sharers <= _FAN_IN else _FAN_IN + ceil_div(sharers, _FAN_IN)
    return costs.slower * parts * sums / _WORDS
