"""What the blocks of a softmax schedule do, counted before anything is compiled."""

from __future__ import annotations

from dataclasses import replace
from math import floor

from ....codegen.footprint import Footprint
from ....codegen.integers import ceil_div
from ....codegen.rows.schedule import WARP, Hold
from ....codegen.rows.softmax.emit import blocks
from ....codegen.rows.softmax.problem import SoftmaxProblem
from ....codegen.rows.softmax.schedule import Passes, SoftmaxSchedule
from ....codegen.work import Unit
from ...device_spec import DeviceSpec
from ...occupancy import blocks_per_sm
from ...workload import Workload

_LINE = 128  # bytes
# Instructions of an element: to reduce it, and to write it; of a vector: an access with its address and bounds; of a
# reduction over a warp, of each of its threads; of a thread that begins and ends. Fitted, as what follows, to the times
# of 268 schedules of 12 problems on an H200.
_REDUCED, _WRITTEN, _ACCESS, _REDUCTION, _THREAD = 8, 5, 3, 13, 80
_HELD = 1.2  # times as many for rows in registers
# ptxas takes these for addresses and for each word that a thread loads, from which it works on several vectors at once.
_ADDRESS_REGISTERS, _REGISTERS_PER_WORD = 20, 1.5
_L2_SHARE = 0.5  # of L2 that keeps rows until they are read again


def workload(problem: SoftmaxProblem, schedule: SoftmaxSchedule, limits: DeviceSpec) -> tuple[Workload]:
    """A block loads its rows, all at once or in several steps, as often as `hold` and `passes` say, and stores them."""
    warps, width, size = schedule.threads // WARP, schedule.vector_width, problem.dtype.bytes
    rounds = schedule.rounds_in(problem)
    passes = 1 if schedule.passes is Passes.ONLINE else 2
    reads = 1 + passes if schedule.hold is Hold.RELOAD else 1
    grid_blocks = blocks(problem, schedule)
    steps = reads * ceil_div(rounds, schedule.loads_in_flight) if schedule.hold is Hold.RELOAD else 1
    vectors = warps * rounds  # of a block, counted for each warp
    row_bytes = problem.columns * size
    block_bytes = schedule.rows_per_block * row_bytes / schedule.cluster
    single = _singly_stored(problem, schedule)  # accesses to store a vector
    loads = reads * vectors * _ACCESS
    exponentials = (2 if passes == 2 else 2 + 1 / width) * vectors * width * WARP
    computing = vectors * (width * (_REDUCED + _WRITTEN) + single * _ACCESS) + warps * (_THREAD + 2 * _REDUCTION)
    slower = _HELD if schedule.hold is Hold.REGISTERS else 1.0
    shared_accesses = vectors * (1 + passes + 1) if schedule.hold is Hold.SHARED else 0
    again = (reads - 1) * _missed(problem, schedule, limits)
    grid = Workload(
        blocks=grid_blocks,
        footprint=_footprint(problem, schedule),
        memory_bytes=problem.work.bytes + again * problem.rows * row_bytes,
        steps=steps,
        instructions=slower * computing / steps,
        load_instructions=loads / steps,
        unit_clocks=exponentials / limits.rates.get(Unit.SPECIAL, 16) / steps,
        shared_clocks=shared_accesses * max(1.0, WARP * width * size / _LINE) / steps,
        lines=(reads + single) * vectors * _lines(schedule, width * size) / steps,
        bytes_loaded=reads * block_bytes / steps,
        bytes_stored=block_bytes,
    )
    return (grid,)


def _footprint(problem: SoftmaxProblem, schedule: SoftmaxSchedule) -> Footprint:
    footprint, words = (
        schedule.footprint(problem),
        schedule.loaded_words(schedule.reach_in(problem), problem.dtype.bytes),
    )
    estimated = floor(_ADDRESS_REGISTERS + _REGISTERS_PER_WORD * words)
    return replace(footprint, registers=max(footprint.registers, estimated))


def _singly_stored(problem: SoftmaxProblem, schedule: SoftmaxSchedule) -> int:
    """Accesses that store a vector: one for each element where vectors of y are not aligned."""
    return 1 if problem.alike(schedule.vector_width) else schedule.vector_width


def _lines(schedule: SoftmaxSchedule, vector_bytes: int) -> float:
    """Cache lines that a warp's access touches, which goes to one row or to several."""
    of_row = min(WARP, schedule.threads_per_row)
    return WARP / of_row * max(1.0, of_row * vector_bytes / _LINE)


def _missed(problem: SoftmaxProblem, schedule: SoftmaxSchedule, limits: DeviceSpec) -> float:
    """The share of the rows that L2 has let go of when they are read again."""
    footprint = schedule.footprint(problem)
    resident = blocks_per_sm(limits, footprint.threads, footprint.registers, footprint.shared_bytes)
    under_way = limits.sm_count * max(1, resident) * schedule.rows_per_block / schedule.cluster
    row_bytes = problem.columns * problem.dtype.bytes
    waiting = min(problem.rows, under_way) * row_bytes
    return max(0.0, 1 - _L2_SHARE * limits.l2_bytes / waiting) if waiting else 0.0
