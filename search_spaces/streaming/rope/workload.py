"""What the blocks of a rope schedule do, counted before anything is compiled."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.hardware import LINE_BYTES, SCHEDULERS, WARP
from autotune.codegen.streaming.rope.problem import Angles, Positions, RopeProblem
from autotune.codegen.streaming.rope.schedule import RopeSchedule
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload


@dataclass(frozen=True)
class Costs(Coefficients, section="rope"):
    """What the instructions and the waits of a rotation take.

    Attributes:
        element: instructions of a rotated element: two products and two conversions.
        access: instructions of an access with its address.
        item: instructions of a group of heads, to find token and heads.
        sine: instructions of a sine with its cosine.
        thread: instructions of a thread.
        frequency: instructions of a thread's frequency that is computed.
        wait: clocks from a position to its row of a table.
        dependent: times as long as it takes to issue an instruction, from it to the next one of its warp.
    """

    element: float
    access: float
    item: float
    sine: float
    thread: float
    frequency: float
    wait: float
    dependent: float


def workload(problem: RopeProblem, schedule: RopeSchedule, spec: DeviceSpec) -> tuple[Workload]:
    """A block loads its groups of heads at once, rotates and stores them."""
    costs = Costs.of(spec)
    slots = max(1, schedule.slots(problem))
    warps = schedule.threads / WARP
    heads = min(schedule.heads_per_thread, problem.heads)
    vectors, pairs = schedule.vectors(problem), schedule.pairs(problem)
    vector_bytes = schedule.vector_width * problem.dtype.bytes
    computed = problem.angles is Angles.COMPUTED
    accesses = warps * heads * vectors
    rotating = heads * 2 * pairs * costs.element + pairs * costs.sine * computed
    starting = warps * (costs.thread + pairs * costs.frequency * computed)
    of_table = 0.0 if computed else 2 * pairs * 4 / 16 * warps
    waits = SCHEDULERS * costs.wait * (not computed or problem.positions is not Positions.OFFSET) / max(1.0, warps)
    moved = slots * schedule.heads_per_thread * problem.head_dim * problem.dtype.bytes
    grid = Workload(
        blocks=schedule.blocks(problem),
        footprint=schedule.footprint(problem),
        memory_bytes=problem.work.bytes,
        instructions=warps * rotating + accesses * costs.access + warps * costs.item + starting + waits,
        load_instructions=accesses * costs.access + of_table,
        in_turn=True,
        independent=True,
        dependent=costs.dependent,
        lines=2 * accesses * max(1.0, WARP * vector_bytes / LINE_BYTES) + 4 * of_table,
        bytes_loaded=moved,
        bytes_stored=moved,
    )
    return (grid,)
