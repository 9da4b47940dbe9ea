"""What the blocks of a schedule by mma.sync do, counted before anything is compiled."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from autotune.codegen.attention.attention.mma_sync.schedule import PRODUCT, MmaSyncSchedule
from autotune.codegen.attention.attention.problem import AttentionProblem
from autotune.codegen.model.hardware import LINE_BYTES, SCHEDULERS, WARP
from autotune.codegen.model.integers import ceil_div, largest, round_up, smallest
from autotune.codegen.model.work import Unit
from autotune.search_spaces.attention.packed_sequences import finding_clocks, finding_rounds
from autotune.search_spaces.attention.tiles import (
    TileSteps,
    empty_waits,
    extremes_workload,
    stored_bytes,
    sums_workload,
)
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import resident_blocks
from autotune.search_spaces.machine.workload import Workload

_PRODUCT_PAIRS = 16 * 8 * 16  # multiply-adds of a product
_LOADED_BYTES = 512  # of four matrices


@dataclass(frozen=True)
class Costs(Coefficients, section="attention.mma_sync"):
    """What the instructions of attention by mma.sync take.

    Attributes:
        weight: instructions of a pair and a thread's weights.
        copy: instructions of a copy with its address and bounds.
        element: the same of an element that comes through registers.
        rate: share of the tensor cores' peak that is reached; that of sm_90 takes wgmma.
        dependent: warps of a scheduler that always have an instruction to issue. Of fewer, each waits for its own.
        shared: clocks of shared memory for 128 bytes.
        moved: clocks of an SM to load or store 128 bytes of queries or results.
    """

    weight: float
    copy: float
    element: float
    rate: float
    dependent: float
    shared: float
    moved: float


def workload(problem: AttentionProblem, schedule: MmaSyncSchedule, spec: DeviceSpec) -> tuple[Workload, ...]:
    """A block copies tiles of keys and values, multiplies them, and weighs scores in turn."""
    costs = Costs.of(spec)
    rows, keys = schedule.block_rows, schedule.tile_keys
    dims = round_up(problem.head_dim, PRODUCT) + round_up(problem.value_elements, 8)
    products = rows * keys * dims / _PRODUCT_PAIRS
    warps = schedule.threads // WARP
    loaded = warps * keys * dims * problem.dtype.bytes
    if not schedule.queries_in_registers:
        loaded += rows * problem.head_dim * problem.dtype.bytes
    footprint = schedule.footprint(problem)
    resident = resident_blocks(footprint, spec)
    of = TileSteps.of(problem, rows, keys, schedule.splits, together=schedule.heads_together)
    blocks, steps = of.tiles, of.of_block(resident, spec)
    moved = rows * (problem.head_dim + problem.value_elements) * problem.dtype.bytes
    vectors = of.filled * keys * dims / schedule.vector_width / WARP
    rate = spec.rates.get(Unit.TENSOR_FP16, inf) * costs.rate
    together = max(1, min(resident, ceil_div(blocks, spec.sm_count)))
    idle = max(1.0, costs.dependent * SCHEDULERS / (together * warps))
    grid = Workload(
        blocks=blocks,
        footprint=footprint,
        memory_bytes=problem.usual_work.bytes,
        steps=steps,
        ahead=schedule.stages - 1,
        in_flight=schedule.stages - 1 if schedule.vector_width > 1 else 0,
        instructions=idle * (products + loaded / _LOADED_BYTES + rows * keys / WARP * costs.weight),
        load_instructions=idle * vectors * (costs.copy if schedule.vector_width > 1 else costs.element),
        unit_clocks=rows * keys * dims / rate + costs.moved * moved / LINE_BYTES / steps,
        shared_clocks=costs.shared * (loaded + keys * dims * problem.dtype.bytes) / LINE_BYTES,
        lines=vectors * max(1.0, WARP * schedule.vector_width * problem.dtype.bytes / LINE_BYTES),
        bytes_loaded=keys * dims * problem.dtype.bytes,
        bytes_stored=stored_bytes(
            problem, smallest(rows, problem.rows * schedule.splits / largest(1, blocks)), schedule.splits
        ),
        exposed_clocks=finding_clocks(problem, rows, schedule.blocks(problem) / max(1, blocks), spec) / steps,
        waits=finding_rounds(problem, rows) + empty_waits(of, footprint, spec),
    )
    return (*extremes_workload(problem), grid, *sums_workload(problem, schedule.splits))
