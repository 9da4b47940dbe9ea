"""What the blocks of a scan schedule do, counted before anything is compiled.

Of the constants only `_TILE_SECONDS` was fitted: to 14 kernels that scan 2^28 elements of 4 bytes on an H200.
"""

from __future__ import annotations

from math import log2

from autotune.codegen.model.hardware import LINE_BYTES, SCHEDULERS, SECTOR_BYTES, WARP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.scan.scan.look_back.schedule import LookBackSchedule
from autotune.codegen.scan.scan.problem import ScanProblem
from autotune.codegen.scan.scan.rows.schedule import RowsSchedule
from autotune.codegen.scan.scan.schedule import ScanSchedule
from autotune.codegen.scan.scan.staying import StayingSchedule
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import blocks_per_sm
from autotune.search_spaces.machine.workload import Workload

# Instructions: of an element, to convert, scan and complete it; of a vector, an access with its address; of a step of a
# scan over lanes, a shuffle, a combination and a selection; of a thread that begins and ends.
_ELEMENT, _ACCESS, _STEP, _THREAD = 4, 4, 3, 40
_HEADS = 6  # instructions for a vector with segments, and again for each element
# Clocks from a word that a block leaves to the block that finds it. A tile waits for that twice: for tiles of its
# group, and for groups of its section, which wait for tiles. A block that stays has something else to do meanwhile.
_HOP, _HOPS = 700, 2
_TILE_SECONDS = 3.6e-9  # that tiles take one after the other, on however many SMs: tickets, and words of others
_UNDER_WAY = 2  # stages of a block that stays whose tiles are summed or stored


def workload(problem: ScanProblem, schedule: ScanSchedule, spec: DeviceSpec) -> tuple[Workload]:
    """A block scans a tile, which it loads at once; or the tiles of its rows in turn."""
    shared = not isinstance(schedule, RowsSchedule)
    warps, width = schedule.threads // WARP, schedule.vector_width
    vectors = warps * schedule.rounds
    words = problem.number.bytes / WORD_BYTES
    steps_of_scan = log2(min(WARP, schedule.threads_per_row)) + 2
    of_vector = width * _ELEMENT + steps_of_scan * _STEP * words + 2 * _ACCESS
    if problem.segmented:
        of_vector += _HEADS + width * _HEADS
    across = 2 * _STEP * steps_of_scan * words if schedule.threads_per_row > WARP else 0
    footprint = schedule.footprint(problem)
    resident = max(1, blocks_per_sm(spec, footprint.threads, footprint.registers, footprint.shared_bytes))
    waits = _HOPS * _HOP / resident * SCHEDULERS if isinstance(schedule, LookBackSchedule) else 0
    in_turn = _TILE_SECONDS * problem.rows * schedule.tiles(problem) if shared else 0
    tile = min(schedule.tile, max(1, problem.columns)) * schedule.rows_per_block
    bytes_loaded = tile * (problem.dtype.bytes + problem.flags)
    bytes_stored = tile * problem.result_dtype.bytes
    access = min(WARP, schedule.threads_per_row) * width * problem.dtype.bytes
    apart = max(1.0, SECTOR_BYTES / access)
    tiles = _tiles_of_block(problem, schedule)
    ahead = max(0, schedule.stages - _UNDER_WAY) if isinstance(schedule, StayingSchedule) else 0
    grid = Workload(
        blocks=schedule.blocks(problem),
        footprint=footprint,
        memory_bytes=problem.work.bytes + 2 * schedule.workspace_bytes(problem) + in_turn * spec.bandwidth,
        steps=tiles,
        ahead=ahead,
        in_flight=ahead,
        instructions=vectors * of_vector + warps * (_THREAD + across) + waits,
        load_instructions=vectors * _ACCESS,
        lines=(bytes_loaded + bytes_stored) / LINE_BYTES * apart,
        bytes_loaded=bytes_loaded * apart,
        bytes_stored=bytes_stored * tiles,
    )
    return (grid,)


def _tiles_of_block(problem: ScanProblem, schedule: ScanSchedule) -> int:
    """Tiles that a block scans one after the other."""
    if isinstance(schedule, StayingSchedule):
        return max(1, ceil_div(problem.rows * schedule.tiles(problem), max(1, schedule.blocks(problem))))
    return max(1, schedule.tiles(problem)) if isinstance(schedule, RowsSchedule) else 1
