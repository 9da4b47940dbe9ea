"""What the blocks of a pack schedule do, counted before anything is compiled."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2

from autotune.codegen.matmul.pack.problem import PackProblem
from autotune.codegen.matmul.pack.schedule import PackSchedule
from autotune.codegen.model.hardware import LINE_BYTES, WARP
from autotune.codegen.model.integers import ceil_div
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.time_model import MachineCosts
from autotune.search_spaces.machine.workload import Workload


@dataclass(frozen=True)
class Costs(Coefficients, section="pack"):
    """What the instructions of packing take.

    Attributes:
        weight: instructions of a weight: its conversion, range, code and its place in a word.
        access: instructions of an access with its address.
        group: instructions of a group: its place, scale and zero point.
        reduction: instructions of a step of a reduction.
        dependent: times as long as it takes to issue an instruction, from it to the next one of its warp.
    """

    weight: float
    access: float
    group: float
    reduction: float
    dependent: float


def workload(problem: PackProblem, schedule: PackSchedule, spec: DeviceSpec) -> tuple[Workload]:
    """A block loads its groups at once, or several vectors at a time and twice, and stores their codes."""
    costs = Costs.of(spec)
    warps, width, items = schedule.threads // WARP, schedule.vector_width, schedule.groups_per_thread
    rounds, is_held = schedule.rounds(problem), schedule.held(problem)
    reads = 1 if is_held else 2
    vectors = warps * items * rounds
    steps = 1 if is_held else reads * ceil_div(rounds, schedule.loads_in_flight)
    weights = schedule.groups_per_block * problem.group_rows * problem.group_columns
    together = max(1, min(problem.vector_width("w"), width))  # weights of an access
    scattered = width // problem.weights.packed > problem.vector_width("q")
    stores = width // problem.weights.packed if scattered else 1
    loads = vectors * width // together
    of_groups = warps * items * (costs.group + costs.reduction * log2(schedule.threads_per_group))
    computing = vectors * (width * costs.weight + stores * costs.access) + of_groups
    moved = weights * problem.dtype.bytes
    codes = weights // problem.weights.packed
    # L2 lets go of what is marked as used once: 8992×8191 weights take an H200 108 µs so, and 76 otherwise.
    kept = 0.0 if schedule.streaming else MachineCosts.of(spec).l2_share
    again = 0.0 if is_held else (1 - kept) * problem.n * problem.k * problem.dtype.bytes
    grid = Workload(
        blocks=schedule.blocks(problem),
        footprint=schedule.footprint(problem),
        memory_bytes=problem.work.bytes + again,
        steps=steps,
        instructions=computing / steps,
        load_instructions=costs.access * reads * loads / steps,
        in_turn=True,
        dependent=costs.dependent,
        lines=(reads * loads * max(1.0, WARP * together * problem.dtype.bytes / LINE_BYTES) + vectors * stores) / steps,
        bytes_loaded=reads * moved / steps,
        bytes_stored=codes + schedule.groups_per_block * problem.scale_dtype.bytes,
    )
    return (grid,)
