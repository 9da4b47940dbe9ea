"""What the blocks of a schedule by fused multiply-adds do, counted before anything is compiled."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.attention.attention.flash.schedule import FlashSchedule
from autotune.codegen.attention.attention.problem import AttentionProblem
from autotune.codegen.model.hardware import LINE_BYTES, WARP
from autotune.search_spaces.attention.packed_sequences import finding_clocks, finding_rounds
from autotune.search_spaces.attention.tiles import TileSteps, empty_waits
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import resident_blocks
from autotune.search_spaces.machine.workload import Workload


@dataclass(frozen=True)
class Costs(Coefficients, section="attention.flash"):
    """What the instructions of attention by FMAs take.

    Attributes:
        unpack: instructions of a pair of elements that is unpacked.
        load: instructions of a vector that is loaded and stored to shared memory.
        weight: instructions of a weight.
    """

    unpack: float
    load: float
    weight: float


def workload(problem: AttentionProblem, schedule: FlashSchedule, spec: DeviceSpec) -> tuple[Workload, ...]:
    """A block loads tiles of keys and values in turn, and multiplies them."""
    costs = Costs.of(spec)
    warps, rows, keys = schedule.threads // WARP, schedule.rows_per_warp, schedule.tile_keys
    dims = problem.head_dim + problem.value_elements
    footprint = schedule.footprint(problem)
    of = TileSteps.of(problem, schedule.block_rows, keys)
    of_warp = keys / WARP * dims * (rows * (1 + 1 / 2) + costs.unpack) + rows * keys / WARP * costs.weight
    vectors = keys * dims / schedule.vector_width / WARP
    tile_bytes = keys * dims * problem.dtype.bytes
    reads = warps * keys / WARP * dims / 2 * (1 + rows)
    grid = Workload(
        blocks=of.tiles,
        footprint=footprint,
        memory_bytes=problem.usual_work.bytes,
        steps=of.of_block(resident_blocks(footprint, spec), spec),
        instructions=warps * of_warp,
        load_instructions=of.filled * vectors * costs.load,
        shared_clocks=reads,
        lines=of.filled * vectors * max(1.0, WARP * schedule.vector_width * problem.dtype.bytes / LINE_BYTES),
        bytes_loaded=of.filled * tile_bytes,
        bytes_stored=schedule.block_rows * problem.value_elements * problem.dtype.bytes,
        exposed_clocks=finding_clocks(problem, schedule.block_rows, schedule.blocks(problem) / max(1, of.tiles), spec),
        waits=finding_rounds(problem, schedule.block_rows) + empty_waits(of, footprint, spec),
    )
    return (grid,)
