"""What the blocks of a sampling schedule do, counted before anything is compiled."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2

from autotune.codegen.model.hardware import LINE_BYTES, WARP
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.selection.sampling.problem import SamplingProblem
from autotune.codegen.selection.sampling.schedule import SamplingSchedule
from autotune.codegen.selection.vectors import vectors_of_row
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload


@dataclass(frozen=True)
class Costs(Coefficients, section="sampling"):
    """What a draw takes.

    Attributes:
        element: instructions of an element that is compared.
        weight: instructions of an element's weight.
        access: instructions of a load with its address.
        exchanged: instructions of a pair of candidates that is sorted.
        barrier_steps: a round of a block, in steps that load.
    """

    element: float
    weight: float
    access: float
    exchanged: float
    barrier_steps: float


def workload(problem: SamplingProblem, schedule: SamplingSchedule, spec: DeviceSpec) -> tuple[Workload]:
    """A block reads its part once with top-k, and otherwise twice: for the first token, and for the sum of weights."""
    costs, threads = Costs.of(spec), schedule.threads
    vectors = ceil_div(vectors_of_row(problem, schedule.vector_width), schedule.parts)
    elements = vectors * schedule.vector_width
    reads = 1 if problem.top_k else 2
    sorts = problem.top_k + problem.top_p
    sorting = sorts * log2(schedule.candidates) ** 2 / 2
    pairs = sorting * max(1.0, schedule.candidates / 2 / threads) * costs.exchanged * threads / WARP
    steps = reads * ceil_div(vectors, threads * schedule.loads_in_flight) + sorting * costs.barrier_steps
    weighed = costs.weight * (not problem.top_k)
    read_bytes = reads * elements * problem.dtype.bytes
    grid = Workload(
        blocks=schedule.blocks(problem),
        footprint=schedule.footprint(problem),
        memory_bytes=reads * problem.work.bytes,
        steps=steps,
        instructions=(elements / WARP * (reads * costs.element + weighed) + pairs) / steps,
        load_instructions=reads * vectors / WARP * costs.access / steps,
        lines=read_bytes / LINE_BYTES / steps,
        bytes_loaded=read_bytes / steps,
    )
    return (grid,)
