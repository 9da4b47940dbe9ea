"""What the blocks of a schedule by fused multiply-adds do, counted before anything is compiled. Not fitted yet."""

from __future__ import annotations

from autotune.codegen.attention.attention.flash.schedule import FlashSchedule
from autotune.codegen.attention.attention.problem import AttentionProblem
from autotune.codegen.model.hardware import LINE_BYTES, WARP
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload

# Instructions: of a pair of elements that is unpacked, of a vector that is loaded and stored to shared memory, of a
# weight.
_UNPACK, _LOAD, _WEIGHT = 2.0, 14.0, 12.0


def workload(problem: AttentionProblem, schedule: FlashSchedule, spec: DeviceSpec) -> tuple[Workload, ...]:
    """A block loads tiles of keys and values in turn, and multiplies them."""
    warps, rows, keys = schedule.threads // WARP, schedule.rows_per_warp, schedule.tile_keys
    dims = problem.head_dim + problem.value_elements
    blocks = schedule.blocks(problem)
    pairs = max(problem.pairs * problem.heads * problem.batch, 1)
    tiles = pairs / (max(1, blocks) * schedule.block_rows * keys)
    of_warp = keys / WARP * dims * (rows * (1 + 1 / 2) + _UNPACK) + rows * keys / WARP * _WEIGHT
    vectors = keys * dims / schedule.vector_width / WARP
    tile_bytes = keys * dims * problem.dtype.bytes
    reads = warps * keys / WARP * dims / 2 * (1 + rows)
    grid = Workload(
        blocks=blocks,
        footprint=schedule.footprint(problem),
        memory_bytes=problem.work.bytes,
        steps=max(1.0, tiles),
        instructions=warps * of_warp,
        load_instructions=vectors * _LOAD,
        shared_clocks=reads,
        lines=vectors * max(1.0, WARP * schedule.vector_width * problem.dtype.bytes / LINE_BYTES),
        bytes_loaded=tile_bytes,
        bytes_stored=schedule.block_rows * problem.value_elements * problem.dtype.bytes,
    )
    return (grid,)
