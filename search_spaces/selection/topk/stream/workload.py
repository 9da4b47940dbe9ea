"""What the blocks of a stream schedule do, counted before anything is compiled."""

from __future__ import annotations

from math import floor

from autotune.codegen.model.hardware import LINE_BYTES, WARP
from autotune.codegen.model.integers import ceil_div, largest, logarithm, smallest
from autotune.codegen.selection.beam_step.problem import BeamStepProblem
from autotune.codegen.selection.topk.problem import TopkProblem
from autotune.codegen.selection.topk.stream.schedule import ENTRY_BYTES, StreamSchedule
from autotune.codegen.selection.vectors import vectors_of_row
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import resident_blocks
from autotune.search_spaces.machine.workload import Workload
from autotune.search_spaces.selection.topk.costs import Costs

Selecting = TopkProblem | BeamStepProblem


def workload(problem: Selecting, schedule: StreamSchedule, spec: DeviceSpec) -> tuple[Workload]:
    """A block samples, reads its part, selects and orders; the last one of a row selects and orders once more.

    Sorting and the search for floors take rounds of the block, which count as steps that load nothing.
    """
    costs, threads = Costs.of(spec), schedule.threads
    warps = threads // WARP
    vectors = ceil_div(vectors_of_row(problem, schedule.vector_width), schedule.splits)
    elements = vectors * schedule.vector_width
    sampling = schedule.samples > 0 and elements > schedule.candidates
    if sampling:
        reads = 1 + costs.overflow * _overflowing(problem, schedule, elements, spec)
    else:
        reads = 1 if elements <= schedule.candidates else costs.counted_reads
    tiles = reads * ceil_div(vectors, threads * schedule.loads_in_flight)
    held = schedule.candidates / threads
    searches = 2 if schedule.splits > 1 else 1
    rounds = costs.floor_rounds * (searches + sampling)
    sorting = logarithm(largest(2, problem.k), 2) ** 2 / 2 if problem.k > costs.most_compared else 1
    compared = costs.floor_rounds * (searches * held + sampling * schedule.samples * schedule.vector_width)
    own = compared * costs.compared + sorting * largest(1.0, problem.k / threads) * costs.exchanged
    steps = tiles + (rounds + sorting) * costs.barrier_steps
    read_bytes = reads * elements * problem.dtype.bytes
    left = problem.k * ENTRY_BYTES * (schedule.splits > 1)
    grid = Workload(
        blocks=schedule.blocks(problem),
        footprint=schedule.footprint(problem),
        memory_bytes=problem.work.bytes * reads + 2 * left * schedule.blocks(problem),
        steps=steps,
        instructions=(reads * elements / WARP * costs.element + own * warps) / steps,
        load_instructions=reads * vectors / WARP * costs.access / steps,
        lines=read_bytes / LINE_BYTES / steps,
        bytes_loaded=read_bytes / steps,
        bytes_stored=left + problem.k * ENTRY_BYTES / schedule.splits,
        shared_vectors=schedule.splits * problem.k / threads if schedule.splits > 1 else 0,
    )
    return (grid,)


def _overflowing(problem: Selecting, schedule: StreamSchedule, elements: int, spec: DeviceSpec) -> float:
    """How many of its blocks an SM waits for, as a share, that count digits since too many elements reach a floor.

    Of a sample, so many elements reach the floor as `sampled_floor` wants. How many of all elements do has a gamma
    distribution, whose cubic root is nearly normal (Wilson and Hilferty).
    """
    sampled = schedule.threads * schedule.samples * schedule.vector_width
    mean = problem.k * sampled / elements
    wanted = floor(mean + 3.5 * mean**0.5 + 3)
    if isinstance(problem, BeamStepProblem) and wanted <= schedule.vector_width:
        return 1.0  # a vector of a beam that has ended, whose scores are alike, holds the sample's first elements
    wanted += wanted // 16  # the search ends at a floor that up to an eighth more reach
    room = schedule.candidates * sampled / elements
    deviations = 3 * wanted**0.5 * ((room / wanted) ** (1 / 3) - 1 + 1 / (9 * wanted))
    deviations = largest(0.0, deviations)
    share = 0.5 ** (1 + 1.034 * deviations + 0.6 * deviations**2)  # of the normal distribution beyond it
    at_once = spec.sm_count * resident_blocks(schedule.footprint(problem), spec)
    blocks = schedule.blocks(problem)
    overflowing: float = smallest(1.0, blocks * share) / largest(1.0, blocks / at_once)
    return overflowing
