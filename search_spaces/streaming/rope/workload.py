"""What the blocks of a rope schedule do, counted before anything is compiled. Not fitted to times yet."""

from __future__ import annotations

from dataclasses import replace
from math import floor

from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import LINE_BYTES, SCHEDULERS, WARP
from autotune.codegen.streaming.rope.problem import Angles, Positions, RopeProblem
from autotune.codegen.streaming.rope.schedule import RopeSchedule
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload

# Instructions: of a rotated element, two products and two conversions; of an access with its address; of a group of
# heads, to find token and heads; of a sine with its cosine; of a thread, and of its frequencies if they are computed.
_ELEMENT, _ACCESS, _ITEM, _SINE, _THREAD, _FREQUENCY = 4, 8, 40, 40, 60, 25
_OWN_REGISTERS, _PAIR_REGISTERS = 20, 4  # that ptxas takes if nothing caps them
_WAIT = 600  # clocks from a position to its row of a table


def workload(problem: RopeProblem, schedule: RopeSchedule, spec: DeviceSpec) -> tuple[Workload]:
    """A block loads its groups of heads at once, rotates and stores them."""
    slots = max(1, schedule.slots(problem))
    warps = schedule.threads / WARP
    heads = min(schedule.heads_per_thread, problem.heads)
    vectors, pairs = schedule.vectors(problem), schedule.pairs(problem)
    vector_bytes = schedule.vector_width * problem.dtype.bytes
    computed = problem.angles is Angles.COMPUTED
    accesses = warps * heads * vectors
    rotating = heads * 2 * pairs * _ELEMENT + pairs * _SINE * computed
    starting = warps * (_THREAD + pairs * _FREQUENCY * computed)
    of_table = 0.0 if computed else 2 * pairs * 4 / 16 * warps
    waits = SCHEDULERS * _WAIT * (not computed or problem.positions is not Positions.OFFSET) / max(1.0, warps)
    moved = slots * schedule.heads_per_thread * problem.head_dim * problem.dtype.bytes
    grid = Workload(
        blocks=schedule.blocks(problem),
        footprint=_footprint(problem, schedule),
        memory_bytes=problem.work.bytes,
        instructions=warps * rotating + accesses * _ACCESS + warps * _ITEM + starting + waits,
        load_instructions=accesses * _ACCESS + of_table,
        lines=2 * accesses * max(1.0, WARP * vector_bytes / LINE_BYTES) + 4 * of_table,
        bytes_loaded=moved,
        bytes_stored=moved,
    )
    return (grid,)


def _footprint(problem: RopeProblem, schedule: RopeSchedule) -> Footprint:
    footprint = schedule.footprint(problem)
    loaded = schedule.heads_per_thread * schedule.loaded_words(problem)
    estimated = floor(_OWN_REGISTERS + loaded + _PAIR_REGISTERS * schedule.pairs(problem))
    return replace(footprint, registers=max(footprint.registers, estimated))
