"""What the blocks of a scan schedule do, counted before anything is compiled."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2

from autotune.codegen.model.hardware import LINE_BYTES, SCHEDULERS, SECTOR_BYTES, WARP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.scan.scan.look_back.schedule import LookBackSchedule
from autotune.codegen.scan.scan.problem import ScanProblem
from autotune.codegen.scan.scan.rows.schedule import RowsSchedule
from autotune.codegen.scan.scan.schedule import ScanSchedule
from autotune.codegen.scan.scan.staying import StayingSchedule
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import blocks_per_sm
from autotune.search_spaces.machine.workload import Workload

# Words of others that a tile waits for in turn: of tiles of its group, and of groups of its section, which wait for
# tiles. A block that stays has something else to do meanwhile.
_HOPS = 2
_UNDER_WAY = 2  # stages of a block that stays whose tiles are summed or stored


@dataclass(frozen=True)
class Costs(Coefficients, section="scan"):
    """What the instructions and the waits of a scan take.

    Attributes:
        element: instructions of an element, to convert, scan and complete it.
        access: instructions of a vector's access with its address.
        step: instructions of a step of a scan over lanes: a shuffle, a combination and a selection.
        thread: instructions of a thread that begins and ends.
        heads: instructions for a vector with segments, and again for each element.
        hop: clocks from a word that a block leaves to the block that finds it.
        tile_seconds: that tiles take one after the other, on however many SMs: tickets, and words of others.
        dependent: times as long as it takes to issue an instruction, from it to the next one of its warp.
    """

    element: float
    access: float
    step: float
    thread: float
    heads: float
    hop: float
    tile_seconds: float
    dependent: float


def workload(problem: ScanProblem, schedule: ScanSchedule, spec: DeviceSpec) -> tuple[Workload]:
    """A block scans a tile, which it loads at once; or the tiles of its rows in turn."""
    costs = Costs.of(spec)
    shared = not isinstance(schedule, RowsSchedule)
    warps, width = schedule.threads // WARP, schedule.vector_width
    vectors = warps * schedule.rounds
    words = problem.number.bytes / WORD_BYTES
    steps_of_scan = log2(min(WARP, schedule.threads_per_row)) + 2
    of_vector = width * costs.element + steps_of_scan * costs.step * words + 2 * costs.access
    if problem.segmented:
        of_vector += costs.heads + width * costs.heads
    across = 2 * costs.step * steps_of_scan * words if schedule.threads_per_row > WARP else 0
    footprint = schedule.footprint(problem)
    resident = max(1, blocks_per_sm(spec, footprint.threads, footprint.registers, footprint.shared_bytes))
    waits = _HOPS * costs.hop / resident * SCHEDULERS if isinstance(schedule, LookBackSchedule) else 0
    in_turn = costs.tile_seconds * problem.rows * schedule.tiles(problem) if shared else 0
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
        instructions=vectors * of_vector + warps * (costs.thread + across) + waits,
        load_instructions=vectors * costs.access,
        in_turn=not ahead,
        dependent=costs.dependent,
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
