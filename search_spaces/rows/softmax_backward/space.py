"""softmax_backward: which schedules are legal, which to draw from, which to try first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autotune.codegen.rows.schedule import RowStorage
from autotune.codegen.rows.softmax_backward.presets import streamed
from autotune.codegen.rows.softmax_backward.problem import SoftmaxBackwardProblem
from autotune.codegen.rows.softmax_backward.schedule import SoftmaxBackwardSchedule
from autotune.search_spaces.contract.space import Space
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.rows.row_schedules import row_space, row_violations
from autotune.search_spaces.rows.row_seeds import RowSeeds

_HALF_WORD = 2  # bytes
# Registers for each word of two elements, whose halves ptxas keeps; of logarithms, the sum needs those of dy alone.
_APART, _APART_LOG = 0.9, 0.3
_HELD = 7  # seeds that hold rows
_HOLDS = (RowStorage.REGISTERS, RowStorage.RELOAD)


def constraints(problem: SoftmaxBackwardProblem, schedule: SoftmaxBackwardSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    yield from row_violations(schedule, schedule.reach_in(problem), problem.dtype.bytes)
    vector_bytes = schedule.vector_width * problem.dtype.bytes
    if vector_bytes > problem.align_x:
        yield (
            f"vector_width {schedule.vector_width}: {vector_bytes} bytes over the {problem.align_x} that y and dy are "
            "aligned for together"
        )
    if schedule.hold not in _HOLDS:
        yield f"hold {schedule.hold}: expected {' or '.join(_HOLDS)} for the rows of two arrays"


def space(problem: SoftmaxBackwardProblem, spec: DeviceSpec) -> Space[SoftmaxBackwardSchedule]:
    """All fields."""
    return row_space(
        SoftmaxBackwardSchedule,
        problem.columns,
        problem.vector_width("x"),
        problem.dtype.bytes,
        spec,
        widest=problem.align_x,
        holds=_HOLDS,
    )


def default(problem: SoftmaxBackwardProblem, spec: DeviceSpec) -> SoftmaxBackwardSchedule:
    """The first candidate; a row that fits nowhere is read twice."""
    return next(candidates(problem, spec), streamed(problem))


def candidates(problem: SoftmaxBackwardProblem, spec: DeviceSpec) -> Iterator[SoftmaxBackwardSchedule]:
    """Rows in registers, of as few blocks as hold them; read again last, by clusters and by blocks.

    Those that leave an SM one block go behind the others: nothing hides the waits of a block that is alone.
    """
    of_word = _APART_LOG if problem.log else _APART
    apart = of_word if problem.dtype.bytes == _HALF_WORD else 0.0
    seeds = RowSeeds(problem, streamed(problem), space(problem, spec), constraints, spec, spare_of_word=apart)
    loaded = sorted(seeds.in_registers(), key=lambda schedule: schedule.min_blocks_per_sm == 1)[:_HELD]
    for_caches = [replace(schedule, streaming=True) for schedule in loaded[:1]]
    again = replace(seeds.streamed, threads=512, threads_per_row=512, loads_in_flight=4)
    shared = [
        replace(again, threads=256, threads_per_row=256, cluster=schedule.cluster, min_blocks_per_sm=4)
        for schedule in loaded
        if schedule.cluster > 1
    ]
    for schedule in (*loaded, *for_caches, *dict.fromkeys(shared), again, *seeds.narrow(loaded)):
        if schedule in seeds.drawn:
            yield schedule
