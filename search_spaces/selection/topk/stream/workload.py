"""What the blocks of a stream schedule do, counted before anything is compiled."""

from __future__ import annotations

from autotune.codegen.model.hardware import LINE_BYTES, WARP
from autotune.codegen.model.integers import ceil_div, logarithm
from autotune.codegen.selection.topk.problem import TopkProblem
from autotune.codegen.selection.topk.stream.schedule import ENTRY_BYTES, StreamSchedule
from autotune.codegen.selection.vectors import vectors_of_row
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload
from autotune.search_spaces.selection.topk.costs import Costs


def workload(problem: TopkProblem, schedule: StreamSchedule, spec: DeviceSpec) -> tuple[Workload]:
    """A block samples, reads its part, selects and orders; the last one of a row selects and orders once more.

    Sorting and the search for floors take rounds of the block, which count as steps that load nothing.
    """
    costs, threads = Costs.of(spec), schedule.threads
    warps = threads // WARP
    vectors = ceil_div(vectors_of_row(problem, schedule.vector_width), schedule.splits)
    elements = vectors * schedule.vector_width
    reads = 1 if schedule.samples or elements <= schedule.candidates else costs.counted_reads
    tiles = reads * ceil_div(vectors, threads * schedule.loads_in_flight)
    held = schedule.candidates / threads
    searches = 2 if schedule.splits > 1 else 1
    sampling = schedule.samples > 0 and elements > schedule.candidates
    rounds = costs.floor_rounds * (searches + sampling)
    sorting = logarithm(max(2, problem.k), 2) ** 2 / 2 if problem.k > costs.most_compared else 1
    own = rounds * held * costs.compared + sorting * max(1.0, problem.k / threads) * costs.exchanged
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
        bytes_stored=left + problem.k * (problem.dtype.bytes + problem.index_dtype.bytes) / schedule.splits,
        shared_vectors=schedule.splits * problem.k / threads if schedule.splits > 1 else 0,
    )
    return (grid,)
