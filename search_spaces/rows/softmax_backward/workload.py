"""What the blocks of a softmax_backward schedule do, counted before anything is compiled. Nothing is fitted yet."""

from __future__ import annotations

from ....codegen.integers import ceil_div
from ....codegen.rows.schedule import WARP, Hold
from ....codegen.rows.softmax_backward.emit import blocks
from ....codegen.rows.softmax_backward.problem import SoftmaxBackwardProblem
from ....codegen.rows.softmax_backward.schedule import SoftmaxBackwardSchedule
from ....codegen.work import Unit
from ...device_spec import DeviceSpec
from ...workload import Workload
from ..row_workload import SCHEDULERS, cluster_clocks, lines_of_access, missed, resident_blocks, rows_under_way, uneven

# Instructions: of an element that is summed and when it is written; of an access with its address and bounds; of a
# reduction over a warp, of each of its threads; of a thread that begins and ends.
_SUMMED, _WRITTEN, _ACCESS, _REDUCTION, _THREAD = 3, 4, 3, 13, 30
_PART = 15  # of each element of a vector that is partly there
# Arrays, of each of which a row's first part is waited for before the loads behind it leave: with 8192×513 of bfloat16,
# vectors of 8 elements, 8 threads a row, took 26 % more time on an H200 than single elements, 64 threads a row.
_ARRAYS = 2


def workload(problem: SoftmaxBackwardProblem, schedule: SoftmaxBackwardSchedule, spec: DeviceSpec) -> tuple[Workload]:
    """A block loads its rows of two arrays, all at once or in several steps and twice, and writes those of one."""
    warps, width, size = schedule.threads // WARP, schedule.vector_width, problem.dtype.bytes
    rounds, reads = schedule.rounds_in(problem), 1 if schedule.hold is Hold.REGISTERS else 2
    vectors = warps * rounds  # of a block in one array, counted for each warp
    steps = 1 if schedule.hold is Hold.REGISTERS else reads * ceil_div(rounds, schedule.loads_in_flight)
    ends = 2.0 * min(schedule.rows_per_block, warps) / schedule.cluster if uneven(problem, width) else 0.0
    if ends and schedule.hold is Hold.REGISTERS:
        steps += _ARRAYS
    parts = 3 * min(ends, vectors) * width
    loads = 2 * reads * vectors
    stores = vectors * (1 if problem.alike(width) else width)
    exponentials = problem.log * vectors * width * WARP
    computing = vectors * width * (_SUMMED + _WRITTEN + 2 * problem.log) + parts * _PART
    computing += warps * (_THREAD + _REDUCTION) + stores * _ACCESS
    footprint = schedule.footprint(problem)
    resident = resident_blocks(footprint, spec)
    waits = SCHEDULERS * cluster_clocks(schedule.cluster) / resident
    row_bytes = schedule.rows_per_block * problem.columns * size / schedule.cluster  # of a block in one array
    lines = lines_of_access(schedule.threads_per_row, width * size)
    waiting = rows_under_way(problem.rows, schedule, resident, spec) * problem.columns * size
    grid = Workload(
        blocks=blocks(problem, schedule),
        footprint=footprint,
        memory_bytes=problem.work.bytes * (1 + 2 / 3 * (reads - 1) * missed(2 * waiting, spec)),
        steps=steps,
        instructions=(computing + waits) / steps,
        load_instructions=loads * _ACCESS / steps,
        unit_clocks=exponentials / spec.rates.get(Unit.SPECIAL, 16) / steps,
        lines=((loads + stores) * lines + parts) / steps,
        bytes_loaded=2 * reads * row_bytes / steps,
        bytes_stored=row_bytes,
    )
    return (grid,)
