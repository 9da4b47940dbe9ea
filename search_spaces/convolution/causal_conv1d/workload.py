"""What the blocks of a causal_conv1d do, counted before anything is compiled."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.convolution.causal_conv1d.problem import CausalConv1dProblem
from autotune.codegen.convolution.causal_conv1d.schedule import CausalConv1dSchedule
from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.model.hardware import LINE_BYTES, WARP
from autotune.codegen.model.integers import ceil_div, largest, smallest
from autotune.codegen.model.work import Unit
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload


@dataclass(frozen=True)
class Costs(Coefficients, section="causal_conv1d"):
    """How many instructions a thread takes.

    Attributes:
        element: for an element, beside its FMAs.
        activation: for an activation.
        access: for a load or a store, with its address and bounds.
        row: for the filter, the bias and the place of a row of steps.
        end: for an element of a vector that is partly outside of a row of steps.
        taps: for a factor or a bias of channels that are neighbours.
        number: for a tap of a step that has a number.
    """

    element: float
    activation: float
    access: float
    row: float
    end: float
    taps: float
    number: float


def workload(problem: CausalConv1dProblem, schedule: CausalConv1dSchedule, spec: DeviceSpec) -> tuple[Workload, ...]:
    """A step is a round: vectors are loaded together, and FMAs follow."""
    count = _along_channels if problem.channels_last else _along_steps
    return (count(problem, schedule, spec),)


def _along_steps(problem: CausalConv1dProblem, schedule: CausalConv1dSchedule, spec: DeviceSpec) -> Workload:
    """Rounds behind the end of a row are left out, as are warps of which no thread has a vector."""
    costs, reached, chunks = Costs.of(spec), schedule.reached(problem), schedule.chunks(problem)
    along, vectors = schedule.threads_per_row, largest(1, schedule.row_vectors(problem))
    rounds = ceil_div(vectors, along * schedule.loads)
    side = smallest(along, WARP)
    done = ceil_div(vectors, side) * side / WARP * schedule.rows / chunks  # by warps of a block
    own = _instructions(problem, schedule, costs) + costs.element * (problem.width - 1)
    begun = schedule.threads / WARP * costs.row
    ends = 2 * schedule.rows / chunks * schedule.vector * costs.end if schedule.skewed(problem) else 0.0
    steps = largest(1.0, rounds / chunks)
    return _work(problem, schedule, spec, steps, done / steps, own, (begun + ends) / steps, 1 + reached)


def _along_channels(problem: CausalConv1dProblem, schedule: CausalConv1dSchedule, spec: DeviceSpec) -> Workload:
    """Ahead of its steps, a thread takes the filters of its channels, and the steps that the first ones see."""
    costs, warps = Costs.of(spec), schedule.threads / WARP
    taps = schedule.vector * (problem.width + 1)
    own = _instructions(problem, schedule, costs)
    own += costs.number * problem.width if problem.numbered else 0.0
    begun = warps * (costs.taps * taps * (1 + 1 / schedule.rows) + costs.access * problem.width)
    rounds = smallest(schedule.rounds, largest(1, ceil_div(problem.length, schedule.loads)))
    return _work(problem, schedule, spec, rounds, schedule.loads * warps, own, begun / rounds, 1)


def _instructions(problem: CausalConv1dProblem, schedule: CausalConv1dSchedule, costs: Costs) -> float:
    """Of a vector: all but its loads."""
    element = problem.width + costs.element
    element += 0.0 if problem.activation is Activation.IDENTITY else costs.activation
    return schedule.vector * element + costs.access


def _work(
    problem: CausalConv1dProblem,
    schedule: CausalConv1dSchedule,
    spec: DeviceSpec,
    steps: float,
    vectors: float,
    instructions: float,
    begun: float,
    loads: int,
) -> Workload:
    """The work of blocks.

    Args:
        steps: of a block.
        vectors: of a step, of each warp.
        instructions: of a vector, all but its loads.
        begun: instructions of a step for what is done once for several.
        loads: for each vector.
    """
    costs, warp_bytes = Costs.of(spec), WARP * schedule.vector * problem.dtype.bytes
    along = schedule.threads_per_row * schedule.vector * problem.dtype.bytes
    lines = largest(1.0, warp_bytes / smallest(LINE_BYTES, along))
    return Workload(
        blocks=schedule.blocks(problem),
        footprint=schedule.footprint(problem),
        memory_bytes=problem.work.bytes,
        steps=steps,
        in_flight=int(schedule.prefetch),
        independent=not schedule.prefetch,
        instructions=vectors * instructions + begun,
        load_instructions=costs.access * vectors * loads,
        unit_clocks=vectors * schedule.vector * problem.width * WARP / spec.rate(Unit.FP32),
        lines=vectors * (loads + 1) * lines,
        bytes_loaded=vectors * warp_bytes,
        bytes_stored=steps * vectors * warp_bytes,
    )
