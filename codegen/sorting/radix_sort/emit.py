"""RadixSortProblem and its schedules → Program."""

from __future__ import annotations

from dataclasses import replace

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.launch import Counting, Repeat
from autotune.codegen.model.program import Program
from autotune.codegen.sorting.values import Values
from autotune.codegen.source.kernel_source import Entry

from .block.schedule import BlockSchedule
from .cluster.schedule import ClusterSchedule
from .onesweep.schedule import OnesweepSchedule
from .problem import RadixSortProblem
from .source import source_of, with_parts


def emit_onesweep(problem: RadixSortProblem, schedule: OnesweepSchedule) -> Program:
    """A launch that counts, and one for each digit."""
    passes, has_values = schedule.passes(problem), problem.values is not Values.NONE
    spare = ["spare_keys", *(["spare_values"] if has_values else [])] if passes > 1 else []
    if passes > 1 and problem.order_only:
        spare.append("keys_out")
    members = [*(Argument(name, "void*") for name in spare), Argument("shift", "int")]
    facts = {"passes": passes, "digit_bits": schedule.digit_bits}
    source = source_of(problem, members, facts, single_pass=passes == 1, one_row=problem.rows == 1, workspace=True)
    counting = Entry(
        "radix_sort_histogram",
        "count_all_digits",
        problem.rows * schedule.pieces(problem),
        schedule.histogram_footprint(problem),
    )
    program = source.scheduled(
        schedule,
        "onesweep",
        "sort_tile",
        counting,
        workspace_bytes=schedule.workspace_bytes(problem),
    )
    tiles, histogram = program.launches
    sweep = tiles.taking(shift=Counting(problem.begin_bit, schedule.digit_bits))
    program = replace(program, steps=(histogram.taking(shift=0), Repeat(passes, (sweep,))))
    return with_parts(program, problem, problem.carried_bytes)


def emit_block(problem: RadixSortProblem, schedule: BlockSchedule) -> Program:
    """A launch of a block for each row."""
    return source_of(problem, [], {"digit_bits": schedule.digit_bits}).scheduled(schedule, "block", "sort_row")


def emit_cluster(problem: RadixSortProblem, schedule: ClusterSchedule) -> Program:
    """A launch of a cluster for each row."""
    return source_of(problem, [], {"digit_bits": schedule.digit_bits}).scheduled(schedule, "cluster", "sort_row")
