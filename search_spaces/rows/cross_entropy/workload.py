"""What the blocks of a cross-entropy schedule do, counted before anything is compiled. Nothing is fitted yet."""

from __future__ import annotations

from math import log2

from ....codegen.integers import ceil_div
from ....codegen.rows.cross_entropy.logits_problem import LogitsProblem
from ....codegen.rows.cross_entropy.schedule import CrossEntropyBackwardSchedule, CrossEntropySchedule
from ....codegen.rows.schedule import WARP, Hold
from ....codegen.rows.softmax.schedule import Passes
from ....codegen.work import Unit
from ...device_spec import DeviceSpec
from ...occupancy import blocks_per_sm, most_registers
from ...workload import Workload

_LINE = 128  # bytes
# Instructions: of an element in a pass and when it is written; of an access with its address and bounds; of a
# reduction over a warp, of each of its threads; of a thread that begins and ends.
_PASS, _WRITTEN, _ACCESS, _REDUCTION, _THREAD = 5, 7, 3, 13, 60
_CAPPED = 8  # of a logit that is capped, each time
_PART = 15  # of each element of a vector that is partly there
_SCHEDULERS = 4  # of an SM
_CLUSTER = 350  # clocks of an SM in which blocks wait for each other, for each doubling of a cluster
_L2_SHARE = 0.5  # of L2 that keeps rows until they are read again


def workload(problem: LogitsProblem, schedule: CrossEntropyBackwardSchedule, spec: DeviceSpec) -> tuple[Workload]:
    """A block loads its rows, all at once or in several steps, as often as `hold` and `passes` say."""
    warps, width, size = schedule.threads // WARP, schedule.vector_width, problem.dtype.bytes
    passes, written = _passes(schedule), int(problem.has_gradient)
    rounds, reads = schedule.rounds_in(problem), passes + written if schedule.hold is Hold.RELOAD else 1
    vectors = warps * rounds  # of a block, counted for each warp
    steps = reads * ceil_div(rounds, schedule.loads_in_flight) if schedule.hold is Hold.RELOAD else 1
    singly = 1 if problem.alike(width) else width
    loads = 0 if isinstance(schedule, CrossEntropySchedule) and schedule.bulk else vectors * reads  # of all threads
    accesses = loads + vectors * written * singly
    element = passes * _PASS + written * _WRITTEN + (passes + written) * _CAPPED * problem.capped + problem.smoothed
    ends = min(2.0 * schedule.rows_per_block, 2.0 * warps) / schedule.cluster if _uneven(problem, schedule) else 0.0
    parts = min(ends, vectors) * width
    computing = vectors * width * element + parts * _PART * (reads + written)
    computing += warps * (_THREAD + passes * _REDUCTION) + accesses * _ACCESS
    exponentials = _exponentials(problem, schedule) * vectors * width * WARP
    footprint = schedule.footprint(problem)
    registers = min(footprint.registers, most_registers(spec, footprint.threads, footprint.min_blocks_per_sm))
    resident = max(1, blocks_per_sm(spec, footprint.threads, registers, footprint.shared_bytes))
    waits = _SCHEDULERS * _CLUSTER * log2(schedule.cluster) / resident if passes else 0.0
    row_bytes = schedule.rows_per_block * problem.columns * size / schedule.cluster
    of_row = min(WARP, schedule.threads_per_row)
    lines = WARP / of_row * max(1.0, of_row * width * size / _LINE)
    waiting = min(problem.rows, spec.sm_count * resident * schedule.rows_per_block / schedule.cluster)
    waiting *= problem.columns * size
    missed = max(0.0, 1 - _L2_SHARE * spec.l2_bytes / waiting) if waiting else 0.0
    grid = Workload(
        blocks=schedule.blocks(problem.rows),
        footprint=footprint,
        memory_bytes=problem.work.bytes + (reads - 1) * missed * problem.rows * problem.columns * size,
        steps=steps,
        instructions=(computing + waits) / steps,
        load_instructions=loads * _ACCESS / steps,
        unit_clocks=exponentials / spec.rates.get(Unit.SPECIAL, 16) / steps,
        shared_clocks=vectors * (1 + passes + written) * max(1.0, WARP * width * size / _LINE) / steps
        if schedule.hold is Hold.SHARED
        else 0.0,
        lines=(accesses * lines + parts) / steps,
        bytes_loaded=reads * row_bytes / steps,
        bytes_stored=written * row_bytes,
    )
    return (grid,)


def _passes(schedule: CrossEntropyBackwardSchedule) -> int:
    """Passes over a row until its loss is known."""
    if not isinstance(schedule, CrossEntropySchedule):
        return 0
    return 1 if schedule.passes is Passes.ONLINE else 2


def _exponentials(problem: LogitsProblem, schedule: CrossEntropyBackwardSchedule) -> float:
    """Special functions of an element."""
    passes, written = _passes(schedule), problem.has_gradient
    of_sum = 1 + (1 / schedule.vector_width if passes == 1 else 0.0) if passes else 0.0
    return of_sum + written + 2 * problem.capped * (passes + written)


def _uneven(problem: LogitsProblem, schedule: CrossEntropyBackwardSchedule) -> bool:
    """Whether rows have vectors that are partly there."""
    width = schedule.vector_width
    return width > problem.vector_width("x") or problem.columns % width != 0
