"""What the blocks of a reduce schedule do, counted before anything is compiled."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.hardware import LINE_BYTES, SECTOR_BYTES, WARP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.rows.reduce.problem import Axis, ReduceProblem
from autotune.codegen.rows.reduce.schedule import ReduceSchedule
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload

_OFFSETS = 1  # loads that staged segments wait for beside their tiles
_PARTIALS_AT_ONCE = 8  # partial results of a column that the last block has on their way


@dataclass(frozen=True)
class Costs(Coefficients, section="reduce"):
    """What the instructions of a reduction take.

    Attributes:
        access: instructions of a load with its address.
        index: instructions of an index: a comparison for order, one for NaN, and two selections. Rows have one for each
            vector.
        shared_access: instructions of an element that is read from shared memory, one by one.
        conflicts: ways of segments that begin in any bank.
        split_waits: loads, one after the other, of the blocks that share results: a ticket, and what others left.
        round_waits: loads that a round of the last block takes as long as.
        end_waits: loads that the ends of a row that begins between vectors take as long as.
        segment_waits: the same of a segment that is not staged: its offsets, and what is ahead of its first vector and
            behind its last tile.
        folded_waits: the same of folded rows, whose columns the last of all blocks combines, beside its rounds.
        uneven: more tiles of the longest of the segments that blocks share, as a share of the others'.
        strips: more time of device memory for each line that a row of a block's strip has but a part of.
        dependent: times as long as it takes to issue an instruction, from it to the next one of its warp.
    """

    access: float
    index: float
    shared_access: float
    conflicts: float
    split_waits: float
    round_waits: float
    end_waits: float
    segment_waits: float
    folded_waits: float
    uneven: float
    strips: float
    dependent: float


def workload(problem: ReduceProblem, schedule: ReduceSchedule, spec: DeviceSpec) -> tuple[Workload]:
    """A block loads and adds in turn, tile by tile; the last one of a reduction reads what the others left."""
    costs = Costs.of(spec)
    if schedule.staged:
        return (_staged(problem, schedule, spec),)
    element, partial = problem.element_bytes, schedule.partial_bytes(problem)
    by_columns = problem.axis is Axis.FIRST
    arrays = problem.op.arrays
    warps, loads = schedule.threads // WARP, schedule.loads_in_flight
    results = schedule.strip if by_columns else schedule.rows_per_block
    side_by_side = (schedule.strip if by_columns else schedule.strip * loads) * problem.dtype.bytes  # in memory
    tile = min(schedule.tile(problem), max(1, problem.reduced))  # elements of each result
    indices = 0.0  # instructions for the index of an element
    if problem.op.indexed:
        indices = 1.0 if by_columns else 1 / schedule.vector_width
    # Instructions of an element, its conversion among them.
    combined = ceil_div(problem.op.operations, 2) + arrays * (problem.dtype.bytes == 2) + indices * costs.index
    split = schedule.splits > 1
    stored = results * partial if split else min(results, problem.results) * problem.result_dtype.bytes
    at_once = _PARTIALS_AT_ONCE if by_columns else schedule.threads
    tiles = ceil_div(schedule.tiles(problem), schedule.splits)
    steps = tiles + _waits_beside_tiles(problem, schedule, costs)
    loading = tiles / steps
    rounds = ceil_div(schedule.splits, at_once)
    memory = problem.work.bytes * (1 + costs.strips * max(0.0, LINE_BYTES / side_by_side - 1) * by_columns)
    waits = costs.split_waits + costs.round_waits * rounds + costs.uneven * tiles * problem.in_segments
    grid = Workload(
        blocks=schedule.blocks(problem),
        footprint=schedule.footprint(problem),
        memory_bytes=memory + 2 * schedule.workspace_bytes(problem),
        steps=steps,
        instructions=loading * warps * loads * schedule.vector_width * combined,
        load_instructions=loading * warps * loads * arrays * costs.access,
        in_turn=True,
        independent=True,
        dependent=costs.dependent,
        lines=loading * results * tile * element / LINE_BYTES * max(1.0, LINE_BYTES / side_by_side),
        bytes_loaded=loading * results * tile * element * max(1.0, SECTOR_BYTES / side_by_side),
        bytes_stored=stored,
        waits=split * waits + _waits_of_edges(problem, schedule, costs),
    )
    return (grid,)


def _waits_of_edges(problem: ReduceProblem, schedule: ReduceSchedule, costs: Costs) -> float:
    """Loads that blocks wait for, one after the other, where columns are no whole vectors."""
    if schedule.folded:
        return costs.folded_waits + costs.round_waits * ceil_div(problem.columns, schedule.threads)
    ragged = problem.axis is Axis.FIRST and problem.columns % schedule.vector_width > 0
    if not ragged or problem.dtype.bytes >= WORD_BYTES:
        return 0.0
    # Elements of less than a word are put together before the next row's are loaded. The last strip begins last.
    tiles = ceil_div(schedule.tiles(problem), schedule.splits)
    return float(tiles * (schedule.loads_in_flight - 1))


def _waits_beside_tiles(problem: ReduceProblem, schedule: ReduceSchedule, costs: Costs) -> float:
    """Loads that a block waits for beside those of its tiles."""
    if problem.in_segments:
        return costs.segment_waits
    skewed = problem.axis is Axis.LAST and problem.ldx % schedule.vector_width > 0
    return costs.end_waits if skewed else 0


def _staged(problem: ReduceProblem, schedule: ReduceSchedule, spec: DeviceSpec) -> Workload:
    """A block waits for offsets, then for tiles that go to shared memory."""
    costs = Costs.of(spec)
    segments = min(schedule.rows_per_block, problem.results)
    elements = segments * problem.reduced  # elements of a block
    steps = _OFFSETS + max(1, ceil_div(elements, schedule.staged_tile))
    warps_of_elements, element_bytes = elements / WARP, problem.element_bytes
    combined = ceil_div(problem.op.operations, 2) + (problem.dtype.bytes == 2) + problem.op.indexed * costs.index
    return Workload(
        blocks=schedule.blocks(problem),
        footprint=schedule.footprint(problem),
        memory_bytes=problem.work.bytes,
        steps=steps,
        instructions=warps_of_elements * (combined + costs.shared_access) / steps,
        load_instructions=warps_of_elements / schedule.vector_width * costs.access / steps,
        shared_clocks=(elements * element_bytes / LINE_BYTES + costs.conflicts * warps_of_elements) / steps,
        lines=elements * element_bytes / LINE_BYTES / steps,
        bytes_loaded=elements * element_bytes / steps,
        bytes_stored=segments * problem.result_dtype.bytes,
    )
