"""What the blocks of a norm's schedule do, counted before anything is compiled."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2

from autotune.codegen.model.hardware import LINE_BYTES, SCHEDULERS, WARP
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.rows.norm.problem import NormProblem
from autotune.codegen.rows.norm.schedule import LayerNormSchedule, Passes, RmsNormSchedule, weight_width
from autotune.codegen.rows.schedule import RowStorage
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import most_registers, resident_blocks
from autotune.search_spaces.machine.workload import Workload
from autotune.search_spaces.rows.row_workload import (
    cluster_clocks,
    lines_of_access,
    missed,
    rows_under_way,
    stores,
)


@dataclass(frozen=True)
class Costs(Coefficients, section="norm"):
    """What the instructions of a norm take.

    Attributes:
        in_pass: instructions of an element in a pass.
        written: instructions of an element when it is written.
        access: instructions of an access with its address and bounds.
        reduction: instructions of a reduction over a warp, of each of its threads.
        thread: instructions of a thread that begins and ends.
        merge: instructions to merge the mean and the variance of two parts.
        part: instructions of each element of a vector that is partly there.
        cached: cache lines that an access to weights takes as long as, whose lines L1 has.
        weights_anew: bytes of device memory that a byte of weights takes as long as, for which L1 has no room.
        squeezed: instructions for a register that ptxas would take, but launch bounds forbid.
        weight_wait: clocks in which the first blocks of an SM wait for the weights of a vector, one after the other.
        dependent: times as long as it takes to issue an instruction, from it to the next one of its warp.
    """

    in_pass: float
    written: float
    access: float
    reduction: float
    thread: float
    merge: float
    part: float
    cached: float
    weights_anew: float
    squeezed: float
    weight_wait: float
    dependent: float


def workload(problem: NormProblem, schedule: RmsNormSchedule, spec: DeviceSpec) -> tuple[Workload]:
    """A block loads its rows, all at once or in several steps, as often as `hold` and passes say, and writes them."""
    costs = Costs.of(spec)
    warps, width, size = schedule.threads // WARP, schedule.vector_width, problem.dtype.bytes
    rounds, reads = schedule.rounds_in(problem), _reads(problem, schedule)
    vectors = warps * rounds  # vectors of a block, counted for each warp
    arrays = 2 if problem.residual else 1  # that are read, and as many are written
    steps = reads * ceil_div(rounds, schedule.loads_in_flight) if schedule.hold is RowStorage.RELOAD else 1
    welford = isinstance(schedule, LayerNormSchedule) and schedule.passes is Passes.WELFORD
    passes = _passes(schedule)
    ends = min(2.0 * schedule.rows_per_block, 2.0 * warps) / schedule.cluster if schedule.uneven(problem) else 0.0
    parts = min(ends, vectors) * width
    columns_used = int(problem.weight) + int(problem.biased)
    stored = stores(problem, schedule, spec)
    besides = vectors * (reads + 2 * (arrays - 1))  # accesses to x, the residual and their sum
    # Of vectors that begin anywhere in a row, weights are loaded one by one.
    weights = vectors * columns_used * (width // weight_width(problem, schedule))
    element = passes * (costs.in_pass + 2 * welford) + costs.written + 2 * columns_used + arrays - 1
    merges = vectors if welford else warps * _merges(problem, schedule)
    computing = vectors * width * element + merges * costs.merge + parts * costs.part * (passes + 1)
    computing += (
        warps * (costs.thread + passes * costs.reduction)
        + (besides + vectors * stored.accesses + weights) * costs.access
    )
    footprint = schedule.footprint(problem)
    missing = footprint.uncapped_registers - most_registers(spec, schedule.threads, schedule.min_blocks_per_sm)
    computing += costs.squeezed * warps * max(0, missing)
    resident = resident_blocks(footprint, spec)
    waits = SCHEDULERS * cluster_clocks(schedule.cluster, spec) / resident
    of_sm = max(1, ceil_div(schedule.blocks(problem), spec.sm_count))  # which wait together, or find weights in L1
    waits += SCHEDULERS * costs.weight_wait * rounds * min(1, columns_used) / of_sm
    row_bytes = schedule.rows_per_block * problem.columns * size / schedule.cluster
    weight_bytes = columns_used * problem.columns * problem.weight_dtype.bytes  # of a row
    lines = lines_of_access(schedule.threads_per_row, width * size)
    room = spec.shared_per_sm - resident * footprint.shared_bytes
    anew = problem.rows * weight_bytes if weight_bytes > room else 0.0
    again = missed(rows_under_way(problem.rows, schedule, resident, spec) * problem.columns * size, spec)
    grid = Workload(
        blocks=schedule.blocks(problem),
        footprint=footprint,
        memory_bytes=problem.work.bytes
        + costs.weights_anew * anew
        + (reads - 1) * again * problem.rows * problem.columns * size,
        steps=steps,
        instructions=(computing + waits) / steps,
        load_instructions=(vectors * (reads + arrays - 1) * costs.access) / steps,
        in_turn=True,
        dependent=costs.dependent,
        shared_clocks=vectors * (passes + 2) * max(1.0, WARP * width * size / LINE_BYTES) / steps
        if schedule.hold is RowStorage.SHARED
        else 0.0,
        lines=(besides * lines + vectors * stored.lines + weights * costs.cached + parts) / steps,
        bytes_loaded=((reads + arrays - 1) * row_bytes + schedule.rows_per_block * weight_bytes / schedule.cluster)
        / steps,
        bytes_stored=(arrays - 1 + stored.times) * row_bytes,
    )
    return (grid,)


def _merges(problem: NormProblem, schedule: RmsNormSchedule) -> float:
    """Means and variances that a thread merges with those of others, or finds an origin for, where they are shifted."""
    if not (isinstance(schedule, LayerNormSchedule) and schedule.passes is Passes.SHIFTED):
        return 0.0
    origins = schedule.rounds_in(problem) if schedule.skewed(problem) else 1
    return log2(min(WARP, schedule.threads_per_row)) + origins


def _reads(problem: NormProblem, schedule: RmsNormSchedule) -> int:
    """How often a row is read from global memory."""
    if schedule.hold is not RowStorage.RELOAD:
        return 1
    return 1 + _passes(schedule) + problem.residual


def _passes(schedule: RmsNormSchedule) -> int:
    """Passes over a row before it is written."""
    return 2 if isinstance(schedule, LayerNormSchedule) and schedule.passes is Passes.TWO else 1
